"""The price of a training step: one structure, any number of mappings, array by array.

Everything is computed for the slowest pipeline stage and one micro-batch, then multiplied out. A row of the table
is one mapping (or one variant of the machine); the arithmetic is the same for one row and for a million.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from volvelle.estimate.block_plan import BlockPlan, Kernel, Term
from volvelle.estimate.kernel_price import KernelPrices, Sizes, counted, total
from volvelle.estimate.machine import Machine
from volvelle.laws.collectives import point_to_point_time
from volvelle.laws.footprint import activation_bytes, gradient_bytes, optimiser_bytes, weight_bytes
from volvelle.laws.nested_collectives import (
    Tier,
    nested_all_gather_time,
    nested_all_reduce_time,
    nested_all_to_all_time,
    nested_reduce_scatter_time,
)
from volvelle.laws.optimiser import optimiser_step_time
from volvelle.laws.overlap import hidden_time
from volvelle.laws.pipeline import bubble_time, micro_batches_in_flight
from volvelle.laws.roofline import kernel_time
from volvelle.mapping.parallelism import MappingTable
from volvelle.quantities import Bytes, Number, Seconds
from volvelle.workload.elements import element_bytes
from volvelle.workload.layout import Collective
from volvelle.workload.operations import Phase
from volvelle.workload.training import TrainingStep

__all__ = ["MEMORY_PARTS", "Line", "Price", "price"]

MEMORY_PARTS = (
    ("weights", "weight_bytes"),
    ("gradients", "gradient_bytes"),
    ("optimiser state", "optimiser_bytes"),
    ("activations", "activation_bytes"),
)

_NESTED: dict[Collective, Callable[..., Seconds]] = {
    Collective.ALL_REDUCE: nested_all_reduce_time,
    Collective.REDUCE_SCATTER: nested_reduce_scatter_time,
    Collective.ALL_GATHER: nested_all_gather_time,
    Collective.ALL_TO_ALL: nested_all_to_all_time,
}


@dataclass(frozen=True, slots=True)
class Line:
    """Identity of a contribution."""

    name: str
    part: str
    exposed: bool
    law: str


@dataclass(slots=True, kw_only=True)
class Price:
    """Columns of one structure's rows."""

    time: Number
    """Seconds a step: what is exposed."""
    memory: list[Number]
    first_is_fullest: NDArray[np.bool_]
    times: dict[Line, Number] = field(default_factory=dict)
    """Seconds by contribution, if asked for; the exposed ones sum to `time`."""
    resources: dict[Line, str] = field(default_factory=dict)
    """What bounds each contribution, if asked for."""
    facts: dict[str, Number] = field(default_factory=dict)

    @property
    def memory_bytes(self) -> Number:
        """Bytes on the fullest rank."""
        return total(self.memory)


class _BlockPrice:
    """Seconds of one repetition of a block for one micro-batch."""

    def __init__(self, plan: BlockPlan, sizes: Sizes, kernels: KernelPrices, tiers: Sequence[Tier]) -> None:
        self.plan = plan
        self.kernels = [(kernel, kernels.price(kernel)) for kernel in plan.kernels]
        self.backward = counted(time for kernel, (time, _, _) in self.kernels if kernel.phase is Phase.BACKWARD)
        others = counted(time for kernel, (time, _, _) in self.kernels if kernel.phase is not Phase.BACKWARD)
        priced: dict[tuple[Collective, Term], Number] = {}
        for exchange in plan.exchanges:
            key = (exchange.collective, exchange.size)
            if key not in priced:
                priced[key] = _NESTED[exchange.collective](sizes(exchange.size), tiers)
        self.exchanges = [(exchange, priced[exchange.collective, exchange.size]) for exchange in plan.exchanges]
        self.once = counted(time for exchange, time in self.exchanges if exchange.once)
        repeated = counted(time for exchange, time in self.exchanges if exchange.again)
        blocking = counted(time for exchange, time in self.exchanges if not exchange.again and not exchange.once)
        self.repeated_hidden: Number = hidden_time(repeated, self.backward)
        self.repeated_exposed: Number = repeated - self.repeated_hidden
        self.time = self.backward + others + blocking + self.repeated_exposed

    def lines(self) -> dict[Line, Number]:
        """The same time, by contribution."""
        found: dict[Line, Number] = {}
        for kernel, (time, _, _) in self.kernels:
            line = _kernel_line(self.plan, kernel)
            found[line] = found.get(line, 0.0) + time
        for exchange, time in self.exchanges:
            if not exchange.again and not exchange.once:
                line = _activation_line(exchange.collective)
                found[line] = found.get(line, 0.0) + time
        found[_REPEATED] = self.repeated_exposed
        found[_REPEATED_HIDDEN] = self.repeated_hidden
        return found

    def resources(self) -> dict[Line, str]:
        """What bounds each line of kernels: the resources of its kernels, longest first."""
        found: dict[Line, dict[str, float]] = {}
        for kernel, (time, arithmetic, memory) in self.kernels:
            unit = "vector units" if kernel.matrix_work is None else "matrix units"
            resource = unit if np.max(arithmetic) >= np.max(memory) else "memory"
            times = found.setdefault(_kernel_line(self.plan, kernel), {})
            times[resource] = times.get(resource, 0.0) + float(np.max(time))
        return {line: " and ".join(sorted(times, key=lambda name: -times[name])) for line, times in found.items()}


