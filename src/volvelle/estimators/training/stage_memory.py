"""What the fullest rank of a pipeline holds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.kernels import total
from volvelle.estimators.result import FRAGMENTS
from volvelle.estimators.training.gathered_units import Gathered
from volvelle.estimators.training.replicas import Replicas
from volvelle.estimators.training.stages import OfBlocks, Stage, Stages
from volvelle.laws.footprint import (
    activation_bytes,
    fragmented_bytes,
    gradient_bytes,
    optimiser_bytes,
    secondary_weight_bytes,
    weight_bytes,
)
from volvelle.laws.pipeline import micro_batches_in_flight, zero_bubble_in_flight
from volvelle.mapping.parallelism import MappingTable, Schedule
from volvelle.quantities import Bytes, Fraction, Number, is_plainly
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import TrainingStep

RANKS = ("first stage", "last stage", "second stage", "middle stage")

MEMORY_PARTS = (
    ("weights", weight_bytes.__name__),
    ("gradients", gradient_bytes.__name__),
    ("optimiser state", optimiser_bytes.__name__),
    ("activations", activation_bytes.__name__),
    (FRAGMENTS, fragmented_bytes.__name__),
)
_FROZEN_PART = ("frozen weights", weight_bytes.__name__)


def memory_parts(*, tuned: bool) -> tuple[tuple[str, str], ...]:
    """Parts of memory and their laws; where some weights are frozen, those first."""
    return (_FROZEN_PART, *MEMORY_PARTS) if tuned else MEMORY_PARTS


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecipe:
    """Bytes that training holds for a parameter, and what is lost besides."""

    weight: Bytes
    gradient: Bytes
    optimiser: Bytes
    weight_shard: Bytes | None = None
    """Of weights where replicas share them out; None: as many as where they do not."""
    gradient_copy: Bytes = 0.0
    """Of gradients in the type of the weights, held beside those that are accumulated in a wider one."""
    reserved: Bytes = 0.0
    """Kept by drivers, kernels and communication libraries."""
    fragmentation: float = 0.0
    """Lost between tensors over what activations take, as a share."""

    @staticmethod
    def of(step: TrainingStep, *, gradient_copy: Bytes = 0.0, weight_shard: Bytes | None = None) -> "MemoryRecipe":
        """As a step has it; without gradients and optimiser if it is a forward pass alone.

        What software shares out of weights beside a wider copy, `weight_shard`, counts where there is such a copy.
        """
        weight, gradient = element_bytes(step.weight_element), element_bytes(step.gradient_element)
        return MemoryRecipe(
            weight=weight,
            weight_shard=weight_shard if step.backward and step.master > 0.0 else None,
            gradient=gradient if step.backward else 0.0,
            gradient_copy=gradient_copy if step.backward and gradient > weight else 0.0,
            optimiser=step.optimiser_state if step.backward else 0.0,
            reserved=step.reserved,
            fragmentation=step.fragmentation,
        )


def state_bytes(
    parameters: Number,
    recipe: MemoryRecipe,
    *,
    sharing: Number,
    zero: Number,
    copies: Number = 1.0,
    secondary: Number = 0.0,
) -> list[Number]:
    """Weights, gradients and optimiser state of so many parameters that `sharing` replicas hold.

    With ZeRO they share them out; weights are there in so many `copies`, and with ZeRO-3 once more among `secondary`.
    """
    shares = {"data_parallel": sharing, "zero": zero}
    held = parameters if is_plainly(copies, 1.0) else parameters * copies
    return [
        shared_weights(held, each=recipe.weight, shard=recipe.weight_shard, secondary=secondary, **shares),
        0.0
        if is_plainly(recipe.gradient, 0.0)
        else gradient_bytes(parameters, each=recipe.gradient, copied=recipe.gradient_copy, **shares),
        0.0 if is_plainly(recipe.optimiser, 0.0) else optimiser_bytes(parameters, each=recipe.optimiser, **shares),
    ]


def shared_weights(
    parameters: Number,
    *,
    each: Number,
    data_parallel: Number,
    zero: Number,
    secondary: Number,
    shard: Number | None = None,
) -> Number:
    """Bytes of weights on a chip, with its part of a second copy where near replicas keep one."""
    first = weight_bytes(parameters, each=each, data_parallel=data_parallel, zero=zero, shard=shard)
    if not np.any(secondary > 0):
        return first
    return first + secondary_weight_bytes(parameters, each=each, group=secondary, zero=zero)


def activation_parts(
    saved: Number, recipe: MemoryRecipe, *, layers: Number, in_flight: Number, working: Number
) -> list[Number]:
    """Activations of micro-batches in flight, with what the one at work needs besides; and what is lost around them."""
    activations = activation_bytes(saved, layers=layers, in_flight=in_flight, working=working)
    return [activations, fragmented_bytes(activations, share=recipe.fragmentation, reserved=recipe.reserved)]


class Held:
    """Trainable parameters of one kind: those that every replica holds, or experts, which replicas share out."""

    def __init__(
        self,
        stages: Stages,
        each: OfBlocks,
        replicas: Replicas,
        *,
        tied: OfBlocks | None = None,
        frozen: "Frozen | None" = None,
    ) -> None:
        self.each = each
        self.replicas = replicas
        self.read = each if tied is None else {name: count + tied[name] for name, count in each.items()}
        """With those of another block that it reads too."""
        self.tied: Number = 0.0 if tied is None else total(tied.values())
        """Weights of another stage that the last holds again."""
        self.most = stages.most(each, at_last=self.tied)
        self.frozen = frozen
        """Weights beside them that training leaves as they are; None: there are none."""

    def layers_share(self, stages: Stages) -> Fraction:
        """What layers have of the stage that holds most."""
        ends = {block.name for block in (*stages.model.before, *stages.model.after)}
        inner = {name: count * float(name not in ends) for name, count in self.each.items()}
        return stages.most(inner) / np.maximum(self.most, np.finfo(float).tiny)

    def on(self, stages: Stages, stage: Stage) -> Number:
        """How many one stage holds."""
        found = stage.total(self.each)
        return found + self.tied if stage is stages.last else found

    def most_bytes(self, stages: Stages, each: Bytes) -> Number | None:
        """Bytes of all weights on the stage that has most, so many a trainable parameter; None: nothing is frozen."""
        if self.frozen is None:
            return None
        both = {name: count * each + self.frozen.each[name] for name, count in self.each.items()}
        return stages.most(both, at_last=self.tied * each + self.frozen.tied)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """Bytes of weights that training leaves as they are."""

    each: OfBlocks
    tied: Number = 0.0
    """Of another stage's that the last holds again."""

    def on(self, stages: Stages, stage: Stage) -> Number:
        """How much one stage holds."""
        found = stage.total(self.each)
        return found + self.tied if stage is stages.last else found


