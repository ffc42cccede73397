"""The closed-form estimator: laws applied to a mapped training step, one mapping or a table of them."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import MappingError
from volvelle.estimators.calibration import Calibrations
from volvelle.estimators.contract import TrainingEstimator
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.result import Contribution, EstimateTable, MemoryPart, TrainingEstimate, Violation
from volvelle.estimators.training.blocks import Blocks
from volvelle.estimators.training.checks import CHECKS, Case, kept_on_chip
from volvelle.estimators.training.stage_memory import RANKS, memory_parts
from volvelle.estimators.training.step_time import OVERFULL, StepTime
from volvelle.estimators.training.two_tier_time import two_tier_time
from volvelle.mapping.axes import PIPELINE, TENSOR
from volvelle.mapping.lowered_model import LoweredModel, lowered_model, split_dims, step_flops
from volvelle.mapping.parallelism import MappingTable, ParallelMapping, Recompute
from volvelle.quantities import BYTES, SECONDS, Count, show
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

_CHUNK = 16_384
"""Rows timed at a time: their columns stay in the processor's cache."""
_MANY = 256
"""Rows from which on it pays to look for those that are alike."""


@final
@dataclass(frozen=True, slots=True)
class ClosedForm(TrainingEstimator):
    """Formulas only: roofline for kernels, latency-bandwidth for collectives, one bubble for the pipeline.

    Fast enough to search with. It knows nothing of contention between groups, of stragglers, or of kernels that
    get less efficient as they get smaller.
    """

    calibration: Calibrations | None = None
    """Constants fitted to runs; None: those that the machine comes with."""

    def estimate(self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping) -> TrainingEstimate:
        """How one mapping does, explained."""
        table = MappingTable.of([mapping])
        machine = SustainedRates.of(system, workload.element, self.calibration)
        model = lowered_model(workload, mapping.structure)
        found = two_tier_time(model, workload, machine, table, breakdown=True)
        memory = tuple(
            MemoryPart(name=name, bytes=_single(size), law=law)
            for (name, law), size in zip(memory_parts(tuned=model.is_tuned), found.memory, strict=True)
        )
        used = sum(part.bytes for part in memory)
        violations = _violations(workload, system, mapping, model)
        room, away, host_room = _single(machine.room), _single(found.away), machine.host_room
        if used > room:
            violations = (*violations, self._overflow(workload, system, mapping, used, room))
        if host_room is not None and away > _single(host_room):
            violations = (*violations, _host_overflow(mapping, away, _single(host_room)))
        return TrainingEstimate(
            workload=workload,
            decision=mapping,
            contributions=_contributions(found),
            memory=memory,
            worst_rank=RANKS[int(found.fullest[0])],
            capacity=_single(machine.holds),
            margin=_single(machine.memory_margin),
            violations=violations,
            work=step_flops(workload),
            tokens=workload.tokens,
            chips=mapping.chips,
            peak=float(np.max(system.chip.matrix_rate(workload.element))),
            facts={name: _single(value) for name, value in found.facts.items()},
        )

    def table(
        self, workload: TrainingStep, system: Cluster, mappings: MappingTable, *, breakdown: bool = False
    ) -> EstimateTable:
        """How many mappings do, by the same arithmetic; with `breakdown` also what each part takes.

        Any rate of the system may be a column too, of as many rows as the table (or with a table of one row).
        """
        machine = SustainedRates.of(system, workload.element, self.calibration)
        mappings = matched(mappings, machine)
        return _Filler(workload, system, machine, mappings, breakdown=breakdown).fill()

    def _overflow(
        self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping, used: float, capacity: float
    ) -> Violation:
        """Return what does not fit, with the single changes that make it fit; none where no single change does."""
        options = _lighter(workload, system, mapping)
        cures = []
        if options:
            table = self.table(workload, system, MappingTable.of([option for _, option in options]))
            fitting = sorted(np.flatnonzero(table.feasible), key=lambda row: float(table.time[row]))
            cures = [
                f"{options[row][0]} ({show(float(table.memory_bytes[row]), BYTES)}, "
                f"{show(float(table.time[row]), SECONDS)}/step)"
                for row in fitting
            ]
        return Violation(
            name="memory",
            problem=f"the fullest rank needs {show(used, BYTES)} of {show(capacity, BYTES)}",
            cures=tuple(cures),
        )


def matched(mappings: MappingTable, machine: SustainedRates) -> MappingTable:
    """The table, a single row of it repeated for every variant of the machine."""
    variants = machine.rows()
    if variants > 1 and len(mappings) == 1:
        return mappings.repeated(variants)
    if variants not in (1, len(mappings)):
        raise MappingError(
            f"the system has {variants} variants and the table {len(mappings)} mappings; give one of either, or "
            "as many of both"
        )
    return mappings


def _host_overflow(mapping: ParallelMapping, away: float, room: float) -> Violation:
    """What goes to the host, against a chip's share of its memory, and what would be less."""
    cures = [*kept_on_chip(mapping)]
    if mapping.micro_batch > 1:
        cures.insert(0, "--micro-batch 1")
    if mapping.recompute < Recompute.FULL:
        cures.insert(0, f"--recompute {Recompute.FULL.word}")
    return Violation(
        name=OVERFULL[1],
        problem=f"{' and '.join(mapping.offloaded)} take {show(away, BYTES)} of host memory a chip, of "
        f"{show(room, BYTES)} that its host has room for",
        cures=tuple(cures),
    )


