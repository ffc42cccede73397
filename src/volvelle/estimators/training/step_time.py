"""The time of a training step: one structure, any number of mappings, array by array.

Everything is computed for the slowest pipeline stage and one micro-batch, then multiplied out. A row of the table
is one mapping (or one variant of the machine); the arithmetic is the same for one row and for a million.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.kernels import total
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.blocks import Blocks, expert_stride
from volvelle.estimators.training.copies import Copies, copies_of_stage
from volvelle.estimators.training.lines import (
    ADDED,
    BUBBLE,
    COPIES,
    DISPATCH,
    GRADIENTS,
    GRADIENTS_HIDDEN,
    HAND_OVER,
    HOST,
    LISTED,
    ONCE,
    OPTIMISER,
    SLOWED,
    Line,
)
from volvelle.estimators.training.replica_exchange import ReplicaExchange, replica_exchange
from volvelle.estimators.training.replicas import Replicas, replicas
from volvelle.estimators.training.stage_memory import Frozen, Held, stage_memory
from volvelle.estimators.training.stages import OfBlocks, Stages
from volvelle.laws.collectives import point_to_point_time
from volvelle.laws.footprint import loss_bytes
from volvelle.laws.nested_collectives import Tier, nested_all_reduce_time
from volvelle.laws.optimiser import optimiser_step_time
from volvelle.laws.overlap import hidden_time, overlap_slowdown_time, streamed_time
from volvelle.laws.pipeline import dual_pipe_waited_transfers, waited_transfers, zero_bubble_waited_transfers
from volvelle.mapping.axes import DATA, PIPELINE, REPLICAS, Axis, combined, stride
from volvelle.mapping.lowered_model import LoweredModel
from volvelle.mapping.parallelism import MappingTable, Schedule
from volvelle.quantities import Bytes, Count, Number, Seconds, is_plainly
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import Counting, TrainingStep

OVERFULL = ("memory", "host capacity")
"""Violations of rows that hold too much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBasis:
    """What a breakdown was added up from."""

    blocks: Blocks
    layers: OfBlocks
    """How many of each block the slowest stage has; each runs once a micro-batch."""
    micro_batches: Number
    parameters: OfBlocks
    """Trainable ones of each block on a chip, experts among them."""
    optimiser_traffic: Bytes
    """Bytes that the optimiser's step moves in the chip's memory."""
    machine: SustainedRates
    beside: Seconds
    """Of what replicas exchange, what runs beside kernels."""
    turns: Number
    """Micro-batches, and those that the slowest stage waits for others to run."""
    kinds: Sequence[Held]
    """Trainable parameters: those that all replicas hold, and experts."""
    hand_over: Seconds
    """Of what one micro-batch hands from a stage to the next, once."""
    saved: OfBlocks
    """Bytes that one micro-batch leaves for the backward pass, of each block."""
    working: OfBlocks
    """Bytes that live again while one repetition is recomputed."""


@dataclass(slots=True, kw_only=True)
class StepTime:
    """Columns of one structure's rows."""

    time: Number
    """Seconds a step: what is exposed."""
    memory: list[Number]
    fullest: NDArray[np.int64]
    """Which stage that is, a number of `RANKS`."""
    away: Number = 0.0
    """Bytes that the rank with most has in host memory."""
    times: dict[Line, Number] = field(default_factory=dict)
    """Seconds by contribution, if asked for; the exposed ones sum to `time`."""
    resources: dict[Line, str] = field(default_factory=dict)
    """What bounds each contribution, if asked for."""
    facts: dict[str, Number] = field(default_factory=dict)
    basis: StepBasis | None = None
    """If a breakdown was asked for."""

    @property
    def memory_bytes(self) -> Number:
        """Bytes on the fullest rank."""
        return total(self.memory)

    def overfull(self, machine: SustainedRates) -> dict[str, NDArray[np.bool_] | bool]:
        """Which rows hold more than there is room for: on a chip, and in its host; by the names of `OVERFULL`."""
        room = machine.host_room
        away = False if room is None or is_plainly(self.away, 0.0) else self.away > room
        return dict(zip(OVERFULL, (self.memory_bytes > machine.room, away), strict=True))