def _kernel_line(plan: BlockPlan, kernel: Kernel) -> Line:
    if kernel.phase is Phase.RECOMPUTE:
        return Line("recomputation", "recomputation", True, kernel_time.__name__)
    return Line(f"{plan.name}: {kernel.name}", kernel.part, True, kernel_time.__name__)


_TENSOR = "tensor-parallel communication"
_DATA = "data-parallel communication"


def _activation_line(collective: Collective) -> Line:
    return Line(f"{collective.value} of activations", _TENSOR, True, _NESTED[collective].__name__)


_REPEATED = Line("all-gather again", _TENSOR, True, nested_all_gather_time.__name__)
_REPEATED_HIDDEN = Line("all-gather again", _TENSOR, False, nested_all_gather_time.__name__)
_ONCE = Line("all-reduce, shared weights", _TENSOR, True, nested_all_reduce_time.__name__)
_HAND_OVER = Line("stage hand-over", "pipeline", True, point_to_point_time.__name__)
_BUBBLE = Line("bubble", "pipeline", True, bubble_time.__name__)
_GRADIENTS = Line("gradients, replicas", _DATA, True, hidden_time.__name__)
_GRADIENTS_HIDDEN = Line("gradients, replicas", _DATA, False, hidden_time.__name__)
_OPTIMISER = Line("optimiser step", "optimiser", True, optimiser_step_time.__name__)


