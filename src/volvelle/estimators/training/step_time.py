"""The time of a training step: one structure, any number of mappings, array by array.

Everything is computed for the slowest pipeline stage and one micro-batch, then multiplied out. A row of the table
is one mapping (or one variant of the machine); the arithmetic is the same for one row and for a million.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.kernels import KernelTimes, Sizes, total
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.block_time import BlockTime
from volvelle.estimators.training.lines import (
    BUBBLE,
    DISPATCH,
    GRADIENTS,
    GRADIENTS_HIDDEN,
    HAND_OVER,
    HOST,
    ONCE,
    OPTIMISER,
    SLOWED,
    Line,
)
from volvelle.estimators.training.replicas import Replicas, replicas
from volvelle.estimators.training.stage_memory import Held, stage_memory
from volvelle.estimators.training.stages import OfBlocks, Stages
from volvelle.laws.collectives import point_to_point_time
from volvelle.laws.nested_collectives import Tier, nested_all_gather_time
from volvelle.laws.optimiser import optimiser_step_time
from volvelle.laws.overlap import hidden_time, overlap_slowdown_time, streamed_time
from volvelle.laws.routing import distinct_share
from volvelle.mapping.axes import CUTTING, DATA, EXPERT, PIPELINE, REPLICAS, TENSOR, Axis, combined, stride
from volvelle.mapping.lowered_block import LoweredBlock
from volvelle.mapping.lowered_model import LoweredModel
from volvelle.mapping.parallelism import MappingTable, Schedule
from volvelle.mapping.symbols import Term
from volvelle.quantities import Count, Number, Seconds, is_plainly
from volvelle.workload.elements import element_bytes
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.training import TrainingStep


@dataclass(slots=True, kw_only=True)
class StepTime:
    """Columns of one structure's rows."""

    time: Number
    """Seconds a step: what is exposed."""
    memory: list[Number]
    fullest: NDArray[np.int64]
    """Which stage that is, a number of `RANKS`."""
    times: dict[Line, Number] = field(default_factory=dict)
    """Seconds by contribution, if asked for; the exposed ones sum to `time`."""
    resources: dict[Line, str] = field(default_factory=dict)
    """What bounds each contribution, if asked for."""
    facts: dict[str, Number] = field(default_factory=dict)

    @property
    def memory_bytes(self) -> Number:
        """Bytes on the fullest rank."""
        return total(self.memory)


