"""Times between failures: exponential, Weibull, of nodes that differ, or as a trace recorded them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import OutsideDomainError

Column = NDArray[np.float64]
Indices = NDArray[np.intp]
Draw = Callable[[Indices], Column]
"""The next gap of some of the runs, by their places."""


class AbstractGaps(ABC):
    """Ways in which failures follow each other."""

    @abstractmethod
    def begin(self, generator: np.random.Generator, runs: int) -> Draw:
        """For so many runs at once."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialGaps(AbstractGaps):
    """Failures that know nothing of each other."""

    mean: float | Column
    """Seconds; a column has that of each run."""

    def begin(self, generator: np.random.Generator, runs: int) -> Draw:
        """The same mean at any time."""
        means = np.broadcast_to(np.asarray(self.mean, dtype=float), (runs,))
        return lambda places: generator.standard_exponential(len(places)) * means[places]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WeibullGaps(AbstractGaps):
    """Failures that come in bursts (a shape below one) or in turns (above)."""

    mean: float
    shape: float

    def begin(self, generator: np.random.Generator, runs: int) -> Draw:
        """Renewed at each failure."""
        scale = self.mean / math.gamma(1.0 + 1.0 / self.shape)
        return lambda places: scale * generator.weibull(self.shape, len(places))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MixedNodeGaps(AbstractGaps):
    """Nodes whose rates differ: each run has its own draw of all of them."""

    mean: float
    """Of a job on nodes that are drawn at random."""
    nodes: int
    shape: float
    """Of the gamma distribution of rates across nodes."""

    def begin(self, generator: np.random.Generator, runs: int) -> Draw:
        """The sum of rates of a run's nodes is gamma-distributed too."""
        whole = self.nodes * self.shape
        rates = generator.gamma(whole, 1.0 / whole, runs) / self.mean
        return lambda places: generator.standard_exponential(len(places)) / rates[places]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedGaps(AbstractGaps):
    """Gaps as they were recorded, each run from another place on, round and round."""

    gaps: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.gaps or sum(self.gaps) <= 0.0:
            raise OutsideDomainError("a trace without faults has no gaps to replay; give one with two or more")

    def begin(self, generator: np.random.Generator, runs: int) -> Draw:
        """From places by chance, and from some time into the gap there."""
        recorded = np.asarray(self.gaps)
        ends = np.cumsum(recorded)
        when = generator.random(runs) * ends[-1]
        cursor = np.searchsorted(ends, when, side="right")
        first: Column = ends[cursor] - when
        begun = np.zeros(runs, dtype=bool)

        def draw(places: Indices) -> Column:
            found = np.where(begun[places], recorded[cursor[places]], first[places])
            begun[places] = True
            cursor[places] = (cursor[places] + 1) % len(recorded)
            return np.asarray(found)

        return draw


def gaps_of(starts: Column, *, length: float) -> tuple[float, ...]:
    """Gaps between recorded starts, the last one to the first of the next round of a trace of some length."""
    ordered = np.sort(np.asarray(starts, dtype=float))
    around = np.append(np.diff(ordered), length - ordered[-1] + ordered[0])
    return tuple(float(gap) for gap in around)
