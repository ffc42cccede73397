"""A step layer by layer and phase by phase: what each operation of a block computes, moves and exchanges.

COMET lists its workloads so (its Tables 1 and 2), and simulators of networks read them so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.block_time import BlockTime
from volvelle.estimators.training.blocks import Blocks
from volvelle.estimators.training.lines import GRADIENTS, GRADIENTS_HIDDEN
from volvelle.estimators.training.step_time import StepBasis, StepTime
from volvelle.estimators.training.two_tier_time import two_tier_time
from volvelle.mapping.actions import Exchange, Kernel
from volvelle.mapping.axes import DATA
from volvelle.mapping.lowered_model import lowered_model
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.mapping.program import Task
from volvelle.quantities import Number
from volvelle.system.cluster import Cluster
from volvelle.workload.elements import element_bytes
from volvelle.workload.operations import Phase
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.training import TrainingStep

FORWARD, RECOMPUTED, INPUT_GRADIENT, WEIGHT_GRADIENT = PHASES = (
    "forward",
    "recomputation",
    "input gradient",
    "weight gradient",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerExchange:
    """A collective that belongs to a layer; seconds and bytes are of one run."""

    collective: str
    axis: str
    """Which chips exchange: those of tensor, context or expert parallelism, or replicas (``data``)."""
    bytes: float
    """Of the whole tensor on which the group works."""
    time: float
    exposed: float
    """Seconds of these that nothing hides."""
    per_step: bool = False
    """Once a step, however many micro-batches it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerPhase:
    """One operation in one phase, on one chip of the slowest stage; figures are of one run."""

    block: str
    layer: str
    phase: str
    layers: float
    """Repetitions of the block on the stage."""
    micro_batches: float
    """Runs of each in a step."""
    flops: float
    """Of matrix and vector units."""
    bytes: float
    """Moved between chip and memory."""
    time: float
    """Seconds of its kernels."""
    exchanges: tuple[LayerExchange, ...] = ()

    @property
    def runs(self) -> float:
        """In a step."""
        return self.layers * self.micro_batches

    @property
    def step_time(self) -> float:
        """Seconds of its kernels in a step."""
        return self.runs * self.time

    def exchange_time(self, *, exposed: bool) -> float:
        """Seconds of its collectives in a step: those that nothing hides, or the hidden ones."""
        found = 0.0
        for one in self.exchanges:
            often = self.layers if one.per_step else self.runs
            found += often * (one.exposed if exposed else one.time - one.exposed)
        return found


def layer_phases(
    workload: TrainingStep, system: Cluster, mapping: ParallelMapping, machine: SustainedRates | None = None
) -> tuple[LayerPhase, ...]:
    """Every operation in every phase, in the order in which blocks and their layers run forward."""
    table = MappingTable.of([mapping])
    machine = machine or SustainedRates.of(system, workload.element)
    found = two_tier_time(lowered_model(workload, mapping.structure), workload, machine, table, breakdown=True)
    assert found.basis is not None, "a breakdown was asked for"
    return phases_of(found, found.basis, workload, mapping)


def phases_of(
    found: StepTime, basis: StepBasis, workload: TrainingStep, mapping: ParallelMapping
) -> tuple[LayerPhase, ...]:
    """The same of a step that is timed."""
    layers = {name: _one(count) for name, count in basis.layers.items()}
    makes = {name: any(kernel.of_weight for kernel in one.plan.kernels) for name, one in basis.blocks.times.items()}
    trained = sum(_one(basis.parameters[name]) * count for name, count in layers.items() if makes[name])
    rows: list[LayerPhase] = []
    for name, block in basis.blocks.times.items():
        if not layers[name]:
            continue
        share = _one(basis.parameters[name]) / trained if trained else 0.0
        gradients = _Gradients(
            collective=Collective.ALL_REDUCE.value if not mapping.zero else _SHARED_OUT,
            bytes=_one(basis.parameters[name]) * element_bytes(workload.gradient_element),
            time=share * (_one(found.times[GRADIENTS]) + _one(found.times[GRADIENTS_HIDDEN])),
            exposed=share * _one(found.times[GRADIENTS]),
        )
        rows += _block_phases(block, basis.blocks, gradients, layers[name], _one(basis.micro_batches))
    return tuple(rows)


