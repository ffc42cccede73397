"""Checks of a run's step time against its printed FLOP rate and against what the chip's kernels sustain."""

from dataclasses import replace

import numpy as np

from volvelle.errors import DescriptionError, VolvelleError
from volvelle.estimators.calibration import fitted_constants
from volvelle.mapping.axis_shardings import EXPERT_DIM
from volvelle.mapping.lowered_model import step_flops
from volvelle.quantities import SECONDS, show
from volvelle.search.least_time import attention_flops, kernel_seconds
from volvelle.system.cluster import Cluster
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import TrainingStep

_TERA = 1e12
_TOLERANCE = 1.1
"""Factor by which tools count differently in addition to recomputation and attention."""
_RECOMPUTED = 4.0 / 3.0
"""Printed rate over ours, where a tool counts the forward pass that is recomputed."""
_PER_PARAMETER = 6.0
"""FLOP per parameter and token of tools that count embeddings as products."""


def check_step_time(
    place: str, step: TrainingStep, cluster: Cluster, *, seconds: float, printed: float | None = None
) -> None:
    """Reject a run whose step time contradicts its printed FLOP rate, or is too short for the chip's kernels.

    `place` names the run in the message, `seconds` is the time of a step, `printed` the FLOP per second and chip that
    the log prints. Where the products of a chip's family were not measured, the limit is the chip's peak.
    """
    if step.model.unpriced:
        return
    rate = step_flops(step) / (seconds * cluster.accelerators)
    problems = [*_contradiction(step, cluster, seconds, rate, printed), *_too_fast(step, cluster, seconds, rate)]
    if problems:
        raise DescriptionError(f"{place}: {' '.join(problems)}")


def _contradiction(
    step: TrainingStep, cluster: Cluster, seconds: float, rate: float, printed: float | None
) -> list[str]:
    if printed is None:
        return []
    work, attention = step_flops(step), attention_flops(step)
    most = work
    if EXPERT_DIM not in step.model.sizes:
        most = max(work, _PER_PARAMETER * step.model.parameters() * step.tokens + attention)
    low = rate * (work - attention) / work / _TOLERANCE
    high = rate * most / work * _RECOMPUTED * _TOLERANCE
    if low <= printed <= high:
        return []
    length = int(step.model.sizes.get("position", 1))
    return [
        f"the log prints {_tera(printed)} TFLOP/s per GPU, but {show(seconds, SECONDS)} per step of {step.batch:,} × "
        f"{length:,} tokens on {cluster.accelerators:,} GPUs make {_tera(rate)} TFLOP/s. Other ways to count FLOP "
        f"explain {_tera(low)} to {_tera(high)} only. Check --model, --batch, --seq and --on."
    ]


def _too_fast(step: TrainingStep, cluster: Cluster, seconds: float, rate: float) -> list[str]:
    chip = cluster.chip
    peak = float(np.max(chip.matrix_rate(step.element)))
    limit = _limit(step, cluster)
    if rate <= limit:
        return []
    causes = ["a wrong --model, --batch, --seq or --on"]
    narrower = next((name for name in chip.matrix_rates if _explains(step, cluster, name, rate)), None)
    if narrower is not None:
        causes = [f"a run in {narrower} (give --element {narrower})", *causes]
    return [
        f"{show(seconds, SECONDS)} per step are {_tera(rate)} TFLOP/s per GPU, {100 * rate / peak:.0f} % of the "
        f"{step.element} peak of {chip.name}. Its kernels sustain at most {100 * limit / peak:.0f} % in this step. "
        f"Likely cause: {', or '.join(causes)}."
    ]


def _limit(step: TrainingStep, cluster: Cluster) -> float:
    """Return the FLOP per second and chip that kernels sustain in a step, or the peak where none were measured."""
    peak = float(np.max(cluster.chip.matrix_rate(step.element)))
    if fitted_constants(cluster, step.element).step_error is None:
        work = step_flops(step)
        return peak * work / (work - 0.5 * attention_flops(step))  # a causal mask hides half of attention
    return step_flops(step) / kernel_seconds(step, cluster)


def _explains(step: TrainingStep, cluster: Cluster, element: str, rate: float) -> bool:
    """Whether a narrower element type sustains the rate."""
    try:
        if element_bytes(element) >= element_bytes(step.element):
            return False
        return rate <= _limit(replace(step, element=element), cluster)
    except VolvelleError:
        return False


def _tera(rate: float) -> str:
    return f"{rate / _TERA:,.0f}"
