"""The closed form, compiled: the same laws, traced once and run as machine code."""

from collections.abc import Hashable
from dataclasses import dataclass, fields
from threading import Lock
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import OutsideDomainError
from volvelle.estimators.calibration import Calibrations
from volvelle.estimators.compiled.inputs import Inputs
from volvelle.estimators.compiled.program import Program, traced
from volvelle.estimators.compiled.tracer import Recording
from volvelle.estimators.compiled.vector_code import Kernel, compiled
from volvelle.estimators.contract import TrainingEstimator
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.result import EstimateTable, TrainingEstimate
from volvelle.estimators.training.checks import CHECKS, Case
from volvelle.estimators.training.closed_form import ClosedForm, matched
from volvelle.estimators.training.step_time import OVERFULL
from volvelle.estimators.training.two_tier_time import two_tier_time
from volvelle.mapping.lowered_model import ByIdentity, lowered_model, split_dims, step_flops
from volvelle.mapping.parallelism import MappingTable, ParallelMapping, Structure
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

_BLOCK = 8_192
"""Rows of the table worked on at a time, structure by structure: their columns stay in the processor's cache."""
_QUESTIONS = 512
"""Questions (a model on a kind of machine, one structure) whose programs are kept."""
_KEPT = 16
"""Programs kept for one question."""


@final
@dataclass(frozen=True, slots=True)
class CompiledClosedForm(TrainingEstimator):
    """`ClosedForm` for tables of millions: its own arithmetic, written down as it runs, compiled by numba.

    The first table of a kind takes half a second or so for each structure; then a core times several times as many
    rows a second. Answers are those of `ClosedForm` but for the last bits of logarithms. Needs `volvelle[compiled]`.
    """

    calibration: Calibrations | None = None
    """Constants fitted to runs; None: those that the machine comes with."""

    def estimate(self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping) -> TrainingEstimate:
        """How one mapping does, explained; as `ClosedForm` does it, because one row is not worth compiling for."""
        return ClosedForm(calibration=self.calibration).estimate(workload, system, mapping)

    def table(
        self, workload: TrainingStep, system: Cluster, mappings: MappingTable, *, breakdown: bool = False
    ) -> EstimateTable:
        """How many mappings do, but for what is left to `ClosedForm`.

        That is a `breakdown`, an empty table, layers that alternate, and shapes that own runs tell of.

        Any rate of the system may be a column too, of as many rows as the table (or with a table of one row).
        """
        if breakdown or not len(mappings) or not lowered_model(workload, mappings.structures()[0][0]).uniform:
            return ClosedForm(calibration=self.calibration).table(workload, system, mappings, breakdown=breakdown)
        machine = SustainedRates.of(system, workload.element, self.calibration)
        if machine.own_shapes is not None:
            return ClosedForm(calibration=self.calibration).table(workload, system, mappings)
        mappings = matched(mappings, machine)
        return _Filler(workload, system, machine, mappings).fill()


_PROGRAMS: dict[Hashable, list[tuple[Program, Kernel]]] = {}
_LOCK = Lock()