def stage_memory(
    stages: Stages,
    saved: OfBlocks,
    of_working: OfBlocks,
    common: Held,
    experts: Held | None,
    workload: TrainingStep,
    table: MappingTable,
    micro_batches: Number,
    *,
    gradient_copy: Bytes = 0.0,
    weight_shard: Bytes | None = None,
) -> tuple[list[Number], NDArray[np.int64], Number]:
    """Bytes by part on the fullest stage, which of `RANKS` that is, and the most that a stage has in host memory."""
    recipe = MemoryRecipe.of(
        replace(workload, backward=stages.model.trains), gradient_copy=gradient_copy, weight_shard=weight_shard
    )
    # Rare choices are looked for once, so that tables without them do not pay for them.
    dual = table.schedule == Schedule.DUAL_PIPE
    has_dual, has_gpipe = bool(np.any(dual)), bool(np.any(table.schedule == Schedule.GPIPE))
    has_zero_bubble = bool(np.any(zero_bubble := table.schedule == Schedule.ZERO_BUBBLE))
    has_pieces = bool(np.any(table.interleave > 1))
    streams_activations = bool(np.any(table.offload_activations > 0))
    copies: Number = np.where(dual, 2.0, 1.0) if has_dual else 1.0
    kinds = (common, *([experts] if experts else []))
    has_gaps = bool(np.any(table.recompute_every > 1))
    whole = Gathered.where(stages, kinds, workload, table, gradient=recipe.gradient)

    def flying(stage: Number) -> Number:
        found = micro_batches_in_flight(
            table.pipeline, stage=stage, interleave=table.interleave, micro_batches=micro_batches
        )
        if has_gpipe:
            found = np.where(table.schedule == Schedule.GPIPE, micro_batches, found)
        if has_zero_bubble:
            found = np.where(zero_bubble, zero_bubble_in_flight(table.pipeline, micro_batches=micro_batches), found)
        if has_dual:
            found = np.where(dual, np.minimum(table.pipeline + 1.0, micro_batches), found)
        return found

    def on(stage: Stage) -> tuple[list[Number], Number]:
        kept, away = _states(stages, stage, kinds, recipe, table, copies)
        fly, layers = flying(stage.number), stage.depth
        extra = stage.of_the_rest(saved) * fly
        if stage is stages.last and has_pieces:
            # The piece with the head: a micro-batch goes back through it as soon as it has come.
            extra = np.where((table.interleave > 1) & ~stages.single, stage.of_the_rest(saved), extra)
        if stages.model.uniform:
            each, again = saved[stage.layers[0]], of_working[stage.layers[0]]
        else:  # of a layer in the mean, and of the one that needs most
            each = stage.of_layers(saved) / np.maximum(layers, 1.0)
            again = _working(stages, stage, saved, of_working)
        if has_dual and (stage is stages.first or stage is stages.last):
            ends = _both_ends(stages, saved, table)
            extra = np.where(dual & ~stages.single, ends - each * layers * fly, extra)
        if has_gaps:
            each = each * (np.ceil(layers / table.recompute_every) / np.maximum(layers, 1.0))
            again = again * np.minimum(table.recompute_every, layers)
        again, kept = _fullest_moment(again, kept, stage, of_working, whole)
        if streams_activations:  # what two layers save is on the chip
            alive = np.maximum(layers * fly, 1.0)
            resident = np.where(table.offload_activations > 0, np.minimum(2.0, alive) / alive, 1.0)
            away = away + (each * layers * fly + extra) * (1.0 - resident)
            each, extra = each * resident, extra * resident
        working = again + extra
        return [*kept, *activation_parts(each, recipe, layers=layers, in_flight=fly, working=working)], away

    candidates = [on(stages.first)]
    candidates.append(_where(~stages.single, *on(stages.last)))
    if stages.uneven:
        # A stage between may hold one layer more than the first, for fewer micro-batches.
        candidates += [_where(table.pipeline > 2, *on(stage)) for stage in stages.between]
    most_away = reduce(np.maximum, [away for _, away in candidates])
    return (*_fullest([parts for parts, _ in candidates], len(table)), most_away)


