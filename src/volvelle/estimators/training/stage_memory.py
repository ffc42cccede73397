"""What the fullest rank of a pipeline holds."""

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.kernels import total
from volvelle.estimators.training.replicas import Replicas
from volvelle.estimators.training.stages import OfBlocks, Stage, Stages
from volvelle.laws.footprint import activation_bytes, fragmented_bytes, gradient_bytes, optimiser_bytes, weight_bytes
from volvelle.laws.pipeline import micro_batches_in_flight
from volvelle.mapping.parallelism import MappingTable, Schedule
from volvelle.quantities import Number
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import TrainingStep

__all__ = ["MEMORY_PARTS", "RANKS", "Held", "stage_memory"]

RANKS = ("first stage", "last stage", "second stage", "middle stage")

MEMORY_PARTS = (
    ("weights", weight_bytes.__name__),
    ("gradients", gradient_bytes.__name__),
    ("optimiser state", optimiser_bytes.__name__),
    ("activations", activation_bytes.__name__),
    ("framework and fragmentation", fragmented_bytes.__name__),
)


class Held:
    """Parameters of one kind: those that every replica holds, or experts, which replicas share out."""

    def __init__(self, stages: Stages, each: OfBlocks, replicas: Replicas, *, tied: Number = 0.0) -> None:
        self.each = each
        self.replicas = replicas
        self.tied = tied
        """Weights of another stage that the last holds again."""
        self.most = stages.most(each, at_last=tied)

    def on(self, stages: Stages, stage: Stage) -> Number:
        """How many one stage holds."""
        found = stage.total(self.each)
        return found + self.tied if stage is stages.last else found


def stage_memory(
    stages: Stages,
    saved: OfBlocks,
    working: OfBlocks,
    common: Held,
    experts: Held | None,
    workload: TrainingStep,
    table: MappingTable,
    micro_batches: Number,
) -> tuple[list[Number], NDArray[np.int64]]:
    """Bytes by part on the fullest stage, and which of `RANKS` that is."""
    # Rare choices are looked for once, so that tables without them do not pay for them.
    dual = table.schedule == Schedule.DUAL_PIPE
    has_dual, has_gpipe = bool(np.any(dual)), bool(np.any(table.schedule == Schedule.GPIPE))
    streams_weights = bool(np.any(table.offload_weights > 0))
    streams_activations = bool(np.any(table.offload_activations > 0))
    has_gaps = bool(np.any(table.recompute_every > 1))

    def flying(stage: Number) -> Number:
        found = micro_batches_in_flight(
            table.pipeline, stage=stage, interleave=table.interleave, micro_batches=micro_batches
        )
        if has_gpipe:
            found = np.where(table.schedule == Schedule.GPIPE, micro_batches, found)
        if has_dual:
            found = np.where(dual, np.minimum(table.pipeline + 1.0, micro_batches), found)
        return found

    def states(stage: Stage) -> list[Number]:
        """Weights, gradients, optimiser state."""
        parts: list[Number] = [0.0, 0.0, 0.0]
        for kind in (common, *([experts] if experts else [])):
            count = kind.on(stages, stage)
            shares = {"data_parallel": kind.replicas.sharing, "zero": table.zero}
            copies = count * np.where(dual, 2.0, 1.0) if has_dual else count
            parts[0] = parts[0] + weight_bytes(copies, each=element_bytes(workload.weight_element), **shares)
            if not stages.model.trains:
                continue
            parts[1] = parts[1] + gradient_bytes(count, each=element_bytes(workload.gradient_element), **shares)
            parts[2] = parts[2] + optimiser_bytes(count, each=workload.optimiser_state, **shares)
        if streams_weights:  # two layers at a time are on the chip
            resident = np.where(table.offload_weights > 0, 2.0 / np.maximum(stage.depth, 2.0), 1.0)
            parts[0], parts[1] = parts[0] * resident, parts[1] * resident
        if np.any(table.offload_optimiser > 0):
            parts[2] = parts[2] * (1.0 - table.offload_optimiser)
        return parts

    def held(stage: Stage) -> list[Number]:
        fly, layers, extra = flying(stage.number), stage.depth, stage.of_the_rest(saved)
        if stages.model.uniform:
            each, again = saved[stage.layers[0]], working[stage.layers[0]]
        else:  # of a layer in the mean, and of the one that needs most
            each = stage.of_layers(saved) / np.maximum(layers, 1.0)
            again = reduce(np.maximum, [working[name] for name in stage.layers])
        if has_gaps:
            each = each * (np.ceil(layers / table.recompute_every) / np.maximum(layers, 1.0))
            again = again * np.minimum(table.recompute_every, layers)
        if streams_activations:  # what two layers save is on the chip
            alive = np.maximum(layers * fly, 1.0)
            resident = np.where(table.offload_activations > 0, np.minimum(2.0, alive) / alive, 1.0)
            each, extra = each * resident, extra * resident
        activations = activation_bytes(each, layers=layers, in_flight=fly, working=again + extra * fly)
        gaps = fragmented_bytes(activations, share=workload.fragmentation, reserved=workload.reserved)
        return [*states(stage), activations, gaps]

    candidates = [held(stages.first)]
    candidates.append([np.where(stages.single, 0.0, part) for part in held(stages.last)])
    if stages.uneven:
        # A stage between may hold one layer more than the first, for fewer micro-batches.
        candidates += [[np.where(table.pipeline > 2, part, 0.0) for part in held(stage)] for stage in stages.between]
    return _fullest(candidates, len(table))


def _fullest(candidates: list[list[Number]], rows: int) -> tuple[list[Number], NDArray[np.int64]]:
    """Parts of the candidate that holds most, row by row, and which one that is."""
    fullest = candidates[0]
    which: NDArray[np.int64] = np.zeros(rows, dtype=np.int64)
    for index, candidate in enumerate(candidates[1:], start=1):
        fuller = total(candidate) > total(fullest)
        fullest = [np.where(fuller, one, other) for one, other in zip(candidate, fullest, strict=True)]
        which = np.where(fuller, min(index, len(RANKS) - 1), which)
    return fullest, which
