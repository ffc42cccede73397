"""How sure we are of a number: exactly, within an interval, or by a distribution.

A :class:`Figure` is a number with its spread, its evidence grade and its source. Inside the laws
numbers are plain floats; figures live in the catalogue and on the hardware values built from it, so
that an estimator can be run on samples of them (:class:`volvelle.UnderUncertainty`).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import IntEnum
from statistics import NormalDist
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError

AS_SET = "as set"
"""The source of a number that is not the catalogue's but of the question asked."""


class Evidence(IntEnum):
    """What a number rests on, strongest first."""

    MEASURED = 0
    VENDOR = 1
    DERIVED = 2
    ASSUMED = 3

    @property
    def word(self) -> str:
        """The grade as it is written in the catalogue."""
        return self.name.lower()


class AbstractSpread(ABC):
    """The ways a number may lie around its central value."""

    @abstractmethod
    def bounds(self, level: float) -> tuple[float, float]:
        """Ends of the central interval that holds the number with probability `level`."""

    @abstractmethod
    def at(self, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
        """The number at each of the given quantiles (0 … 1)."""

    @abstractmethod
    def times(self, factor: float) -> Self:
        """The spread of a number so many times as large, as wide by ratio."""

    def sample(self, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
        """Draw `count` values."""
        return self.at(generator.random(count))


@final
@dataclass(frozen=True, slots=True)
class Exact(AbstractSpread):
    """Known: the number is the number."""

    value: float

    def bounds(self, level: float) -> tuple[float, float]:
        """Both ends are the number."""
        return self.value, self.value

    def at(self, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
        """The number, whatever the quantile."""
        return np.full(quantiles.shape, self.value)

    def times(self, factor: float) -> Self:
        """Known as well."""
        return replace(self, value=factor * self.value)


@final
@dataclass(frozen=True, slots=True)
class Interval(AbstractSpread):
    """Somewhere between two ends, with no place in between more likely than another."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise DescriptionError(f"an interval from {self.low} to {self.high} runs backwards; swap its ends")

    def bounds(self, level: float) -> tuple[float, float]:
        """The central part of the interval."""
        margin = (1 - level) / 2 * (self.high - self.low)
        return self.low + margin, self.high - margin

    def at(self, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
        """Linear from one end to the other."""
        return self.low + quantiles * (self.high - self.low)

    def times(self, factor: float) -> Self:
        """Both ends."""
        return replace(self, low=factor * self.low, high=factor * self.high)


@final
@dataclass(frozen=True, slots=True)
class Normal(AbstractSpread):
    """Many small independent causes, adding."""

    mean: float
    deviation: float

    def bounds(self, level: float) -> tuple[float, float]:
        """Symmetric around the mean."""
        reach = _reach(level) * self.deviation if self.deviation else 0.0
        return self.mean - reach, self.mean + reach

    def at(self, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
        """By the inverse of the normal distribution."""
        return self.mean + self.deviation * _standard_normal(quantiles)

    def times(self, factor: float) -> Self:
        """Mean and deviation."""
        return replace(self, mean=factor * self.mean, deviation=factor * self.deviation)


@final
@dataclass(frozen=True, slots=True)
class LogNormal(AbstractSpread):
    """Many small independent causes, multiplying: never negative, fit for prices and rates."""

    median: float
    factor: float
    """One standard deviation up multiplies by this factor."""

    def __post_init__(self) -> None:
        if not self.factor >= 1:
            raise DescriptionError(f"a log-normal factor is at least 1, not {self.factor}: 1.3 means ×/÷ 1.3")

    def bounds(self, level: float) -> tuple[float, float]:
        """Symmetric around the median, by ratio."""
        reach = self.factor ** _reach(level)
        return self.median / reach, self.median * reach

    def at(self, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
        """By the inverse of the normal distribution, exponentiated."""
        return self.median * np.exp(math.log(self.factor) * _standard_normal(quantiles))

    def times(self, factor: float) -> Self:
        """The median; its factor stays."""
        return replace(self, median=factor * self.median)


def _reach(level: float) -> float:
    """Standard deviations from the centre that hold this share."""
    return math.inf if level >= 1 else NormalDist().inv_cdf((1 + level) / 2)


def _standard_normal(quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    inverse = NormalDist().inv_cdf
    edge = 1e-12
    return np.array([inverse(min(max(q, edge), 1 - edge)) for q in quantiles.ravel()]).reshape(quantiles.shape)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number that says how sure it is, what it rests on and who says so."""

    value: float
    evidence: Evidence
    source: str
    spread: AbstractSpread | None = field(default=None)
    """None: the source states no spread."""
    note: str = ""
    date: str = ""
    """Day, month or span that it holds for, such as 2024-08; empty: stated without one."""

    def __post_init__(self) -> None:
        low, high = self.bounds()
        if not low <= self.value <= high:
            raise DescriptionError(
                f"the value {self.value} lies outside its own spread {low} … {high} (source {self.source!r})"
            )

    def bounds(self, level: float = 1.0) -> tuple[float, float]:
        """Ends of the central interval; the value itself where no spread is stated."""
        if self.spread is None:
            return self.value, self.value
        return self.spread.bounds(level)

    def sample(self, generator: np.random.Generator, count: int) -> NDArray[np.float64]:
        """Draw values of the number; constant where no spread is stated."""
        spread = Exact(self.value) if self.spread is None else self.spread
        return spread.sample(generator, count)

    def set_to(self, value: float) -> "Figure":
        """The number as somebody sets it, in doubt by as much in proportion; exact where one of the two is zero."""
        spread = self.spread.times(value / self.value) if self.spread is not None and self.value and value else None
        return Figure(value=value, evidence=Evidence.ASSUMED, source=AS_SET, spread=spread)

    @staticmethod
    def weakest(*figures: "Figure") -> Evidence:
        """Grade of a result that needs all of these: that of its weakest part."""
        return max((figure.evidence for figure in figures), default=Evidence.DERIVED)