def step_time(
    model: LoweredModel,
    workload: TrainingStep,
    machine: SustainedRates,
    table: MappingTable,
    *,
    breakdown: bool = False,
) -> StepTime:
    """Time of rows that share one structure; with `breakdown` also line by line."""
    sizes = Sizes(table)
    kernels = KernelTimes(sizes, machine, alone=breakdown)
    axes = _axes(model.blocks, machine, table)
    dual = table.schedule == Schedule.DUAL_PIPE
    beside: Number = np.where(dual, 1.0, 0.0) if np.any(dual) else 0.0
    blocks = {
        block.name: BlockTime(
            block,
            sizes,
            kernels,
            axes,
            beside=beside,
            host_dispatch_time=machine.host_dispatch_time,
            communication_sm_share=machine.communication_sm_share,
        )
        for block in model.blocks
    }

    def of(quantity: Callable[[BlockTime], Number]) -> dict[str, Number]:
        return {name: quantity(block) for name, block in blocks.items()}

    micro_batches = workload.batch / (table.data * table.micro_batch)
    stages = Stages(table, model)
    time = of(lambda block: block.time)
    slowest = stages.slowest(time)
    common = replicas(combined(table, REPLICAS), stride(table, REPLICAS[0]), table, _tiers(machine))
    weights = {block.name: sizes.total(block.weights) for block in model.blocks}
    tied = total(sizes.total(block.tied) for block in model.blocks)
    held = Held(stages, weights, common, tied=tied)
    experts = None
    if any(block.expert_weights for block in model.blocks):
        expert_weights = {block.name: sizes.total(block.expert_weights) for block in model.blocks}
        experts = Held(stages, expert_weights, _expert_replicas(machine, table))
    exchanged: Number = 0.0
    stepped: Number = 0.0
    for kind in (held, *([experts] if experts else [])) if model.trains else ():
        exchanged = exchanged + kind.replicas.exchange_time(kind.most, workload, table, micro_batches)
        stepped = stepped + kind.most / np.where(table.zero >= 1.0, kind.replicas.sharing, 1.0)

    # Gradients hide behind the layers that every stage has, as far as repeated gathers have left room there.
    room = stages.last.of_layers(of(lambda block: block.backward_work - block.repeated_hidden))
    window = room * np.where(table.zero >= 2.0, micro_batches, 1.0)
    hidden = hidden_time(exchanged, window, overlap=table.overlap)
    per_step = of(lambda block: block.per_step)
    bubble = stages.bubble(
        time,
        slowest.time,
        forward=of(lambda block: block.forward),
        backward=of(lambda block: block.backward),
        weights=of(lambda block: block.weight_gradients),
    )
    stage_tiers = machine.tiers(table.pipeline, stride(table, PIPELINE), uniform=False)
    totals: dict[Line, Number] = {
        ONCE: total(count * per_step[name] for name, count in slowest.counts.items()),
        BUBBLE: bubble,
        HAND_OVER: _hand_over(
            model.layers[0].output_bytes, sizes, machine, axes[TENSOR], stage_tiers, table, micro_batches
        ),
        GRADIENTS: exchanged - hidden,
        OPTIMISER: _optimiser(stepped, workload, machine, table),
    }
    if not is_plainly(machine.communication_sm_share, 0.0):
        totals[SLOWED] = overlap_slowdown_time(hidden, share=machine.communication_sm_share)
    saved = {block.name: sizes.total(block.saved) for block in model.blocks}
    offloaded = table.offload_weights + table.offload_activations
    if np.any(offloaded > 0):
        totals[HOST] = _stream(saved, held.most, stages, slowest.time, workload, machine, table, micro_batches)
    working = {block.name: sizes.total(block.working) for block in model.layers}
    memory, fullest = stage_memory(stages, saved, working, held, experts, workload, table, micro_batches)
    found = StepTime(time=micro_batches * slowest.time + total(totals.values()), memory=memory, fullest=fullest)
    if breakdown:
        found.times = _lines(blocks, slowest.counts, micro_batches)
        for line, seconds in (*totals.items(), (GRADIENTS_HIDDEN, hidden)):
            found.times[line] = found.times.get(line, 0.0) + seconds
        for block in blocks.values():
            found.resources |= block.resources()
        found.resources |= _network_resources(found.times, machine, axes, common.tiers, stage_tiers)
        found.facts = {
            "micro_batches": micro_batches,
            "parameters_per_chip": held.most + (0.0 if experts is None else experts.most),
            "layers_per_stage": slowest.depth,
        }
    return found


def _tiers(machine: SustainedRates) -> Callable[[Count, Count], Sequence[Tier]]:
    return lambda group, stride: machine.tiers(group, stride, uniform=False)


def _expert_replicas(machine: SustainedRates, table: MappingTable) -> Replicas:
    """Chips that hold the same experts: every so many ranks, or tensor-parallel groups of them if experts are split."""
    whole = not table.expert_tensor_parallel[0]
    holders = combined(table, REPLICAS) * (table.tensor if whole else 1.0)
    between = _expert_stride(table) * table.expert
    return replicas(np.maximum(holders / table.expert, 1.0), between, table, _tiers(machine))


def _expert_stride(table: MappingTable) -> Count:
    """Ranks between two that hold other experts; whole experts are dealt out over the tensor-parallel chips too."""
    between: Count = stride(table, EXPERT if table.expert_tensor_parallel[0] else TENSOR)
    return between


def _axes(blocks: Sequence[LoweredBlock], machine: SustainedRates, table: MappingTable) -> dict[Axis, Sequence[Tier]]:
    """What the groups of each axis have of the network; axes that no row uses are left out."""
    uniform = any(one.collective is Collective.ALL_TO_ALL for block in blocks for one in block.exchanges)
    groups: dict[Axis, Sequence[Tier]] = {}
    for axis in CUTTING:
        degree = getattr(table, axis.name)
        if axis is EXPERT and np.any(degree > 1):
            tiers = machine.tiers(degree, _expert_stride(table))
            groups[axis] = _relayed(tiers, table, max(block.copies for block in blocks))
        elif axis is TENSOR or np.any(degree > 1):
            groups[axis] = machine.tiers(degree, stride(table, axis), uniform=uniform)
    return groups


def _relayed(tiers: Sequence[Tier], table: MappingTable, copies: float) -> Sequence[Tier]:
    """The same network where tokens cross to a unit once: all but the innermost dimension carry less."""
    if not np.any(table.hierarchical_dispatch > 0):
        return tiers
    return [
        tier
        if index == 0
        else replace(tier, crossing=np.where(table.hierarchical_dispatch > 0, distinct_share(copies, tier.chips), 1.0))
        for index, tier in enumerate(tiers)
    ]