def price(
    plans: Sequence[BlockPlan],
    workload: TrainingStep,
    machine: Machine,
    table: MappingTable,
    *,
    breakdown: bool = False,
) -> Price:
    """Price rows that share one structure; with `breakdown` also line by line."""
    sizes = Sizes(table.micro_batch, table.tensor)
    kernels = KernelPrices(sizes, machine, alone=breakdown)
    needs_all_to_all = any(one.collective is Collective.ALL_TO_ALL for plan in plans for one in plan.exchanges)
    tensor_tiers = machine.tiers(table.tensor, 1.0, uniform=needs_all_to_all)
    data_tiers = machine.tiers(table.data, table.tensor, uniform=False)
    stage_tiers = machine.tiers(table.pipeline, table.tensor * table.data, uniform=False)
    micro_batches = workload.batch / (table.data * table.micro_batch)

    layer = max(plans, key=lambda plan: plan.repeat)
    place = plans.index(layer)
    model = _Model(layer=layer, before=tuple(plans[:place]), after=tuple(plans[place + 1 :]))
    blocks = [_BlockPrice(plan, sizes, kernels, tensor_tiers) for plan in plans]
    each = blocks[place].time
    ahead = total(block.time for block in blocks[:place])
    behind = total(block.time for block in blocks[place + 1 :])
    stages = _Stages(table, layer.repeat)
    slowest = stages.slowest(each, ahead, behind)
    counts = [slowest.ahead] * place + [slowest.layers] + [slowest.behind] * (len(plans) - place - 1)

    parameters = _Parameters(model, sizes, stages)
    exchanged = _replica_time(parameters.most, workload, table, data_tiers, micro_batches)
    # Gradients hide behind the layers that every stage has, as far as repeated gathers have left room there.
    room = stages.least * (blocks[place].backward - blocks[place].repeated_hidden)
    window = room * np.where(table.zero >= 2.0, micro_batches, 1.0)
    hidden = hidden_time(exchanged, window, overlap=table.overlap)
    totals: dict[Line, Number] = {
        _ONCE: total(block.once * count for block, count in zip(blocks, counts, strict=True)),
        _BUBBLE: bubble_time(layer.repeat * each + ahead + behind, slowest.time, interleave=table.interleave),
        _HAND_OVER: _hand_over(sizes.total(layer.handed), stage_tiers, table, micro_batches),
        _GRADIENTS: exchanged - hidden,
        _OPTIMISER: optimiser_step_time(
            parameters.most / np.where(table.zero >= 1.0, table.data, 1.0),
            state=workload.optimiser_state,
            gradient=element_bytes(workload.gradient_element),
            weight=element_bytes(workload.element),
            memory_rate=machine.memory_rate,
        ),
    }
    memory, first = _memory(model, sizes, stages, parameters, workload, table, micro_batches)
    found = Price(time=micro_batches * slowest.time + total(totals.values()), memory=memory, first_is_fullest=first)
    if breakdown:
        found.times = _lines(blocks, counts, micro_batches) | totals | {_GRADIENTS_HIDDEN: hidden}
        for block in blocks:
            found.resources |= block.resources()
        found.resources |= _network_resources(found.times, machine, tensor_tiers, data_tiers, stage_tiers)
        found.facts = {
            "micro_batches": micro_batches,
            "parameters_per_chip": parameters.most,
            "layers_per_stage": slowest.layers,
        }
    return found


def _lines(blocks: Sequence[_BlockPrice], counts: Sequence[Number], micro_batches: Number) -> dict[Line, Number]:
    """Contributions of all blocks, as often as the slowest stage runs them in a step."""
    found: dict[Line, Number] = {}
    for block, count in zip(blocks, counts, strict=True):
        for line, time in block.lines().items():
            found[line] = found.get(line, 0.0) + time * (count * micro_batches)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """Blocks by place: the repeated one, and those around it."""

    layer: BlockPlan
    before: tuple[BlockPlan, ...]
    after: tuple[BlockPlan, ...]

    def around(self, terms: Callable[[BlockPlan], Sequence[Term]], sizes: Sizes) -> tuple[Number, Number, Number]:
        """A size of the layer, of what is before and of what is after."""
        return (
            sizes.total(terms(self.layer)),
            total(sizes.total(terms(plan)) for plan in self.before),
            total(sizes.total(terms(plan)) for plan in self.after),
        )


@dataclass(slots=True)
class _Slowest:
    """What the slowest stage holds."""

    time: Number
    layers: Number
    ahead: Number
    """1 where it holds the blocks before the layers."""
    behind: Number


class _Stages:
    """Layers dealt out to stages: evenly, with any rest to the middle, then the first stage."""

    def __init__(self, table: MappingTable, layers: int) -> None:
        self.count = table.pipeline
        self.least = np.floor(layers / table.pipeline)
        self.rest = layers - self.least * table.pipeline
        self.first = self.least + (self.rest > np.maximum(self.count - 2.0, 0.0))
        self.last = self.least
        self.most = self.least + (self.rest > 0)
        self.single = table.pipeline == 1.0

    def slowest(self, each: Number, ahead: Number, behind: Number) -> _Slowest:
        first = self.first * each + ahead
        last = self.last * each + behind
        middle = self.most * each
        whole = self.first * each + ahead + behind
        at_last = (last >= first) & (last >= middle)
        at_first = (first >= middle) & ~at_last
        time = np.where(self.single, whole, np.where(at_last, last, np.where(at_first, first, middle)))
        return _Slowest(
            time=time,
            layers=np.where(at_last & ~self.single, self.last, np.where(at_first | self.single, self.first, self.most)),
            ahead=np.where(at_first | self.single, 1.0, 0.0),
            behind=np.where(at_last | self.single, 1.0, 0.0),
        )


