"""What a time depends on, sorted: choices that shape the arithmetic, numbers for all rows, and columns."""

from collections.abc import Hashable
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.compiled.tracer import Recording, Tracer
from volvelle.estimators.rates import NetworkLevel, SustainedRates
from volvelle.mapping.parallelism import CHOICES, MappingTable, Structure

_SHAPING = frozenset({"cast", "units", "tile", "gemm_k_half", "buffer"})
"""Numbers of a machine that decide which formula applies; a program is for one value of them, or for a column."""


class Inputs:
    """A table and a machine, and which of their numbers vary.

    Zeros and ones that hold for all rows are constants, because much arithmetic falls away with them. Other numbers
    that hold for all rows are arguments of the program, so that one program serves many machines.
    """

    def __init__(self, table: MappingTable, machine: SustainedRates) -> None:
        self.table = table
        self.machine = machine
        self.numbers: dict[str, float] = {}
        self.columns: dict[str, NDArray[np.float64]] = {}
        self._constants: dict[str, Any] = {}
        for choice in CHOICES:
            if not choice.structural:
                column = getattr(table, choice.name)
                single = _is_single(column, look=choice.rare)
                self._sort(choice.name, float(column[0]) if single else column, shaping=False)
        self._sort_all("machine", machine)
        for index, level in enumerate(machine.levels):
            self._sort_all(f"level {index}", level)

    @property
    def key(self) -> Hashable:
        """What a program depends on beside its numbers and columns."""
        constants = tuple((name, type(value), value) for name, value in self._constants.items())
        return constants, tuple(self.numbers), tuple(self.columns)

    def _sort_all(self, place: str, part: SustainedRates | NetworkLevel) -> None:
        for field in fields(part):
            if field.name != "levels":
                self._sort(f"{place} {field.name}", getattr(part, field.name), shaping=field.name in _SHAPING)

    def _sort(self, name: str, value: Any, *, shaping: bool) -> None:
        if isinstance(value, np.ndarray):
            if value.size > 1:
                self.columns[name] = np.ascontiguousarray(value, dtype=np.float64)
                return
            value = float(value.reshape(-1)[0])
        if isinstance(value, (float, np.floating)) and not shaping and value not in (0.0, 1.0):
            self.numbers[name] = float(value)
        else:
            self._constants[name] = value

    def rows(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        """Numbers, and some rows of the columns."""
        return {**self.numbers, **{name: column[rows] for name, column in self.columns.items()}}

    def traced(self, recording: Recording, structure: Structure) -> tuple[MappingTable, SustainedRates]:
        """The same table and machine, of tracers."""
        graph = recording.graph

        def tracer(name: str) -> Any:
            if name in self.columns:
                return Tracer(recording, graph.column(name), columnar=True)
            if name in self.numbers:
                return Tracer(recording, graph.number(name), columnar=False)
            return self._constants[name]

        def column(name: str) -> Any:
            if hasattr(structure, name):
                return Tracer(recording, graph.constant(getattr(structure, name)), columnar=True)
            found = tracer(name)
            node = found.node if isinstance(found, Tracer) else graph.constant(found)
            return Tracer(recording, node, columnar=True)

        def part(place: str, given: Any) -> Any:
            names = [field.name for field in fields(given) if field.name != "levels"]
            return replace(given, **{name: tracer(f"{place} {name}") for name in names})

        table = MappingTable(**{choice.name: column(choice.name) for choice in CHOICES}, sharding=structure.sharding)
        levels = tuple(part(f"level {index}", level) for index, level in enumerate(self.machine.levels))
        machine: SustainedRates = replace(part("machine", self.machine), levels=levels)
        return table, machine


def _is_single(column: NDArray[np.float64], *, look: bool) -> bool:
    """Whether a column is one value repeated.

    Of choices that few tables vary it is looked up, because without them much arithmetic falls away; for others it goes
    by how the column is stored, so that not every small table gets a program of its own.
    """
    if len(column) == 1 or column.strides == (0,):
        return True
    return look and bool(column[0] == column[-1]) and bool(np.all(column == column[0]))
