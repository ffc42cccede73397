"""Tracers: they stand in for columns, and write down the arithmetic that is done with them.

Code that asks a column a question (`np.any(column > 1)`) is answered from the real columns, and the question is kept
as a guard: what was written down holds only where every guard comes out the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from volvelle.estimators.compiled.graph import Evaluation, Graph

LARGEST_WHOLE = 2.0**52
"""Up to here whole numbers are exact in floating point, and so are remainders of them."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A question asked while tracing: whether it is so for any row."""

    node: int
    outcome: bool


class Recording:
    """A graph as it grows, the questions asked, and the real columns that answer them."""

    def __init__(self, given: Callable[[], Mapping[str, Any]]) -> None:
        self.graph = Graph()
        self.guards: list[Guard] = []
        self._given = given
        self._evaluation: Evaluation | None = None
        self._answers: dict[int, bool] = {}

    def any(self, node: int) -> bool:
        """Whether a truth holds for any of the real rows."""
        if self.graph.is_constant(node):
            return bool(self.graph.nodes[node].detail)
        if node not in self._answers:
            if self._evaluation is None:
                self._evaluation = Evaluation(self.graph, self._given())
            self._answers[node] = bool(np.any(self._evaluation.value(node)))
            self.guards.append(Guard(node, self._answers[node]))
        return self._answers[node]


_NAMES = {
    "true_divide": "divide",
    "bitwise_and": "both",
    "logical_and": "both",
    "bitwise_or": "either",
    "logical_or": "either",
    "invert": "not",
    "logical_not": "not",
    "float_power": "power",
    "fabs": "absolute",
}
"""NumPy's names of operations that have another one here."""


class Tracer:
    """A column (or a number, the same for all rows) that is not there yet."""

    __slots__ = ("columnar", "node", "recording")

    def __init__(self, recording: Recording, node: int, *, columnar: bool) -> None:
        self.recording = recording
        self.node = node
        self.columnar = columnar

    # -- NumPy ---------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        return self._apply(ufunc.__name__, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        known = _FUNCTIONS.get(function)
        if known is None or kwargs:
            return NotImplemented
        return known(self, *args)

    def astype(self, kind: Any) -> "Tracer":
        """As whole numbers, cut off, or as they are."""
        if np.dtype(kind) == np.int64:
            # Past that size NumPy and floating point part ways, so it is asked about.
            if self.recording.any(self._apply("greater", abs(self), LARGEST_WHOLE).node):
                raise TypeError("whole numbers beyond 2^52")
            return self._apply("whole", self)
        if np.dtype(kind) == np.float64:
            return self
        raise TypeError(f"a traced column cannot become {kind}")

    def _node(self, value: Any) -> int:
        if isinstance(value, Tracer):
            return value.node
        if isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)):
            return self.recording.graph.constant(value)
        if isinstance(value, np.ndarray) and value.size == 1:
            return self.recording.graph.constant(value.reshape(-1)[0])
        raise TypeError(f"a traced column meets {type(value).__name__}, which is neither a number nor traced")

    def _apply(self, name: str, *inputs: Any) -> "Tracer":
        if name == "positive":
            return self
        graph = self.recording.graph
        if name == "square":
            name, inputs = "multiply", (inputs[0], inputs[0])
        node = graph.apply(_NAMES.get(name, name), *(self._node(one) for one in inputs))
        columnar = any(one.columnar for one in inputs if isinstance(one, Tracer))
        return Tracer(self.recording, node, columnar=columnar)

    # -- Python --------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """One row stands for all."""
        if not self.columnar:
            raise TypeError("a traced number has no length")
        return 1

    def __getitem__(self, index: int) -> Any:
        graph = self.recording.graph
        if not graph.is_constant(self.node):
            raise TypeError("one row of a traced column is not known")
        return graph.nodes[self.node].detail

    def __bool__(self) -> bool:
        if self.columnar:
            raise ValueError("the truth of a column is ambiguous; ask for any or all")
        return self.recording.any(self.node)

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> "Tracer":
        return self._apply("add", self, other)

    def __radd__(self, other: Any) -> "Tracer":
        return self._apply("add", other, self)

    def __sub__(self, other: Any) -> "Tracer":
        return self._apply("subtract", self, other)

    def __rsub__(self, other: Any) -> "Tracer":
        return self._apply("subtract", other, self)

    def __mul__(self, other: Any) -> "Tracer":
        return self._apply("multiply", self, other)

    def __rmul__(self, other: Any) -> "Tracer":
        return self._apply("multiply", other, self)

    def __truediv__(self, other: Any) -> "Tracer":
        return self._apply("divide", self, other)

    def __rtruediv__(self, other: Any) -> "Tracer":
        return self._apply("divide", other, self)

    def __pow__(self, other: Any) -> "Tracer":
        return self._apply("power", self, other)

    def __rpow__(self, other: Any) -> "Tracer":
        return self._apply("power", other, self)

    def __mod__(self, other: Any) -> "Tracer":
        return self._apply("remainder", self, other)

    def __neg__(self) -> "Tracer":
        return self._apply("negative", self)

    def __abs__(self) -> "Tracer":
        return self._apply("absolute", self)

    def __invert__(self) -> "Tracer":
        return self._apply("not", self)

    def __and__(self, other: Any) -> "Tracer":
        return self._apply("both", self, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> "Tracer":
        return self._apply("either", self, other)

    __ror__ = __or__

    def __eq__(self, other: object) -> Any:
        return self._apply("equal", self, other)

    def __ne__(self, other: object) -> Any:
        return self._apply("not_equal", self, other)

    def __lt__(self, other: Any) -> "Tracer":
        return self._apply("less", self, other)

    def __le__(self, other: Any) -> "Tracer":
        return self._apply("less_equal", self, other)

    def __gt__(self, other: Any) -> "Tracer":
        return self._apply("greater", self, other)

    def __ge__(self, other: Any) -> "Tracer":
        return self._apply("greater_equal", self, other)


def _where(tracer: Tracer, condition: Any, yes: Any, no: Any) -> Tracer:
    return tracer._apply("where", condition, yes, no)


def _any(tracer: Tracer, asked: Tracer) -> bool:
    return tracer.recording.any(asked.node)


def _all(tracer: Tracer, asked: Tracer) -> bool:
    return not tracer.recording.any((~asked).node)


def _ndim(tracer: Tracer, asked: Tracer) -> int:
    return int(asked.columnar)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.any: _any,
    np.all: _all,
    np.ndim: _ndim,
}