class _Parameters:
    """Parameters held by the first and the last stage."""

    def __init__(self, model: _Model, sizes: Sizes, stages: _Stages) -> None:
        each, ahead, behind = model.around(lambda plan: plan.weights, sizes)
        tied = total(model.around(lambda plan: plan.tied, sizes))
        self.first = stages.first * each + ahead + np.where(stages.single, behind, 0.0)
        self.last = np.where(stages.single, self.first, stages.last * each + behind + tied)
        self.most = np.maximum(np.maximum(self.first, self.last), stages.most * each)


def _hand_over(size: Bytes, tiers: Sequence[Tier], table: MappingTable, micro_batches: Number) -> Seconds:
    """Activations forward and gradients backward, over the outermost dimension that neighbours span."""
    once: Number = 0.0
    for tier in tiers:
        found = tier.setup + point_to_point_time(size, rate=tier.rate, latency=tier.latency)
        once = np.where(tier.chips > 1.0, found, once)
    transfers = 2.0 * (micro_batches * table.interleave + table.pipeline - 1.0)
    return np.where(table.pipeline > 1.0, transfers * once, 0.0)


def _replica_time(
    parameters: Number,
    workload: TrainingStep,
    table: MappingTable,
    tiers: Sequence[Tier],
    micro_batches: Number,
) -> Seconds:
    """Gradients summed over replicas; with ZeRO also weights gathered, with ZeRO-2 and 3 every micro-batch."""
    gradients = parameters * element_bytes(workload.gradient_element)
    weights = parameters * element_bytes(workload.element)
    reduced = nested_all_reduce_time(gradients, tiers)
    scattered = nested_reduce_scatter_time(gradients, tiers)
    gathered = nested_all_gather_time(weights, tiers)
    time = np.where(table.zero < 1, reduced, scattered + gathered)
    if np.any(table.zero >= 2):
        time = np.where(table.zero == 2, micro_batches * scattered + gathered, time)
        time = np.where(table.zero == 3, micro_batches * (scattered + 2.0 * gathered), time)
    return np.where(table.data > 1.0, time, 0.0)


def _memory(
    model: _Model,
    sizes: Sizes,
    stages: _Stages,
    parameters: _Parameters,
    workload: TrainingStep,
    table: MappingTable,
    micro_batches: Number,
) -> tuple[list[Number], NDArray[np.bool_]]:
    """Memory by part on the fuller of the first and the last stage."""
    shares = {"data_parallel": table.data, "zero": table.zero}
    saved, ahead, behind = model.around(lambda plan: plan.saved, sizes)
    working = sizes.total(model.layer.working)

    def held(count: Number, layers: Number, stage: Number, extra: Number) -> list[Number]:
        flying = micro_batches_in_flight(
            table.pipeline, stage=stage, interleave=table.interleave, micro_batches=micro_batches
        )
        return [
            weight_bytes(count, each=element_bytes(workload.element), **shares),
            gradient_bytes(count, each=element_bytes(workload.gradient_element), **shares),
            optimiser_bytes(count, each=workload.optimiser_state, **shares),
            activation_bytes(saved, layers=layers, in_flight=flying, working=working + extra * flying),
        ]

    first = held(parameters.first, stages.first, 0.0, ahead + np.where(stages.single, behind, 0.0))
    last = held(parameters.last, stages.last, table.pipeline - 1.0, behind + np.where(stages.single, ahead, 0.0))
    fuller = np.asarray(total(first) >= total(last))
    return [np.where(fuller, one, other) for one, other in zip(first, last, strict=True)], fuller


def _network_resources(
    times: Iterable[Line], machine: Machine, tensor: Sequence[Tier], data: Sequence[Tier], stage: Sequence[Tier]
) -> dict[Line, str]:
    """Name the network dimension that bounds each communication."""

    def outermost(tiers: Sequence[Tier]) -> str:
        spanned = [wire.name for wire, tier in zip(machine.wires, tiers, strict=True) if np.max(tier.chips) > 1]
        return "network: " + (spanned[-1] if spanned else machine.wires[0].name)

    where = {_TENSOR: outermost(tensor), _DATA: outermost(data)}
    found = {line: where[line.part] for line in times if line.part in where}
    return found | {_HAND_OVER: outermost(stage), _BUBBLE: "waiting", _OPTIMISER: "memory"}