def step_time(
    model: LoweredModel,
    workload: TrainingStep,
    machine: SustainedRates,
    table: MappingTable,
    *,
    breakdown: bool = False,
    blocks: Blocks | None = None,
) -> StepTime:
    """Time of rows that share one structure; with `breakdown` also line by line; of `blocks` where they are timed."""
    blocks = blocks or Blocks(model, machine, table, alone=breakdown)
    micro_batches = workload.batch / (table.data * table.micro_batch)
    stages = Stages(table, model)
    time = blocks.of(lambda block: block.time)
    slowest = stages.slowest(time)
    common = _common_replicas(machine, table)
    weights = blocks.size(lambda block: block.weights)
    tied = blocks.size(lambda block: block.tied)
    held = Held(stages, weights, common, tied=tied, frozen=_frozen(blocks))
    experts = _experts(stages, blocks, machine, table)
    kinds = (held, *([experts] if experts else [])) if model.trains else ()
    if workload.counting is Counting.COMET:
        exchange = _as_comet(stages, held, workload, table, blocks)
    else:
        exchange = replica_exchange(stages, kinds, workload, table, micro_batches, blocks, machine)
    hidden = exchange.exchanged - exchange.exposed
    per_step = blocks.of(lambda block: block.per_step)
    bubble = stages.bubble(
        time,
        slowest.time,
        forward=blocks.of(lambda block: block.forward),
        backward=blocks.of(lambda block: block.backward),
        weights=blocks.of(lambda block: block.weight_gradients),
    )
    stage_tiers = machine.tiers(table.pipeline, stride(table, PIPELINE), uniform=False)
    once = _hand_over_once(blocks, machine, stage_tiers)
    totals: dict[Line, Number] = {
        ONCE: total(count * per_step[name] for name, count in slowest.counts.items()),
        BUBBLE: bubble,
        HAND_OVER: _hand_over(once, machine, table, micro_batches),
        GRADIENTS: exchange.exposed,
        OPTIMISER: optimiser_time(exchange.stepped, workload, machine, table),
    }
    if not is_plainly(machine.communication_sm_share, 0.0):
        totals[SLOWED] = overlap_slowdown_time(exchange.beside, share=machine.communication_sm_share)
    totals |= _copied(copies_of_stage(stages, kinds, workload, table, machine), micro_batches, bubble, slowest.time)
    saved = blocks.size(lambda block: block.saved)
    if machine.cast is not None:
        narrower = blocks.size(lambda block: block.saved_for_products if block.repeat > 1 else ())
        saved = {name: kept - narrower[name] * (1.0 - machine.cast) for name, kept in saved.items()}
    offloaded = table.offload_weights + table.offload_activations
    if np.any(offloaded > 0):
        ahead = blocks.of(lambda block: block.forward)
        forward = total(count * ahead[name] for name, count in slowest.counts.items())
        passes = forward, slowest.time - forward
        totals[HOST] = _stream(saved, held, stages, passes, workload, machine, table, micro_batches)
    working = blocks.size(lambda block: block.working)
    for block in model.after:
        if block.scored:
            logits = blocks.column(blocks.sizes.total(block.scored))
            working[block.name] = working[block.name] + loss_bytes(logits, beside=_beside_a_logit(machine, table))
    memory, fullest, away = stage_memory(
        stages,
        saved,
        working,
        held,
        experts,
        workload,
        table,
        micro_batches,
        gradient_copy=machine.gradient_copy_bytes,
        weight_shard=machine.weight_shard_bytes,
    )
    found = StepTime(
        time=micro_batches * slowest.time + total(totals.values()), memory=memory, fullest=fullest, away=away
    )
    if breakdown:
        found.times = blocks.lines({name: count * micro_batches for name, count in slowest.counts.items()})
        for line, seconds in (*totals.items(), (GRADIENTS_HIDDEN, hidden)):
            found.times[line] = found.times.get(line, 0.0) + seconds
        found.resources = blocks.resources()
        found.resources |= _network_resources(found.times, machine, blocks.axes, common.tiers, stage_tiers)
        found.facts = {
            "micro_batches": micro_batches,
            **({"host_memory_bytes": away} if np.any(away > 0.0) else {}),
            "parameters_per_chip": _most_parameters(blocks, stages)
            if model.is_tuned
            else held.most + (0.0 if experts is None else experts.most),
            "layers_per_stage": slowest.depth,
        }
        here = 1.0 if machine.host_rate is None else 1.0 - table.offload_optimiser
        found.basis = StepBasis(
            blocks=blocks,
            layers=slowest.counts,
            micro_batches=micro_batches,
            parameters=blocks.size(lambda block: (*block.weights, *block.expert_weights)),
            optimiser_traffic=here
            * optimiser_step_time(exchange.stepped, memory_rate=1.0, **_optimiser_sizes(workload)),
            machine=machine,
            beside=exchange.beside,
            turns=_turns(micro_batches, bubble, slowest.time),
            kinds=kinds,
            hand_over=once,
            saved=saved,
            working=working,
        )
    return found


