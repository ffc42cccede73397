"""How sure we are of a number: exactly, within an interval, or by a distribution.

A :class:`Figure` is a number with its spread, its evidence grade and its source. Inside the laws
numbers are plain floats; figures live in the catalogue and on the hardware values built from it, so
that an estimator can be run on samples of them (:class:`volvelle.UnderUncertainty`).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import lru_cache
from statistics import NormalDist
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import check_fields
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

    def __post_init__(self) -> None:
        check_fields(self, "exact")

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
        check_fields(self, "interval")
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

    def __post_init__(self) -> None:
        check_fields(self, "normal")
        if self.deviation < 0:
            raise DescriptionError(f"a deviation is zero or more, not {self.deviation}")

    def bounds(self, level: float) -> tuple[float, float]:
        """Symmetric around the mean."""
        reach = _reach(level) * self.deviation if self.deviation else 0.0
        return self.mean - reach, self.mean + reach

    def at(self, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
        """By the inverse of the normal distribution."""
        return self.mean + self.deviation * standard_normal(quantiles)

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
        check_fields(self, "log-normal")
        if not self.factor >= 1:
            raise DescriptionError(f"a log-normal factor is at least 1, not {self.factor}: 1.3 means ×/÷ 1.3")

    def bounds(self, level: float) -> tuple[float, float]:
        """Symmetric around the median, by ratio."""
        reach = self.factor ** _reach(level)
        return self.median / reach, self.median * reach

    def at(self, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
        """By the inverse of the normal distribution, exponentiated."""
        return log_normal(self.median, math.log(self.factor), quantiles)

    def times(self, factor: float) -> Self:
        """The median; its factor stays."""
        return replace(self, median=factor * self.median)


@final
@dataclass(frozen=True, slots=True)
class LogStudent(AbstractSpread):
    """How far a model is off, as a factor: as wide as a log-normal for four cases in five, with longer tails.

    Student's distribution of four degrees of freedom, whose quantiles have a closed form (Shaw 2006). Left-out rows of
    training and HPL have such tails: a normal one that holds four fifths of them holds 59 % at 50 % and 90 to 94 % at
    95 %, this one 55 and 93 to 96 %.
    """

    median: float
    factor: float
    """One standard deviation up of the log-normal of which four fifths are as wide."""
    tilt: float = 0.0
    """By so much, as a logarithm, the upper side is longer and the lower one shorter; half of all stay on either."""

    def __post_init__(self) -> None:
        check_fields(self, "model error")
        if not self.factor >= 1:
            raise DescriptionError(f"a factor is at least 1, not {self.factor}: 1.3 means ×/÷ 1.3")

    def bounds(self, level: float) -> tuple[float, float]:
        """Symmetric around the median, by ratio, but for the tilt."""
        reach = math.inf if level >= 1 and self.factor > 1 else math.log(self.factor) * model_reach(level)
        low, high = tilted(np.array([-reach, reach]), self.tilt)
        return self.median * math.exp(low), self.median * math.exp(high)

    def at(self, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
        """By the inverse of Student's distribution, exponentiated."""
        return np.asarray(self.median * np.exp(math.log(self.factor) * tilted(_model_error(quantiles), self.tilt)))

    def times(self, factor: float) -> Self:
        """The median; its factor stays."""
        return replace(self, median=factor * self.median)


def tilted(deviations: NDArray[np.float64], tilt: float) -> NDArray[np.float64]:
    """Deviations that reach further above by the exponential of a tilt, and less far below by as much."""
    return np.asarray(deviations * np.exp(tilt * np.sign(deviations)))


