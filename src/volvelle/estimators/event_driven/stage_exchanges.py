"""What replicas and the host exchange with a stage, as seconds of each of its blocks."""

from collections.abc import Mapping
from dataclasses import dataclass

from volvelle.estimators.event_driven.block_steps import one
from volvelle.estimators.training.stage_memory import Held
from volvelle.estimators.training.step_time import StepBasis, optimiser_time
from volvelle.laws.overlap import hidden_time, overlap_slowdown_time
from volvelle.mapping.parallelism import MappingTable
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import TrainingStep


@dataclass(frozen=True, slots=True, kw_only=True)
class StageExchanges:
    """Of one stage, collectives of all its weights cut in proportion to the parameters of each block."""

    at_end: Mapping[str, float]
    """Block → seconds after its last backward of the step."""
    every: Mapping[str, float]
    """Block → seconds after each backward (ZeRO-2 and 3)."""
    gathered: Mapping[str, float]
    """Block → seconds before each forward and backward (ZeRO-3)."""
    after_optimiser: float
    """Seconds in which new weights are gathered."""
    optimiser: float
    slowed: float
    """Seconds that computation loses to gradients that are reduced beside it."""


def stage_exchanges(
    counts: Mapping[str, float],
    basis: StepBasis,
    workload: TrainingStep,
    table: MappingTable,
    *,
    is_last: bool,
    stretch: float = 1.0,
) -> StageExchanges:
    """Of a stage that holds so many of each block; collectives take `stretch` times as long as the closed form says."""
    zero = int(table.zero[0])
    at_end, every, gathered = (dict.fromkeys(counts, 0.0) for _ in range(3))
    after, stepped = 0.0, 0.0
    for kind in basis.kinds:
        shares, parameters = _shares(counts, kind, is_last=is_last)
        if parameters == 0.0 and kind.frozen is None:
            continue
        times = kind.replicas.times(
            parameters, workload, zero, gathered_bytes=_all_bytes(counts, kind, workload, is_last=is_last)
        )
        stepped += parameters / (one(kind.replicas.sharing) if zero >= 1 else 1.0)
        summed, scattered, collected = (
            stretch * one(seconds) for seconds in (times.summed, times.scattered, times.gathered)
        )
        for name, share in shares.items():
            at_end[name] += share * (summed + (scattered if zero < 2 else 0.0))
            every[name] += share * (scattered if zero >= 2 else 0.0)
            gathered[name] += share * (collected if zero == 3 else 0.0)
        after += collected if zero < 3 else 0.0
    # What hides of it is known to the closed form: behind the backward of one micro-batch, or of all.
    turns = one(basis.micro_batches)
    exchanged = sum(
        count * (at_end[name] + turns * (every[name] + 2.0 * gathered[name])) for name, count in counts.items()
    )
    window = sum(
        count * (one(basis.blocks.times[name].backward_work) - one(basis.blocks.times[name].repeated_hidden))
        for name, count in counts.items()
    )
    window *= turns if zero >= 2 else 1.0
    hidden = hidden_time(exchanged, window, overlap=float(table.overlap[0]))
    return StageExchanges(
        at_end=at_end,
        every=every,
        gathered=gathered,
        after_optimiser=after,
        optimiser=one(optimiser_time(stepped, workload, basis.machine, table)) if basis.kinds else 0.0,
        slowed=float(overlap_slowdown_time(one(hidden), share=one(basis.machine.communication_sm_share))),
    )


def _shares(counts: Mapping[str, float], kind: Held, *, is_last: bool) -> tuple[dict[str, float], float]:
    """Block → its share of a stage's parameters of one kind, one repetition of it; and how many those are."""
    own = {name: one(kind.each.get(name, 0.0)) for name in counts}
    tied = one(kind.tied) if is_last else 0.0
    total = sum(counts[name] * each for name, each in own.items()) + tied
    if tied:  # of the last block that it runs
        last = next(reversed(own))
        own[last] += tied / counts[last]
    return {name: each / total if total else 0.0 for name, each in own.items()}, total


def _all_bytes(counts: Mapping[str, float], kind: Held, workload: TrainingStep, *, is_last: bool) -> float | None:
    """Bytes of a stage's weights, those that are frozen among them; None: none are."""
    if kind.frozen is None:
        return None
    each = element_bytes(workload.weight_element)
    found = sum(
        count * (one(kind.each.get(name, 0.0)) * each + one(kind.frozen.each.get(name, 0.0)))
        for name, count in counts.items()
    )
    return found + (one(kind.tied) * each + one(kind.frozen.tied) if is_last else 0.0)