class _Filler:
    """Runs compiled code over a table, block by block, structure by structure."""

    def __init__(
        self, workload: TrainingStep, system: Cluster, machine: SustainedRates, mappings: MappingTable
    ) -> None:
        self.workload = workload
        self.system = system
        self.mappings = mappings
        self.inputs = Inputs(mappings, machine)
        rows = len(mappings)
        self.results: dict[str, NDArray[Any]] = {"time": np.empty(rows), "memory_bytes": np.empty(rows)}
        names = (*(check.name for check in CHECKS), *OVERFULL)
        self.violated = {name: np.zeros(rows, dtype=bool) for name in names}
        others = [getattr(workload, field.name) for field in fields(workload) if field.name != "model"]
        self.question = (
            ByIdentity(workload.model),
            tuple((type(value), value) for value in others),
            system.accelerators,
            system.host_rate is None,
            system.host_memory is None,
            self.inputs.key,
        )
        try:
            hash(self.question)
        except TypeError as found:
            raise OutsideDomainError(
                f"what is known of {system.name} cannot be told apart from other machines: {found}; use ClosedForm"
            ) from found

    def fill(self) -> EstimateTable:
        """All rows."""
        count = len(self.mappings)
        groups = [
            _Group(self, structure, np.arange(count) if isinstance(rows, slice) else rows)
            for structure, rows in self.mappings.structures()
        ]
        while groups:
            for block in range(-(-count // _BLOCK)):
                for group in groups:
                    group.run(block)
            # Where a guard came out otherwise than when the program was traced, another program is for these rows.
            groups = [group.again() for group in groups if not group.holds()]
        return EstimateTable(
            mappings=self.mappings,
            time=self.results["time"],
            memory_bytes=self.results["memory_bytes"],
            violations=self.violated,
            work=step_flops(self.workload),
            chips=float(self.system.accelerators),
            peak=self.system.chip.matrix_rate(self.workload.element),
        )


class _Group:
    """Rows of one structure, and the program that is tried on them."""

    def __init__(
        self, filler: _Filler, structure: Structure, rows: NDArray[np.intp], known: tuple[bool, ...] = ()
    ) -> None:
        self.filler = filler
        self.structure = structure
        self.rows = rows
        self.fresh = False
        self.program, self.kernel = self._program(known)
        inputs = filler.inputs
        self.uniform, constant, self.answers = self.program.numbers(inputs.numbers)
        self.columns = np.array([inputs.columns[name].ctypes.data for name in self.program.columns], dtype=np.int64)
        self.found = np.zeros(len(self.program.asked), dtype=np.uint8)
        self.ends = [0, *np.searchsorted(rows, np.arange(_BLOCK, rows[-1] + _BLOCK + 1, _BLOCK)).tolist()]
        every = {**filler.results, **filler.violated}
        self.addresses = np.array([every[name].ctypes.data for name in self.program.stored], dtype=np.int64)
        for name, value in constant.items():
            if name not in filler.violated or value:
                every[name][rows] = value

    def _program(self, known: tuple[bool, ...]) -> tuple[Program, Kernel]:
        """The program last used among those whose guards do not contradict what is known, or a new one."""
        key = (self.structure, self.filler.question)
        with _LOCK:
            programs = _PROGRAMS.setdefault(key, [])
            if len(_PROGRAMS) > _QUESTIONS:
                del _PROGRAMS[next(iter(_PROGRAMS))]
            for place, (program, _) in enumerate(programs):
                if tuple(guard.outcome for guard in program.guards[: len(known)]) == known:
                    programs.insert(0, programs.pop(place))
                    return programs[0]
            program, self.fresh = self._traced(), True
            programs.insert(0, (program, compiled(program.code)))
            del programs[_KEPT:]
            return programs[0]

    def _traced(self) -> Program:
        filler = self.filler
        model = lowered_model(filler.workload, self.structure)
        case: Case = (filler.workload, filler.system, split_dims(model.blocks))

        def timed(recording: Recording) -> dict[str, Any]:
            table, machine = filler.inputs.traced(recording, self.structure)
            found = two_tier_time(model, filler.workload, machine, table)
            return {
                "time": found.time,
                "memory_bytes": found.memory_bytes,
                **found.overfull(machine),
                **{check.name: check.violated(case, table) for check in CHECKS},
            }

        try:
            return traced(timed, lambda: filler.inputs.rows(self.rows))
        except TypeError as found:
            raise OutsideDomainError(
                f"the model of {filler.system.name} cannot be compiled: {found}; use ClosedForm, which needs no tracing"
            ) from found

    def run(self, block: int) -> None:
        """The rows that lie in one block of the table."""
        if block + 1 < len(self.ends) and self.ends[block] < self.ends[block + 1]:
            rows = self.rows[self.ends[block] : self.ends[block + 1]]
            self.kernel(self.columns, self.uniform, rows, self.addresses, self.found)

    def outcomes(self) -> tuple[bool, ...]:
        """How the guards came out on these rows, up to the first that came out otherwise."""
        answers = {**self.answers, **dict(zip(self.program.asked, map(bool, self.found), strict=True))}
        found: list[bool] = []
        for index, guard in enumerate(self.program.guards):
            found.append(answers[index])
            if answers[index] != guard.outcome:
                break
        return tuple(found)

    def holds(self) -> bool:
        """Whether the program was the right one; one traced on these very rows is."""
        return self.fresh or self.outcomes() == tuple(guard.outcome for guard in self.program.guards)

    def again(self) -> "_Group":
        """The same rows with another program."""
        for violated in self.filler.violated.values():
            violated[self.rows] = False
        return _Group(self.filler, self.structure, self.rows, self.outcomes())
