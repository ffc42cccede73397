"""What the fullest rank of a pipeline holds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.kernels import total
from volvelle.estimators.training.replicas import Replicas
from volvelle.estimators.training.stages import Around, Stages
from volvelle.laws.footprint import activation_bytes, fragmented_bytes, gradient_bytes, optimiser_bytes, weight_bytes
from volvelle.laws.pipeline import micro_batches_in_flight
from volvelle.mapping.parallelism import MappingTable, Schedule
from volvelle.quantities import Bytes, Number
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import TrainingStep

__all__ = ["MEMORY_PARTS", "RANKS", "Parameters", "stage_memory"]

RANKS = ("first stage", "last stage", "second stage")

MEMORY_PARTS = (
    ("weights", weight_bytes.__name__),
    ("gradients", gradient_bytes.__name__),
    ("optimiser state", optimiser_bytes.__name__),
    ("activations", activation_bytes.__name__),
    ("framework and fragmentation", fragmented_bytes.__name__),
)


class Parameters:
    """Parameters of one kind held by the first, the last and the largest stage."""

    def __init__(self, stages: Stages, held: Around, tied: Number = 0.0) -> None:
        self.first = stages.first * held.each + held.ahead + np.where(stages.single, held.behind, 0.0)
        self.last = np.where(stages.single, self.first, stages.last * held.each + held.behind + tied)
        self.middle = stages.most * held.each
        self.most = np.maximum(np.maximum(self.first, self.last), self.middle)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """Weights of both kinds on one stage."""

    common: Number
    experts: Number


def stage_memory(
    stages: Stages,
    saved: Around,
    working: Bytes,
    common: tuple[Parameters, Replicas],
    experts: tuple[Parameters, Replicas] | None,
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

    def states(here: _Held, layers: Number) -> list[Number]:
        """Weights, gradients, optimiser state."""
        parts: list[Number] = [0.0, 0.0, 0.0]
        for count, kind in ((here.common, common), (here.experts, experts)):
            if kind is None:
                continue
            shares = {"data_parallel": kind[1].sharing, "zero": table.zero}
            copies = count * np.where(dual, 2.0, 1.0) if has_dual else count
            parts[0] = parts[0] + weight_bytes(copies, each=element_bytes(workload.weight_element), **shares)
            parts[1] = parts[1] + gradient_bytes(count, each=element_bytes(workload.gradient_element), **shares)
            parts[2] = parts[2] + optimiser_bytes(count, each=workload.optimiser_state, **shares)
        if streams_weights:  # two layers at a time are on the chip
            resident = np.where(table.offload_weights > 0, 2.0 / np.maximum(layers, 2.0), 1.0)
            parts[0], parts[1] = parts[0] * resident, parts[1] * resident
        if np.any(table.offload_optimiser > 0):
            parts[2] = parts[2] * (1.0 - table.offload_optimiser)
        return parts

    def held(here: _Held, layers: Number, stage: Number, extra: Number) -> list[Number]:
        fly = flying(stage)
        each, again = saved.each, working
        if has_gaps:
            each = each * (np.ceil(layers / table.recompute_every) / np.maximum(layers, 1.0))
            again = again * np.minimum(table.recompute_every, layers)
        if streams_activations:  # what two layers save is on the chip
            alive = np.maximum(layers * fly, 1.0)
            resident = np.where(table.offload_activations > 0, np.minimum(2.0, alive) / alive, 1.0)
            each, extra = each * resident, extra * resident
        activations = activation_bytes(each, layers=layers, in_flight=fly, working=again + extra * fly)
        gaps = fragmented_bytes(activations, share=workload.fragmentation, reserved=workload.reserved)
        return [*states(here, layers), activations, gaps]

    none = Parameters(stages, Around(each=0.0, ahead=0.0, behind=0.0))
    expert = none if experts is None else experts[0]
    candidates = [
        held(
            _Held(common=common[0].first, experts=expert.first),
            stages.first,
            0.0,
            saved.ahead + np.where(stages.single, saved.behind, 0.0),
        ),
        held(
            _Held(common=common[0].last, experts=expert.last),
            stages.last,
            table.pipeline - 1.0,
            saved.behind + np.where(stages.single, saved.ahead, 0.0),
        ),
    ]
    if np.any(stages.most > stages.first):
        # The second stage may hold one layer more than the first, for one micro-batch less.
        middle = _Held(common=common[0].middle, experts=expert.middle)
        second = held(middle, stages.most, np.minimum(1.0, table.pipeline - 1.0), 0.0)
        candidates.append([np.where(table.pipeline > 2, part, 0.0) for part in second])
    return _fullest(candidates, len(table))


def _fullest(candidates: list[list[Number]], rows: int) -> tuple[list[Number], NDArray[np.int64]]:
    """Parts of the candidate that holds most, row by row, and which one that is."""
    fullest = candidates[0]
    which: NDArray[np.int64] = np.zeros(rows, dtype=np.int64)
    for index, candidate in enumerate(candidates[1:], start=1):
        fuller = total(candidate) > total(fullest)
        fullest = [np.where(fuller, one, other) for one, other in zip(candidate, fullest, strict=True)]
        which = np.where(fuller, index, which)
    return fullest, which