def log_normal(
    median: NDArray[np.float64] | float, deviation: NDArray[np.float64] | float, quantiles: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Log-normal numbers at quantiles, by their median and the deviation of the logarithm; all broadcast."""
    return np.asarray(median * np.exp(deviation * standard_normal(quantiles)))


def model_reach(level: float, *, freedom: float = 4.0) -> float:
    """Deviations of a model's error that hold this share; as many as of a normal one for four fifths.

    Errors of fewer degrees of `freedom` have longer tails.
    """
    return 0.0 if level <= 0 else float(_model_error((1 + min(level, 1.0)) / 2, freedom))


def _model_error(quantiles: NDArray[np.float64] | float, freedom: float = 4.0) -> NDArray[np.float64]:
    """Student's distribution, of four degrees of freedom, as wide as the normal one at a tenth and nine tenths."""
    return np.asarray(student(quantiles, freedom) * _as_wide(freedom))


def _as_wide(freedom: float = 4.0) -> float:
    return NormalDist().inv_cdf(0.9) / float(student(0.9, freedom))


def model_share(deviations: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of a model's errors below so many deviations: what :func:`model_reach` is the inverse of.

    With s = t / √(4 + t²), Student's density of four degrees of freedom is 3/4 (1 − s²), its share 1/2 + (3s − s³)/4.
    """
    sine = deviations / np.sqrt(4.0 * _as_wide() ** 2 + deviations * deviations)
    return np.asarray(0.5 + 0.25 * sine * (3.0 - sine * sine))


def model_nodes(count: int, *, upper: bool = False) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Deviations of a model's error and their weights, by which a mean over it is a sum (Gauss, over s).

    With `upper` of the size of the error: those above zero, which weigh twice.
    """
    sine, weights = np.polynomial.legendre.leggauss(count)
    if upper:
        sine = (sine + 1.0) / 2.0
    return 2.0 * sine / np.sqrt(1.0 - sine * sine) * _as_wide(), 0.75 * (1.0 - sine * sine) * weights


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


def student(quantiles: NDArray[np.float64] | float, freedom: float) -> NDArray[np.float64]:
    """Student's distribution at each quantile; of four degrees of freedom by Shaw (2006), of others by halving.

    Halving is on the share that the tangent form of the density holds (Student 1908); one degree of freedom or more.
    """
    edge = 1e-9
    shares = np.clip(np.asarray(quantiles, dtype=float), edge, 1 - edge)
    if freedom == 4.0:
        root = np.sqrt(4.0 * shares * (1.0 - shares))
        reach = 2.0 * np.sqrt(np.maximum(np.cos(np.arccos(np.minimum(root, 1.0)) / 3.0) / root - 1.0, 0.0))
        return np.asarray(np.sign(shares - 0.5) * reach)
    return np.asarray(_halved(float(shares), freedom)) if shares.ndim == 0 else _by_halving(shares, freedom)


@lru_cache(maxsize=1024)
def _halved(share: float, freedom: float) -> float:
    """At one quantile: the same few are asked for again and again."""
    return float(_by_halving(np.asarray(share), freedom))


def _by_halving(shares: NDArray[np.float64], freedom: float) -> NDArray[np.float64]:
    constant = 2.0 * math.exp(math.lgamma((freedom + 1.0) / 2.0) - math.lgamma(freedom / 2.0)) / math.sqrt(math.pi)

    def held(reach: NDArray[np.float64]) -> NDArray[np.float64]:
        half = np.arctan(reach / math.sqrt(freedom))[..., None] / 2.0
        return np.asarray(constant * half[..., 0] * (np.cos(half * (_NODES + 1.0)) ** (freedom - 1.0) @ _WEIGHTS))

    wanted = np.abs(2.0 * shares - 1.0)
    low, high = np.zeros_like(wanted), np.ones_like(wanted)
    while np.any(short := held(high) < wanted):
        high = np.where(short, 2.0 * high, high)
    for _ in range(60):
        middle = (low + high) / 2.0
        short = held(middle) < wanted
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.asarray(np.sign(shares - 0.5) * (low + high) / 2.0)


def _reach(level: float) -> float:
    """Standard deviations from the centre that hold this share."""
    return math.inf if level >= 1 else NormalDist().inv_cdf((1 + level) / 2)


_CENTRE = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
)  # fmt: skip
_TAIL = (
    (7.7454501427834140764e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
     3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0),
)  # fmt: skip
_FAR_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0),
)  # fmt: skip
"""Numerators and denominators of Wichura's algorithm AS 241 (1988), highest power first."""


def standard_normal(quantiles: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """The standard normal distribution at each quantile, by Wichura (1988, AS 241); seven deviations at most."""
    edge = 1e-12
    shares = np.asarray(np.clip(quantiles, edge, 1 - edge), dtype=float)
    off = np.asarray(shares - 0.5)
    near = 0.180625 - off * off
    found = np.array(off * (np.polyval(_CENTRE[0], near) / np.polyval(_CENTRE[1], near)))
    outer = np.asarray(np.abs(off) > 0.425)
    if outer.any():
        reach = np.sqrt(-np.log(np.minimum(shares[outer], 1.0 - shares[outer])))
        tail = np.polyval(_TAIL[0], reach - 1.6) / np.polyval(_TAIL[1], reach - 1.6)
        far = np.polyval(_FAR_TAIL[0], reach - 5.0) / np.polyval(_FAR_TAIL[1], reach - 5.0)
        found[outer] = np.sign(off[outer]) * np.where(reach <= 5.0, tail, far)
    return np.asarray(found)


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
        check_fields(self, f"figure of {self.source!r}")
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