def _both_ends(stages: Stages, saved: OfBlocks, table: MappingTable) -> Bytes:
    """What a chip at either end of DualPipe has saved: of p micro-batches on the first stage, of one on the last."""
    return stages.first.total(saved) * table.pipeline + stages.last.total(saved)


def _working(stages: Stages, stage: Stage, saved: OfBlocks, of_working: OfBlocks) -> Number:
    """Bytes that the layer at work needs besides what is saved: of the one that needs most."""
    trains = {block.name: block.trains for block in stages.model.layers}
    if all(trains.values()) or not any(trains.values()):
        return reduce(np.maximum, [of_working[name] for name in stage.layers])
    # Layers that are frozen run before the others of their stage have saved anything of the same micro-batch.
    there = {name: np.where(stage.counts.get(name, 0.0) > 0.0, of_working[name], 0.0) for name in stage.layers}
    most = reduce(np.maximum, [size for name, size in there.items() if trains[name]])
    ahead = reduce(np.maximum, [size for name, size in there.items() if not trains[name]])
    return np.maximum(most, ahead - stage.of_layers(saved))


def _fullest_moment(
    again: Number, kept: list[Number], stage: Stage, of_working: OfBlocks, whole: Gathered | None
) -> tuple[Number, list[Number]]:
    """Activations at work and states when a stage holds most: in a layer, which has `again`, or in what is no layer."""
    if whole is None:
        return np.maximum(again, _working_ends(stage, of_working)), kept
    again, weights, gradients = whole.beside(again, stage, of_working)
    return again, [*kept[:-3], kept[-3] + weights, kept[-2] + gradients, kept[-1]]


