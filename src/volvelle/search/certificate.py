"""How far an answer may be from the optimum, and when that counts as proven."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf

PROVEN = 1e-6
"""Gap below which an answer counts as proven: what solvers round to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate(ABC):
    """The best answer found, and how good it is known to be."""

    bound: float
    """Seconds; none takes less."""

    @property
    @abstractmethod
    def time(self) -> float:
        """Seconds of the answer; infinite without one."""

    @property
    def gap(self) -> float:
        """How much less than the answer the bound is, as a share; none where the bound says that there is no answer."""
        if self.bound == inf or self.time == 0:
            return 0.0
        return 1.0 if self.time == inf else max(0.0, 1.0 - self.bound / self.time)

    @property
    def proven(self) -> bool:
        """Whether it is the optimum, or that there is none."""
        return self.gap <= PROVEN

    @property
    def feasible(self) -> bool:
        """Whether there is something to run."""
        return self.time < inf


@dataclass(slots=True, kw_only=True)
class SearchCounts:
    """How much was looked at, counted as it is."""

    degrees: int = 0
    """Ways to give chips to axes, placements on the network told apart."""
    pruned: int = 0
    """Those that bounds ruled out before any fusion was solved."""
    full: int = 0
    """Those ruled out by the capacity of DRAM."""
    shardings: int = 0
    """Shardings timed, distinct in cost."""
    dominated: int = 0
    """Of these, those no better in anything than one that was solved."""
    fusions: int = 0
    """Fusions solved, or shown unable to do better."""
