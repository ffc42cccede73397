"""What the search in kernel-by-kernel execution answers."""

from dataclasses import dataclass
from math import inf

from volvelle.estimators.result import TrainingEstimate, Violation
from volvelle.search.certificate import PROVEN, gap_of

__all__ = ["KernelMapping", "KernelSearchCounts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSearchCounts:
    """How much was looked at."""

    layouts: int = 0
    """Degrees and choices, each with any split of operations."""
    full: int = 0
    """Of these, those whose memory overflows however operations are split."""
    shardings: int = 0
    """Ways to split operations whose closed form was computed, over all layouts they apply to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelMapping:
    """The best mapping found, its closed form, and how good it is known to be."""

    workload: str
    cluster: str
    chips: int
    estimate: TrainingEstimate | None
    """The closed form of the best mapping; None: nothing fits, or nothing was found in time."""
    bound: float
    """Seconds; no mapping of the space takes less."""
    seconds: float
    """The search took."""
    counts: KernelSearchCounts
    megatron: bool = False
    """Whether no split was found better than Megatron's."""
    violations: tuple[Violation, ...] = ()

    @property
    def time(self) -> float:
        """Seconds a step; infinite without a mapping."""
        return self.estimate.time if self.estimate is not None else inf

    @property
    def gap(self) -> float:
        """How much less than the answer the bound is, as a share."""
        return gap_of(self.time, self.bound)

    @property
    def proven(self) -> bool:
        """Whether it is the optimum, or that there is none."""
        return self.gap <= PROVEN

    @property
    def feasible(self) -> bool:
        """Whether there is a mapping that runs."""
        return self.estimate is not None