def _lines(blocks: Mapping[str, BlockTime], counts: Mapping[str, Number], micro_batches: Number) -> dict[Line, Number]:
    """Contributions of all blocks, as often as the slowest stage runs them in a step."""
    found: dict[Line, Number] = {}
    for name, block in blocks.items():
        for line, time in block.lines().items():
            found[line] = found.get(line, 0.0) + time * (counts[name] * micro_batches)
    return found


def _hand_over(
    output_bytes: Sequence[Term],
    sizes: Sizes,
    machine: SustainedRates,
    tensor: Sequence[Tier],
    tiers: Sequence[Tier],
    table: MappingTable,
    micro_batches: Number,
) -> Seconds:
    """Activations forward and gradients backward, over the outermost dimension that neighbours span.

    Tensor-parallel ranks that hold the same activations send a part each, and gather the whole on arrival
    (Narayanan et al. 2021, section 4.1).
    """
    whole = sizes.total(output_bytes)
    same = not any(term.power(TENSOR.name) for term in output_bytes)
    part = whole / table.tensor if same else whole
    once: Number = 0.0
    for level, tier in zip(machine.levels, tiers, strict=True):
        found = level.setup + point_to_point_time(part, rate=level.rate, latency=level.latency)
        once = np.where(tier.chips > 1.0, found, once)
    if same:
        once = once + nested_all_gather_time(whole, tensor)
    transfers = 2.0 * (micro_batches * table.interleave + table.pipeline - 1.0)
    return np.where(table.pipeline > 1.0, transfers * once, 0.0)


def _optimiser(stepped: Number, workload: TrainingStep, machine: SustainedRates, table: MappingTable) -> Seconds:
    """The step itself, where the states are: in the chip's memory, or streamed from the host's."""
    sizes = {
        "state": workload.optimiser_state,
        "gradient": element_bytes(workload.gradient_element),
        "weight": element_bytes(workload.weight_element),
    }
    here = optimiser_step_time(stepped, memory_rate=machine.memory_rate, **sizes)
    if machine.host_rate is None or not np.any(table.offload_optimiser > 0):
        return here
    # Gradients go out and new weights come in over the host link; the host's own step is taken to keep pace.
    there = stepped * (sizes["gradient"] + sizes["weight"]) / machine.host_rate
    return np.where(table.offload_optimiser > 0, there, here)


def _stream(
    saved: OfBlocks,
    parameters: Number,
    stages: Stages,
    window: Seconds,
    workload: TrainingStep,
    machine: SustainedRates,
    table: MappingTable,
    micro_batches: Number,
) -> Seconds:
    """What streaming activations out and in, and weights in twice and gradients out, adds to a step."""
    if machine.host_rate is None:
        return 0.0 * micro_batches
    # As the fullest of the stages between holds, and what the first runs ahead of its layers.
    ahead = stages.first.of_the_rest({**saved, **{block.name: 0.0 for block in stages.model.after}})
    between = reduce(np.maximum, [stage.of_layers(saved) for stage in stages.between])
    activations = 2.0 * (between + ahead) * table.offload_activations
    weights = parameters * (2.0 * element_bytes(workload.weight_element) + element_bytes(workload.gradient_element))
    moved = activations + weights * table.offload_weights
    return micro_batches * streamed_time(moved, window, rate=machine.host_rate)


def _network_resources(
    times: Iterable[Line],
    machine: SustainedRates,
    axes: Mapping[Axis, Sequence[Tier]],
    data: Sequence[Tier],
    stage: Sequence[Tier],
) -> dict[Line, str]:
    """Name the network dimension that bounds each communication."""

    def outermost(tiers: Sequence[Tier]) -> str:
        spanned = [level.name for level, tier in zip(machine.levels, tiers, strict=True) if np.max(tier.chips) > 1]
        return "network: " + (spanned[-1] if spanned else machine.levels[0].name)

    where = {axis.communication: outermost(tiers) for axis, tiers in axes.items()}
    where[DATA.communication] = outermost(data)
    found = {line: where[line.part] for line in times if line.part in where}
    return found | {
        HAND_OVER: outermost(stage),
        BUBBLE: "waiting",
        OPTIMISER: "memory",
        HOST: "host link",
        DISPATCH: "host",
        SLOWED: "matrix units",
    }