_SHARED_OUT = f"{Collective.REDUCE_SCATTER.value}, {Collective.ALL_GATHER.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gradients:
    """What replicas exchange of one repetition of a block."""

    collective: str
    bytes: float
    time: float
    exposed: float

    def part(self, share: float) -> LayerExchange:
        return LayerExchange(
            collective=self.collective,
            axis=DATA.name,
            bytes=share * self.bytes,
            time=share * self.time,
            exposed=share * self.exposed,
            per_step=True,
        )


@dataclass(slots=True)
class _Sum:
    """A row while it is added up."""

    flops: float = 0.0
    bytes: float = 0.0
    time: float = 0.0
    written: float = 0.0
    """Bytes of gradients of weights that it makes."""


def _block_phases(
    block: BlockTime, blocks: Blocks, gradients: _Gradients, layers: float, micro_batches: float
) -> Iterator[LayerPhase]:
    """Rows of one repetition of a block."""
    tasks, sizes = block.plan.tasks, blocks.sizes
    timings = iter(block.kernels)
    times = {id(exchange): time for exchange, time in block.exchanges}
    sums: dict[tuple[str, str], _Sum] = {}
    exchanged: dict[tuple[str, str], list[LayerExchange]] = {}
    for place, task in enumerate(tasks):
        action = task.action
        if isinstance(action, Kernel):
            _, timing = next(timings)
            row = sums.setdefault((action.name, _phase(task, action)), _Sum())
            works = [work for work in (action.matrix_work, action.vector_work) if work is not None]
            row.flops += sum(_one(sizes(work)) for work in works)
            row.bytes += _one(timing.traffic)
            row.time += _one(timing.time)
            if action.of_weight:
                row.written += max(_one(sizes(block.plan.lifetimes[value].size)) for value in task.writes)
        elif isinstance(action, Exchange) and _one(time := times.get(id(action), 0.0)):
            key = (_owner(tasks, place), _phase(task, action))
            sums.setdefault(key, _Sum())
            exchanged.setdefault(key, []).append(
                LayerExchange(
                    collective=action.collective.value,
                    axis=action.axis.name,
                    bytes=_one(sizes(action.size)),
                    time=_one(time),
                    exposed=_one(block.exposed_time(action, time)),
                    per_step=action.per_step,
                )
            )
    of_products = sum(row.written for (_, phase), row in sums.items() if phase == WEIGHT_GRADIENT)
    order = list(dict.fromkeys(layer for layer, _ in sums))
    for layer, phase in sorted(sums, key=lambda key: (order.index(key[0]), PHASES.index(key[1]))):
        row, own = sums[layer, phase], exchanged.get((layer, phase), [])
        if phase == WEIGHT_GRADIENT and row.written and gradients.time > 0.0:
            own = [*own, gradients.part(row.written / of_products)]
        yield LayerPhase(
            block=block.plan.name,
            layer=layer,
            phase=phase,
            layers=layers,
            micro_batches=micro_batches,
            flops=row.flops,
            bytes=row.bytes,
            time=row.time,
            exchanges=tuple(own),
        )


def _phase(task: Task, action: Kernel | Exchange) -> str:
    """Which of the phases: what makes gradients of weights alone is the last; a norm makes both kinds in one pass."""
    if task.phase is Phase.FORWARD:
        return FORWARD
    if task.phase is Phase.RECOMPUTE:
        return RECOMPUTED
    if isinstance(action, Kernel):
        return WEIGHT_GRADIENT if action.of_weight and len(task.writes) == 1 else INPUT_GRADIENT
    return WEIGHT_GRADIENT if action.per_step or action.repeated_in_backward else INPUT_GRADIENT


def _owner(tasks: Sequence[Task], place: int) -> str:
    """The layer that a collective belongs to: the one whose result it takes, else the first that waits for it."""
    seen = place
    while tasks[seen].after:
        seen = tasks[seen].after[0]
        if isinstance(action := tasks[seen].action, Kernel):
            return action.name
    for task in tasks[place + 1 :]:
        if place in task.after and isinstance(task.action, Kernel):
            return task.action.name
    return "block"


def _one(value: Number) -> float:
    return float(np.max(value))