def _turns(micro_batches: Number, bubble: Seconds, slowest: Seconds) -> Number:
    """Micro-batches, and those that the slowest stage waits for others to run: it waits for what they copy as well."""
    return micro_batches + bubble / np.maximum(slowest, np.finfo(float).tiny)


def _copied(copies: Copies | None, micro_batches: Number, bubble: Seconds, slowest: Seconds) -> dict[Line, Number]:
    """What copies take of a step, if there are any."""
    return {} if copies is None else copies.lines(_turns(micro_batches, bubble, slowest))


def _beside_a_logit(machine: SustainedRates, table: MappingTable) -> Number:
    """Bytes that a loss needs, which may be others where tensor ranks share the logits."""
    shared = machine.sharded_loss_bytes
    return machine.loss_bytes if shared is None else np.where(table.tensor > 1, shared, machine.loss_bytes)


def _as_comet(
    stages: Stages, held: Held, workload: TrainingStep, table: MappingTable, blocks: Blocks
) -> ReplicaExchange:
    """An all-reduce of the layers' gradients behind those of their weights, at any ZeRO (see `comet_counting`)."""
    size = stages.first.of_layers(held.each) * element_bytes(workload.gradient_element)
    exchanged = np.where(held.replicas.count > 1.0, nested_all_reduce_time(size, held.replicas.tiers), 0.0)
    room = stages.last.of_layers(blocks.of(lambda block: block.weight_gradients))
    hidden = hidden_time(exchanged, room, overlap=table.overlap)
    return ReplicaExchange(exchanged=exchanged, exposed=exchanged - hidden, beside=hidden, stepped=0.0)


def _frozen(blocks: Blocks) -> Frozen | None:
    """Weights that all replicas hold and training leaves as they are; None: there are none."""
    if not blocks.model.is_tuned:
        return None
    tied = total(blocks.size(lambda block: block.frozen_tied_bytes).values())
    return Frozen(each=blocks.size(lambda block: block.frozen_bytes), tied=tied)


def _most_parameters(blocks: Blocks, stages: Stages) -> Number:
    """Trainable and frozen ones on the chip that has most."""
    return stages.most(blocks.size(lambda block: (*block.weights, *block.expert_weights, *block.frozen)))


def _tiers(machine: SustainedRates) -> Callable[[Count, Count], Sequence[Tier]]:
    return lambda group, stride: machine.tiers(group, stride, uniform=False)


def _experts(stages: Stages, blocks: Blocks, machine: SustainedRates, table: MappingTable) -> Held | None:
    """Parameters of experts; None: there are none."""
    if not any(block.expert_weights or block.frozen_expert_bytes for block in blocks.model.blocks):
        return None
    frozen = None
    if any(block.frozen_expert_bytes for block in blocks.model.blocks):
        frozen = Frozen(each=blocks.size(lambda block: block.frozen_expert_bytes))
    weights = blocks.size(lambda block: block.expert_weights)
    return Held(stages, weights, _expert_replicas(machine, table), frozen=frozen)


def _common_replicas(machine: SustainedRates, table: MappingTable) -> Replicas:
    """Chips that hold the same of all weights but those of experts."""
    every, near = combined(table, REPLICAS), stride(table, REPLICAS[0])
    return replicas(every, near, table, _tiers(machine))


def _expert_replicas(machine: SustainedRates, table: MappingTable) -> Replicas:
    """Chips that hold the same experts: every so many ranks, or tensor-parallel groups of them if experts are split."""
    whole = not table.expert_tensor_parallel[0]
    holders = combined(table, REPLICAS) * (table.tensor if whole else 1.0)
    between = expert_stride(table) * table.expert
    every = np.maximum(holders / table.expert, 1.0)
    return replicas(every, between, table, _tiers(machine))


