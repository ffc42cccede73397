"""Small expressions over named columns: arithmetic, comparisons, and, or, not; as NumPy or as SQL.

Names may have dots (``chip.memory.rate``), numbers may have units (``power <= 10 MW``). Nothing else is understood, so
a study file can hold no program.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from volvelle.errors import DescriptionError, UnitError
from volvelle.quantities import KINDS, Quantity

_WITH_UNIT = re.compile(r"(?<![\w.])(\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?)\s*([A-Za-zµ$%][A-Za-zµ$]*(?:/[A-Za-zµ]+)?)")
_LITERAL = re.compile(r"('[^']*'|\"[^\"]*\")")
_DOTTED = re.compile(r"[A-Za-z_][\w-]*(?:\.[\w-]+)+")
_Operations = dict[type | str, tuple[Callable[..., Any], str]]
"""Kind of node, or name → the operation in NumPy, and in SQL."""
_INFIX: _Operations = {
    ast.Add: (operator.add, "+"),
    ast.Sub: (operator.sub, "-"),
    ast.Mult: (operator.mul, "*"),
    ast.Div: (operator.truediv, "/"),
    ast.Pow: (operator.pow, "**"),
    ast.Lt: (operator.lt, "<"),
    ast.LtE: (operator.le, "<="),
    ast.Gt: (operator.gt, ">"),
    ast.GtE: (operator.ge, ">="),
    ast.Eq: (operator.eq, "="),
    ast.NotEq: (operator.ne, "<>"),
    ast.And: (lambda *parts: np.logical_and.reduce(np.broadcast_arrays(*parts)), "AND"),
    ast.Or: (lambda *parts: np.logical_or.reduce(np.broadcast_arrays(*parts)), "OR"),
}
_PREFIX: _Operations = {
    ast.Not: (np.logical_not, "NOT "),
    ast.USub: (operator.neg, "-"),
    ast.UAdd: (lambda value: value, ""),
}
_CALLS: _Operations = {
    "min": (np.minimum, "least"),
    "max": (np.maximum, "greatest"),
    "sqrt": (np.sqrt, "sqrt"),
    "log2": (np.log2, "log2"),
    "log": (np.log, "ln"),
    "exp": (np.exp, "exp"),
    "ceil": (np.ceil, "ceil"),
    "floor": (np.floor, "floor"),
    "abs": (np.abs, "abs"),
}
_KNOWN = _INFIX | _PREFIX | _CALLS
_Leaf = ast.Constant | ast.Name


@dataclass(frozen=True)
class Expression:
    """One expression, checked when made."""

    text: str

    def __post_init__(self) -> None:
        _ = self.names

    @cached_property
    def _tree(self) -> ast.expr:
        dotted: list[str] = []

        def hide(match: re.Match[str]) -> str:
            dotted.append(match.group())
            return f"_name_{len(dotted) - 1}_"

        try:
            pieces = _LITERAL.split(self.text)  # every second piece is a quoted word, and stays as it is
            pieces[::2] = [_DOTTED.sub(hide, _WITH_UNIT.sub(_plain, piece)) for piece in pieces[::2]]
            tree = ast.parse("".join(pieces).strip(), mode="eval").body
        except SyntaxError as error:
            raise DescriptionError(f"{self.text!r} is no expression: {error.msg}") from None
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id.startswith("_name_"):
                node.id = dotted[int(node.id[6:-1])]
        return tree

    @cached_property
    def kinds(self) -> tuple[Quantity, ...]:
        """Kinds of quantity that its numbers with units are."""
        unquoted = " ".join(_LITERAL.split(self.text)[::2])
        found = (_kind(match) for match in _WITH_UNIT.finditer(unquoted))
        return tuple(kind for kind in found if kind is not None)

    def check_units(self, kinds: Mapping[str, Quantity | None]) -> None:
        """Refuse a number with a unit that none of the names has; `kinds` are those of the names."""
        own = [kinds.get(name) for name in self.names]
        for kind in self.kinds:
            if kind not in own:
                about = ", ".join(
                    f"{name} is a {kinds[name].name}" if kinds.get(name) else f"{name} has no unit"  # type: ignore[union-attr]
                    for name in sorted(self.names)
                )
                raise UnitError(f"{self.text!r} has a {kind.name} in it, but {about}")

    @cached_property
    def names(self) -> frozenset[str]:
        """Names it uses."""
        own = self._fold(
            self._tree,
            lambda leaf: {leaf.id} if isinstance(leaf, ast.Name) else set(),
            lambda _, parts: set().union(*parts),
        )
        return frozenset(own)

    def _fold(
        self, node: ast.expr, leaf: Callable[[_Leaf], Any], join: Callable[[type | str, Sequence[Any]], Any]
    ) -> Any:
        """What it comes to, from its names and constants up; refuses what is not understood."""

        def of(*nodes: ast.expr) -> list[Any]:
            return [self._fold(part, leaf, join) for part in nodes]

        match node:
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _INFIX:
                return join(type(op), of(left, right))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _PREFIX:
                return join(type(op), of(operand))
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _INFIX for op in ops):
                sides = of(left, *others)
                found = [join(type(op), pair) for op, *pair in zip(ops, sides[:-1], sides[1:], strict=True)]
                return found[0] if len(found) == 1 else join(ast.And, found)
            case ast.BoolOp(op=op, values=values):
                return join(type(op), of(*values))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _CALLS:
                wanted = 2 if name in ("min", "max") else 1
                if len(args) != wanted:
                    raise DescriptionError(f"{self.text!r}: {name} takes {wanted} values")
                return join(name, of(*args))
            case ast.Constant(value=bool() | int() | float() | str()) | ast.Name():
                return leaf(node)
        raise DescriptionError(
            f"{self.text!r} uses {ast.unparse(node)!r}, which is not understood; an expression has names, "
            f"numbers, + - * / **, comparisons, and, or, not, and {', '.join(map(str, _CALLS))}"
        )

    def conjuncts(self) -> "tuple[Expression, ...]":
        """The conditions that all must hold, where it is several joined by and; else itself."""
        tree = self._tree
        if not (isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And)):
            return (self,)
        return tuple(part for node in tree.values for part in Expression(ast.unparse(node)).conjuncts())

    def sides(self) -> tuple[str, str, str] | None:
        """Left side, comparison and right side as SQL, if it is one comparison of sizes; None: it is not."""
        tree = self._tree
        if not (isinstance(tree, ast.Compare) and len(tree.ops) == 1 and not isinstance(tree.ops[0], ast.NotEq)):
            return None
        left, right = (self._fold(part, _sql_leaf, _sql_join) for part in (tree.left, tree.comparators[0]))
        return left, _INFIX[type(tree.ops[0])][1], right

    def value(self, names: Mapping[str, Any]) -> Any:
        """Its value where names have these values or columns."""
        return self._fold(
            self._tree,
            lambda leaf: names[leaf.id] if isinstance(leaf, ast.Name) else leaf.value,
            lambda what, parts: _KNOWN[what][0](*parts),
        )

    def sql(self) -> str:
        """The same, as SQL over columns of these names."""
        return str(self._fold(self._tree, _sql_leaf, _sql_join))


def _sql_leaf(leaf: _Leaf) -> str:
    if isinstance(leaf, ast.Name):
        return '"' + leaf.id.replace('"', '""') + '"'
    if isinstance(leaf.value, bool):
        return str(leaf.value).upper()
    return "'" + leaf.value.replace("'", "''") + "'" if isinstance(leaf.value, str) else repr(leaf.value)


def _sql_join(what: type | str, parts: Sequence[str]) -> str:
    word = _KNOWN[what][1]
    if isinstance(what, str):
        return f"{word}({', '.join(parts)})"
    return f"({f' {word} '.join(parts)})" if what in _INFIX else f"({word}{parts[0]})"


def _kind(match: re.Match[str]) -> Quantity | None:
    return next((kind for kind in KINDS if match.group(2) in kind.units), None)


def _plain(match: re.Match[str]) -> str:
    """A number with a unit as a plain number, if that is a unit at all."""
    kind = _kind(match)
    return match.group() if kind is None else repr(float(match.group(1)) * kind.units[match.group(2)])
