"""A traced timing as a program: what is computed once a call, what for every row, and where it goes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.compiled.graph import Evaluation, Graph
from volvelle.estimators.compiled.tracer import Guard, Recording, Tracer

Place = tuple[str, int]
"""Where a value of a row is: in a ``column``, among the ``uniform`` numbers, or the result of a ``step``."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on a row."""

    operation: str
    inputs: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """What is done for every row, free of any number: equal codes share one compiled function."""

    steps: tuple[Step, ...]
    truths: frozenset[Place]
    """Values that are yes or no."""
    asked: tuple[Place, ...]
    """Truths to say of whether any row has them."""
    stored: tuple[Place, ...]
    """Results, each into a column of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One way through the arithmetic, and the guards under which it is the right one."""

    graph: Graph
    guards: tuple[Guard, ...]
    code: Code
    columns: tuple[str, ...]
    """Names of the columns that `code` reads."""
    uniform: tuple[int, ...]
    """Nodes that are one number for all rows and that `code` reads."""
    stored: tuple[str, ...]
    """Names of the results that `code` stores."""
    constant: Mapping[str, int]
    """Results that are one number for all rows."""
    asked: tuple[int, ...]
    """Which guards `code` answers; the others need no rows."""

    def numbers(self, given: Mapping[str, Any]) -> tuple[NDArray[np.float64], dict[str, Any], dict[int, bool]]:
        """Numbers that `code` reads, constant results, and answers to guards that need no rows."""
        evaluation = Evaluation(self.graph, given)
        return (
            np.array([evaluation.value(node) for node in self.uniform], dtype=np.float64),
            {name: evaluation.value(node) for name, node in self.constant.items()},
            {
                index: bool(evaluation.value(guard.node))
                for index, guard in enumerate(self.guards)
                if self.graph.nodes[guard.node].uniform
            },
        )


def traced(timing: Callable[[Recording], Mapping[str, Any]], given: Callable[[], Mapping[str, Any]]) -> Program:
    """Run a timing on tracers, and lay out what it wrote down; `given` are the real numbers and columns."""
    recording = Recording(given)
    results = timing(recording)
    graph = recording.graph
    nodes = {
        name: value.node if isinstance(value, Tracer) else graph.constant(value) for name, value in results.items()
    }
    guards = tuple(recording.guards)
    asked = tuple(index for index, guard in enumerate(guards) if not graph.nodes[guard.node].uniform)
    stored = tuple(name for name, node in nodes.items() if not graph.nodes[node].uniform)
    wanted = [guards[index].node for index in asked] + [nodes[name] for name in stored]
    layout = _Layout(graph, graph.needed(wanted))
    return Program(
        graph=graph,
        guards=guards,
        code=Code(
            steps=tuple(layout.steps),
            truths=frozenset(layout.truths),
            asked=tuple(layout.places[guards[index].node] for index in asked),
            stored=tuple(layout.places[nodes[name]] for name in stored),
        ),
        columns=tuple(layout.columns),
        uniform=tuple(layout.uniform),
        stored=stored,
        constant={name: node for name, node in nodes.items() if name not in stored},
        asked=asked,
    )


class _Layout:
    """Places of the values that rows need."""

    def __init__(self, graph: Graph, needed: Sequence[int]) -> None:
        self.graph = graph
        self.places: dict[int, Place] = {}
        self.steps: list[Step] = []
        self.columns: list[str] = []
        self.uniform: list[int] = []
        self.truths: set[Place] = set()
        for number in needed:
            node = graph.nodes[number]
            if node.uniform:
                continue  # computed once a call, if a row needs it
            if node.operation == "column":
                self._put(number, ("column", len(self.columns)))
                self.columns.append(str(node.detail))
                continue
            inputs = tuple(self._place(one) for one in node.inputs)
            self._put(number, ("step", len(self.steps)))
            self.steps.append(Step(node.operation, inputs))

    def _place(self, number: int) -> Place:
        if number not in self.places:
            self._put(number, ("uniform", len(self.uniform)))
            self.uniform.append(number)
        return self.places[number]

    def _put(self, number: int, place: Place) -> None:
        self.places[number] = place
        if self.graph.nodes[number].truth:
            self.truths.add(place)