def _lighter(workload: TrainingStep, system: Cluster, mapping: ParallelMapping) -> list[tuple[str, ParallelMapping]]:
    """Mappings one step away that hold less."""
    options: list[tuple[str, ParallelMapping]] = []
    if mapping.micro_batch > 1:
        options.append(("--micro-batch 1", replace(mapping, micro_batch=1)))
    if not mapping.sequence_parallel and mapping.tensor > 1:
        options.append(("--sequence-parallel", replace(mapping, sequence_parallel=True)))
    if not mapping.fused_attention:
        options.append(("--fused-attention", replace(mapping, fused_attention=True)))
    options += [
        (f"--recompute {recompute.word}", replace(mapping, recompute=recompute))
        for recompute in (Recompute.SELECTIVE, Recompute.FULL, Recompute.LIGHT)  # that any software has
        if recompute > mapping.recompute
    ]
    if mapping.data > 1:
        options += [(f"--zero {zero}", replace(mapping, zero=zero)) for zero in range(mapping.zero + 1, 4)]
    for factor in (2, 4, 8):
        if mapping.data % factor == 0:
            data = mapping.data // factor
            options.append(
                (
                    f"{TENSOR.flag} {mapping.tensor * factor}",
                    replace(mapping, tensor=mapping.tensor * factor, data=data),
                )
            )
            options.append(
                (
                    f"{PIPELINE.flag} {mapping.pipeline * factor}",
                    replace(mapping, pipeline=mapping.pipeline * factor, data=data),
                )
            )
    return options


def _violations(
    workload: TrainingStep, system: Cluster, mapping: ParallelMapping, model: LoweredModel
) -> tuple[Violation, ...]:
    case: Case = (workload, system, split_dims(model.blocks))
    table = MappingTable.of([mapping])
    return tuple(check.explain(case, mapping) for check in CHECKS if bool(check.violated(case, table)[0]))


def _single(value: Count) -> float:
    return float(np.max(value))


def _contributions(found: StepTime) -> tuple[Contribution, ...]:
    return tuple(
        Contribution(
            name=line.name,
            part=line.part,
            time=_single(time),
            exposed=line.exposed,
            resource=found.resources.get(line, "matrix units"),
            law=line.law,
        )
        for line, time in found.times.items()
        if _single(time) > 0
    )


class _Filler:
    """Prices a table chunk by chunk into columns."""

    def __init__(
        self,
        workload: TrainingStep,
        system: Cluster,
        machine: SustainedRates,
        mappings: MappingTable,
        *,
        breakdown: bool,
    ) -> None:
        self.workload = workload
        self.system = system
        self.machine = machine
        self.single = machine.rows() == 1
        self.mappings = mappings
        self.time = np.empty(len(mappings))
        self.memory_bytes = np.empty(len(mappings))
        names = (*(check.name for check in CHECKS), *OVERFULL)
        self.violated = {name: np.empty(len(mappings), dtype=bool) for name in names}
        self.lines: dict[tuple[str, bool], NDArray[np.float64]] | None = {} if breakdown else None
        parts = memory_parts(tuned=workload.model.is_tuned)
        self.parts = {name: np.empty(len(mappings)) for name, _ in parts} if breakdown else None

    def fill(self) -> EstimateTable:
        for structure, rows in self.mappings.structures():
            model = lowered_model(self.workload, structure)
            case: Case = (self.workload, self.system, split_dims(model.blocks))
            table = self.mappings.take(rows)
            blocks = self._blocks(model, table)
            for part in _chunks(len(table)):
                own = None if blocks is None else blocks.take(part)
                self._fill_chunk(model, case, table.take(part), part if isinstance(rows, slice) else rows[part], own)
        return EstimateTable(
            mappings=self.mappings,
            time=self.time,
            memory_bytes=self.memory_bytes,
            violations=self.violated,
            work=step_flops(self.workload),
            chips=float(self.system.accelerators),
            peak=self.system.chip.matrix_rate(self.workload.element),
            contributions=self.lines,
            memory=self.parts,
        )

    def _blocks(self, model: LoweredModel, table: MappingTable) -> Blocks | None:
        """The blocks of a table, timed once for rows that are alike; None where machines differ, or rows are few."""
        if not self.single or self.machine.own_shapes is not None or len(table) < _MANY:
            return None
        return Blocks.alike(model, self.machine, table, most=_CHUNK, alone=self.lines is not None)

    def _fill_chunk(
        self,
        model: LoweredModel,
        case: Case,
        chunk: MappingTable,
        rows: NDArray[np.intp] | slice,
        blocks: Blocks | None,
    ) -> None:
        machine = self.machine if self.single else self.machine.take(rows)
        found = two_tier_time(model, self.workload, machine, chunk, breakdown=self.lines is not None, blocks=blocks)
        memory = found.memory_bytes
        self.time[rows] = found.time
        self.memory_bytes[rows] = memory
        for name, bad in found.overfull(machine).items():
            self.violated[name][rows] = bad
        for check in CHECKS:
            self.violated[check.name][rows] = check.violated(case, chunk)
        if self.lines is not None and self.parts is not None:
            for line, time in found.times.items():
                key = (line.name, line.exposed)
                if key not in self.lines:
                    self.lines[key] = np.zeros(len(self.mappings))
                self.lines[key][rows] = time
            for column, size in zip(self.parts.values(), found.memory, strict=True):
                column[rows] = size


def _chunks(count: int) -> list[slice]:
    """Equal parts of so many rows, none larger than a chunk."""
    if count <= _CHUNK:
        return [slice(None)]
    size = -(-count // -(-count // _CHUNK))
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]