def _working_ends(stage: Stage, of_working: OfBlocks) -> Number:
    """Bytes that what is no layer needs while it is at work, when all layers have saved theirs: a loss above all."""
    there = [(stage.counts[name], of_working[name]) for name in stage.counts if name not in stage.layers]
    sizes: list[Number] = [np.where(count > 0.0, size, 0.0) for count, size in there]
    return reduce(np.maximum, sizes) if sizes else 0.0


def _states(
    stages: Stages, stage: Stage, kinds: Sequence[Held], recipe: MemoryRecipe, table: MappingTable, copies: Number
) -> tuple[list[Number], Number]:
    """Frozen weights where there are some, weights, gradients, optimiser state; and what of it is in host memory."""
    parts: list[Number] = [0.0, 0.0, 0.0]
    frozen: list[Number] = []
    away: Number = 0.0
    for kind in kinds:
        sharing = kind.replicas.sharing
        near = kind.replicas.secondary
        held = state_bytes(
            kind.on(stages, stage), recipe, sharing=sharing, zero=table.zero, copies=copies, secondary=near
        )
        parts = [part + own for part, own in zip(parts, held, strict=True)]
        if kind.frozen is not None:
            whole = kind.frozen.on(stages, stage) * copies
            kept = shared_weights(whole, each=1.0, data_parallel=sharing, zero=table.zero, secondary=near)
            frozen = [total([*frozen, kept])]
    if np.any(table.offload_weights > 0):  # two layers at a time are on the chip
        resident = np.where(table.offload_weights > 0, 2.0 / np.maximum(stage.depth, 2.0), 1.0)
        away = away + total([parts[0] + parts[1], *frozen]) * (1.0 - resident)
        parts[0], parts[1] = parts[0] * resident, parts[1] * resident
        frozen = [kept * resident for kept in frozen]
    if np.any(table.offload_optimiser > 0):
        away = away + parts[2] * table.offload_optimiser
        parts[2] = parts[2] * (1.0 - table.offload_optimiser)
    return [*frozen, *parts], away


def _where(there: NDArray[np.bool_], parts: list[Number], away: Number) -> tuple[list[Number], Number]:
    """Bytes of a stage, nothing where there is none."""
    return [np.where(there, part, 0.0) for part in parts], np.where(there, away, 0.0)


def _fullest(candidates: list[list[Number]], rows: int) -> tuple[list[Number], NDArray[np.int64]]:
    """Parts of the candidate that holds most, row by row, and which one that is."""
    fullest = candidates[0]
    which: NDArray[np.int64] = np.zeros(rows, dtype=np.int64)
    for index, candidate in enumerate(candidates[1:], start=1):
        fuller = total(candidate) > total(fullest)
        fullest = [np.where(fuller, one, other) for one, other in zip(candidate, fullest, strict=True)]
        which = np.where(fuller, min(index, len(RANKS) - 1), which)
    return fullest, which
