"""Arithmetic as a graph: every value once, constants folded, what changes nothing left out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import frexp, isfinite
from typing import Any

import numpy as np


def _whole(value: Any) -> Any:
    return np.trunc(value).astype(np.int64)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "power": np.power,
    "remainder": np.remainder,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "gcd": np.gcd,
    "negative": np.negative,
    "absolute": np.absolute,
    "sqrt": np.sqrt,
    "ceil": np.ceil,
    "floor": np.floor,
    "log2": np.log2,
    "log": np.log,
    "exp": np.exp,
    "whole": _whole,
    "where": np.where,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "both": np.logical_and,
    "either": np.logical_or,
    "not": np.logical_not,
}
"""What a node may do, by the NumPy function that does it."""

TRUTHS = frozenset(
    {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "both", "either", "not"},
)
"""Operations that answer yes or no."""


@dataclass(frozen=True, slots=True)
class Node:
    """One value: a constant, a number or column from outside, or an operation on nodes before it."""

    operation: str
    """A key of `OPERATIONS`, or ``constant``, ``number`` (one for all rows), ``column`` (one a row)."""
    inputs: tuple[int, ...] = ()
    detail: object = None
    """The constant, or the name from outside."""
    uniform: bool = True
    """The same for all rows."""
    truth: bool = False


_UNCHANGED = {"add": 0.0, "subtract": 0.0, "multiply": 1.0, "divide": 1.0, "power": 1.0}
"""Second operands that leave the first as it is."""
_COMMUTE = frozenset({"add", "multiply"})


class Graph:
    """Nodes in the order in which they can be computed."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[Node, int] = {}

    def constant(self, value: Any) -> int:
        """A number that is always the same."""
        truth = isinstance(value, (bool, np.bool_))
        return self._intern(Node("constant", detail=bool(value) if truth else float(value), truth=truth))

    def number(self, name: str) -> int:
        """A number from outside, the same for all rows."""
        return self._intern(Node("number", detail=name))

    def column(self, name: str) -> int:
        """A number from outside, one a row."""
        return self._intern(Node("column", detail=name, uniform=False))

    def apply(self, operation: str, *inputs: int) -> int:
        """The node of an operation: one already known where there is one."""
        given = [self.nodes[one] for one in inputs]
        if all(node.operation == "constant" for node in given):
            return self.constant(_folded(operation, [node.detail for node in given]))
        same = self._shortcut(operation, inputs)
        if same is not None:
            return same
        truth = operation in TRUTHS or (operation == "where" and all(node.truth for node in given[1:]))
        return self._intern(Node(operation, inputs, None, all(node.uniform for node in given), truth))

    def is_constant(self, node: int, value: float | None = None) -> bool:
        """Whether a node is a constant, or that one."""
        found = self.nodes[node]
        return found.operation == "constant" and (value is None or found.detail == value)

    def needed(self, wanted: Iterable[int]) -> list[int]:
        """Nodes that the wanted ones depend on, themselves included, in order."""
        found: set[int] = set()
        left = list(wanted)
        while left:
            node = left.pop()
            if node not in found:
                found.add(node)
                left += self.nodes[node].inputs
        return sorted(found)

    def _intern(self, node: Node) -> int:
        # 0.0 and -0.0, 1.0 and True are equal but not the same.
        key = Node(node.operation, node.inputs, repr(node.detail), node.uniform, node.truth)
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(node)
        return self._known[key]

    def _shortcut(self, operation: str, inputs: tuple[int, ...]) -> int | None:
        """A node that is already the answer, or gives the very same bits for less."""
        first, last = inputs[0], inputs[-1]
        if operation in _UNCHANGED and self.is_constant(last, _UNCHANGED[operation]):
            return first
        if operation in _COMMUTE and self.is_constant(first, _UNCHANGED[operation]):
            return last
        if operation in ("minimum", "maximum", "both", "either") and first == last:
            return first
        if operation == "where":
            condition, yes, no = inputs
            if yes == no:
                return yes
            if self.is_constant(condition):
                return yes if self.nodes[condition].detail else no
        if operation in ("both", "either"):
            for one, other in ((first, last), (last, first)):
                if self.is_constant(one):
                    absorbs = bool(self.nodes[one].detail) is (operation == "either")
                    return one if absorbs else other
        if operation == "not" and self.nodes[first].operation == "not":
            return self.nodes[first].inputs[0]
        return self._cheaper(operation, inputs)

    def _cheaper(self, operation: str, inputs: tuple[int, ...]) -> int | None:
        """Powers as NumPy has them, divisions by powers of two as products, products in one order."""
        last = self.nodes[inputs[-1]].detail
        if operation == "power" and self.is_constant(inputs[1]):
            if last == 2.0:
                return self.apply("multiply", inputs[0], inputs[0])
            if last == -1.0:
                return self.apply("divide", self.constant(1.0), inputs[0])
            if last == 0.5:
                return self.apply("sqrt", inputs[0])
        if operation == "divide" and self.is_constant(inputs[1]) and _is_power_of_two(last):
            assert isinstance(last, float)
            return self.apply("multiply", inputs[0], self.constant(1.0 / last))
        if operation == "remainder" and self.is_constant(inputs[1]) and _is_power_of_two(last):
            rounds = self.apply("floor", self.apply("divide", *inputs))
            return self.apply("subtract", inputs[0], self.apply("multiply", rounds, inputs[1]))
        if operation in _COMMUTE and inputs[0] > inputs[1]:
            return self.apply(operation, inputs[1], inputs[0])
        return None


def _folded(operation: str, values: Sequence[Any]) -> Any:
    found = OPERATIONS[operation](*(int(value) if operation == "gcd" else value for value in values))
    return bool(found) if np.asarray(found).dtype == bool else float(found)


def _is_power_of_two(value: object) -> bool:
    return isinstance(value, float) and isfinite(value) and frexp(value)[0] == 0.5 and 2.0**-500 < value < 2.0**500


class Evaluation:
    """Values of nodes by NumPy, for given numbers and columns; each computed once, and only if asked for."""

    def __init__(self, graph: Graph, given: Mapping[str, Any]) -> None:
        self._graph = graph
        self._given = given
        self._known: dict[int, Any] = {}

    def value(self, wanted: int) -> Any:
        """A number or a column."""
        if wanted not in self._known:
            for number in self._graph.needed([wanted]):
                if number not in self._known:
                    self._known[number] = self._computed(self._graph.nodes[number])
        return self._known[wanted]

    def _computed(self, node: Node) -> Any:
        if node.operation == "constant":
            return node.detail
        if node.operation in ("number", "column"):
            return self._given[str(node.detail)]
        inputs = [self._known[one] for one in node.inputs]
        if node.operation == "gcd":  # a constant operand is kept as a float
            inputs = [np.asarray(one).astype(np.int64) for one in inputs]
        return OPERATIONS[node.operation](*inputs)