def _hand_over_once(blocks: Blocks, machine: SustainedRates, tiers: Sequence[Tier]) -> Seconds:
    """Seconds from stage to stage of one micro-batch, by the outermost dimension that the neighbours span."""
    part, gathered = blocks.handed_over()
    once: Number = 0.0
    for level, tier in zip(machine.levels, tiers, strict=True):
        found = level.setup + point_to_point_time(part, rate=level.rate, latency=level.latency)
        once = np.where(tier.chips > 1.0, found, once)
    return once + gathered


def _hand_over(once: Seconds, machine: SustainedRates, table: MappingTable, micro_batches: Number) -> Seconds:
    """Activations forward and gradients backward, if waited for."""
    stages, schedule = table.pipeline, table.schedule
    transfers = waited_transfers(stages, interleave=table.interleave, micro_batches=micro_batches)
    if np.any(schedule != Schedule.ONE_FORWARD_ONE_BACKWARD):
        transfers = np.where(schedule == Schedule.GPIPE, 2.0 * (stages - 1.0), transfers)
        filled = zero_bubble_waited_transfers(stages, micro_batches=micro_batches)
        transfers = np.where(schedule == Schedule.ZERO_BUBBLE, filled, transfers)
        both = dual_pipe_waited_transfers(stages, micro_batches=micro_batches)
        transfers = np.where(schedule == Schedule.DUAL_PIPE, both, transfers)
    return np.where(table.pipeline > 1.0, transfers * machine.hand_over_exposure * once, 0.0)


def _optimiser_sizes(workload: TrainingStep) -> dict[str, Bytes]:
    """Bytes a parameter of what the optimiser's step touches."""
    return {
        "state": workload.optimiser_state,
        "gradient": element_bytes(workload.gradient_element),
        "weight": element_bytes(workload.weight_element),
    }


def optimiser_time(stepped: Number, workload: TrainingStep, machine: SustainedRates, table: MappingTable) -> Seconds:
    """The step itself, where the states are: in the chip's memory, or streamed from the host's."""
    sizes = _optimiser_sizes(workload)
    here = optimiser_step_time(stepped, memory_rate=machine.memory_rate, **sizes)
    products: Number = 0.0
    if workload.optimiser_work:  # products of whole matrices, on the chip also where the states are not
        products = stepped * workload.optimiser_work / machine.wide_matrix_rate
        here = here + products
    if machine.host_rate is None or not np.any(table.offload_optimiser > 0):
        return here
    # Gradients go out and new weights come in over the host link, while the host steps as fast as its memory lets it.
    there = stepped * (sizes["gradient"] + sizes["weight"]) / machine.host_rate
    if machine.host_memory_rate is not None:
        there = np.maximum(there, optimiser_step_time(stepped, memory_rate=machine.host_memory_rate, **sizes))
    if workload.optimiser_work:
        there = there + products
    return np.where(table.offload_optimiser > 0, there, here)


def _stream(
    saved: OfBlocks,
    held: Held,
    stages: Stages,
    passes: tuple[Seconds, Seconds],
    workload: TrainingStep,
    machine: SustainedRates,
    table: MappingTable,
    micro_batches: Number,
) -> Seconds:
    """What streams add to a step: activations out and weights in, then both in and gradients out, pass by pass."""
    if machine.host_rate is None:
        return 0.0 * micro_batches
    # As the fullest of the stages between holds, and what the first runs ahead of its layers.
    ahead = stages.first.of_the_rest({**saved, **{block.name: 0.0 for block in stages.model.after}})
    between = reduce(np.maximum, [stage.of_layers(saved) for stage in stages.between])
    activations = (between + ahead) * table.offload_activations
    weights: Number = held.most * element_bytes(workload.weight_element)
    every = held.most_bytes(stages, element_bytes(workload.weight_element))
    if every is not None:
        weights = every
    moved = activations + weights * table.offload_weights
    gradients = held.most * element_bytes(workload.gradient_element) * table.offload_weights
    forward, backward = passes
    rate = machine.host_rate
    waited = streamed_time(moved, forward, rate=rate) + streamed_time(moved + gradients, backward, rate=rate)
    return micro_batches * waited


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
        COPIES: "memory",
        ADDED: "memory",
        HOST: "host link",
        DISPATCH: "host",
        LISTED: "host",
        SLOWED: "matrix units",
    }
