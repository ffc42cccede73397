"""What of a step itself is in doubt: memory kept by a framework or lost between tensors, and the busiest expert."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from volvelle.estimators.calibration import FittedConstants
from volvelle.estimators.sampler import Column, Sampler
from volvelle.laws.model_error import chance_to_fit, chance_to_fit_too
from volvelle.quantities import Fraction, Number
from volvelle.spread import Figure
from volvelle.workload.training import BUSIEST_EXPERT, FRAGMENTATION, RESERVED, TrainingStep

KEPT, LOST, BUSIEST = "memory a framework keeps", "memory between tensors", "load of the busiest expert"
_TRIED = 1.2
"""How much busier the busiest expert is made to see what that costs."""


def _varied(name: str, figure: Figure, own: float, sampler: Sampler) -> Column | float:
    """A number of the step, around its own value as wide by ratio as the usual one; exact where it is zero."""
    asked = figure if own == figure.value else figure.set_to(own)
    return own if asked.spread is None else asked.spread.at(sampler.column(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryColumns:
    """Bytes of the fullest rank: those that the model may be off by, and what a framework keeps beside them."""

    whole: float
    """All of them, nothing varied."""
    moved: Column
    kept: Column | float = 0.0
    varied: tuple[str, ...] = ()
    """Which numbers of the step are in doubt."""

    def with_error(self, error: Column) -> Column:
        """All of them, the model off by such factors."""
        return np.asarray(self.moved * error + self.kept)


def memory_columns(
    whole: float, tensors: float, step: TrainingStep, sampler: Sampler, *, ratio: Fraction = 1.0
) -> MemoryColumns:
    """Bytes of the fullest rank as what is kept and lost beside tensors varies; own runs say by what `ratio` more."""
    beside, more = whole - tensors, (ratio - 1.0) * whole
    if not beside:
        return MemoryColumns(whole=whole, moved=np.full(sampler.samples, tensors + more))
    kept = _varied(KEPT, RESERVED, float(step.reserved), sampler)
    lost = _varied(LOST, FRAGMENTATION, step.fragmentation, sampler)
    activations = (beside - float(step.reserved)) / step.fragmentation if step.fragmentation else 0.0
    varied = tuple(name for name, drawn in ((KEPT, kept), (LOST, lost)) if isinstance(drawn, np.ndarray))
    moved = np.broadcast_to(tensors + lost * activations + more, sampler.samples)
    return MemoryColumns(whole=whole, moved=moved, kept=kept, varied=varied)


def chance_of_room(capacity: Number, memory: MemoryColumns, fitted: FittedConstants) -> float:
    """How likely memory suffices: computed as far as the model's error goes, a mean over samples of all else."""
    return float(np.mean(chances_of_room(capacity, memory, fitted)))


def chances_of_room(capacity: Number, memory: MemoryColumns, fitted: FittedConstants) -> Column:
    """The same on every sample; own runs that ran say more of it."""
    factors = {"error": fitted.memory_error or 1.0, "spike": fitted.memory_spike or 1.0}
    if not fitted.ran:
        return chance_to_fit(capacity, memory.moved, kept=memory.kept, **factors)
    if ran_itself(capacity, memory, fitted):
        return np.ones_like(memory.moved)
    fullest = max(one.share for one in fitted.ran)
    ran = np.maximum(fitted.memory_ratio * fullest * capacity - memory.kept, 0.0)
    return chance_to_fit_too(
        capacity, memory.moved, ran=ran, kept=memory.kept, alike=float(fitted.memory_alike), **factors
    )


def ran_itself(capacity: Number, memory: MemoryColumns, fitted: FittedConstants) -> bool:
    """Whether a layout is that of an own run, on as much memory."""
    return any(one.same(memory.whole, float(np.median(capacity))) for one in fitted.ran)


def load_column(
    time: Callable[[TrainingStep], float], step: TrainingStep, sampler: Sampler, *, central: float
) -> tuple[Column, tuple[str, ...]]:
    """By how much a step is longer or shorter as its busiest expert has more tokens, in proportion to two points.

    `central` is its time as asked, `time` that of another step.
    """
    if "slots" not in step.model.sizes:
        return np.ones(sampler.samples), ()
    own = step.expert_load
    loads = np.asarray(_varied(BUSIEST, BUSIEST_EXPERT, own, sampler))
    slope = (time(replace(step, expert_load=_TRIED * own)) / central - 1.0) / ((_TRIED - 1.0) * own)
    return np.asarray(1.0 + slope * (loads - own)), (BUSIEST,)
