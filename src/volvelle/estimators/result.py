"""What an estimator answers: contributions, memory, violations. Totals are derived from the parts."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, hypot, inf, isfinite, isnan, log, nan
from typing import Generic, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from volvelle.laws.utilisation import model_flops_utilisation
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.quantities import (
    BYTES,
    BYTES_PER_SECOND,
    DOLLARS,
    FRACTION,
    JOULES,
    SECONDS,
    WATTS,
    Count,
    Flop,
    FlopPerSecond,
    numbered,
    percent,
    show,
    whole_text,
)
from volvelle.spread import model_reach
from volvelle.workload.training import TrainingStep

Work = TypeVar("Work")
Decision = TypeVar("Decision")
FRAGMENTS = "framework and fragmentation"
"""The part of memory that holds no tensor."""
_LARGEST = 16
"""Parts that are shown where a screen is all there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """Where a part of the time goes."""

    name: str
    part: str
    """The larger thing it belongs to, for grouping."""
    time: float
    exposed: bool
    """False: it runs behind something else and does not lengthen the step."""
    resource: str
    """What bounds it."""
    law: str
    """Name of the law that gives its time (see ``volvelle.laws``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPart:
    """What a part of the memory is for, on the fullest rank."""

    name: str
    bytes: float
    law: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Why a mapping cannot run, and what would cure it."""

    name: str
    problem: str
    cures: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Where a figure lies when the inputs vary within their spreads."""

    low: float
    high: float
    level: float
    """Share of the sampled inputs that end inside."""
    varied: tuple[str, ...]
    """Which inputs were varied."""

    def wider(self, value: float, deviation: float) -> "Range":
        """The range around a figure that is off by so much more: one standard deviation of its logarithm."""
        if not deviation:
            return self
        more = model_reach(self.level) * deviation
        low = exp(-hypot(log(value / self.low), more)) if self.low > 0.0 else 0.0
        return replace(self, low=value * low, high=value * exp(hypot(log(self.high / value), more)))

    def holding(self, value: float) -> "Range":
        """The range with the figure itself inside, also where all that is uncertain lies to one side of it."""
        return replace(self, low=min(self.low, value), high=max(self.high, value))


class AbstractFigure(ABC):
    """A number of an answer, with its unit and, where it is known, its range."""

    __slots__ = ()

    @property
    @abstractmethod
    def value(self) -> float:
        """The point estimate, in `unit`."""

    @property
    @abstractmethod
    def range(self) -> Range | None:
        """The range, in `unit`; None: unknown."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """An SI unit, or ``USD``, ``tokens/s`` and the like; ``ratio``: a share of 1; empty: not stated."""

    @property
    def low(self) -> float | None:
        """Lower end of the range; None: unknown."""
        return None if self.range is None else self.range.low

    @property
    def high(self) -> float | None:
        """Upper end of the range; None: unknown."""
        return None if self.range is None else self.range.high

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    def __str__(self) -> str:
        return _figure_text(self.value, self.range, self.unit)


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RangedFigure(AbstractFigure):
    """One figure of an answer: a number, its unit and its range.

    `float` gives the number, and printing it gives the number and the range with units.

    Parameters
    ----------
    value
        The point estimate, in `unit`.
    range
        Where four of five measurements are expected, in `unit`; None: unknown.
    unit
        An SI unit, or ``USD``, ``tokens/s`` and the like; ``ratio``: a share of 1; empty: not stated.

    Examples
    --------
    >>> from volvelle import Range, RangedFigure
    >>> time = RangedFigure(value=14.61, range=Range(low=12.42, high=17.18, level=0.8, varied=()), unit="s")
    >>> print(time)
    14.6 s (12.4–17.2 s, 80 %)
    >>> f"{time:.0f} s in all, {float(time) / 64:.2f} s each"
    '15 s in all, 0.23 s each'
    """

    value: float
    range: Range | None = None
    unit: str = ""

    def inverse(self, value: float, unit: str) -> "RangedFigure":
        """Return a figure of this `value` that is inversely proportional to this one, as a rate is to a time."""
        around = self.range
        if around is not None:
            product = value * self.value
            around = replace(around, low=product / around.high, high=product / around.low)
        return RangedFigure(value=value, range=around, unit=unit)

    def __repr__(self) -> str:
        return str(self)


_UNITS = {kind.base: kind for kind in (SECONDS, BYTES, BYTES_PER_SECOND, DOLLARS, JOULES, WATTS)} | {"ratio": FRACTION}


def _figure_text(value: float, around: Range | None, unit: str) -> str:
    """Return a figure with its range for people: ``14.6 s (12.4–17.2 s, 80 %)``."""
    shown = _with_unit(value, unit)
    if around is None:
        return shown
    low, high = _with_unit(around.low, unit), _with_unit(around.high, unit)
    number, _, low_unit = low.partition(" ")
    low = number if low_unit == high.partition(" ")[2] else low
    return f"{shown} ({low}–{high}, {percent(around.level, 0)})"


def _with_unit(value: float, unit: str) -> str:
    kind = _UNITS.get(unit)
    return f"{whole_text(value)} {unit}".rstrip() if kind is None else show(value, kind)


@dataclass(frozen=True, kw_only=True, repr=False)
class Estimate(Generic[Work, Decision]):
    """How one workload does under one decision: a parallel mapping, a grid of processes, a placement of tables.

    Totals are derived from the parts, so they cannot disagree with them.
    """

    workload: Work
    decision: Decision
    contributions: tuple[Contribution, ...]
    memory: tuple[MemoryPart, ...] = ()
    capacity: float = inf
    """Bytes that a chip has."""
    margin: float = 0.0
    """Share of them that is left free before something is said to fit; below zero: a run that needs more by prediction
    is known to have run."""
    fits: float | None = None
    """Probability that what the fullest rank holds fits the chip, nothing left free; None: that was not asked."""
    violations: tuple[Violation, ...] = ()
    work: float = nan
    """FLOP that whoever asks counts for the whole workload."""
    chips: int = 1
    peak: float = nan
    """Dense peak of one chip in the element type used."""
    power: float | None = None
    """Of the machine; None where the catalogue does not state it."""
    facts: Mapping[str, float] = field(default_factory=dict)
    """Side results worth showing: micro-batches, samples a second …"""
    ranges: Mapping[str, Range] = field(default_factory=dict)
    """Ranges of figures by the figure's name."""

    def __repr__(self) -> str:
        """The time with its range, memory, and the largest parts; a screen at most."""
        around, held = self.time_range, show(self.memory_bytes, BYTES)
        time = "no speed" if not self.could_exist else show(self.time, SECONDS)
        if around is not None and self.could_exist:
            time += f", {show(around.low, SECONDS)} … {show(around.high, SECONDS)} ({100 * around.level:.0f} % range)"
        memory = f"; {held} of {show(self.capacity, BYTES)}" if self.memory and isfinite(self.capacity) else ""
        stopped = "can run" if self.feasible else f"cannot run: {', '.join(one.name for one in self.violations)}"
        lines = [f"{type(self).__name__}: {time}{memory}; {stopped}"]
        for part, seconds in list(self.parts().items())[:_LARGEST] if self.could_exist else ():
            lines.append(f"  {part:40} {show(seconds, SECONDS):>9}  {100 * seconds / self.time:5.1f} %")
        return "\n".join(lines)

    @cached_property
    def time(self) -> float:
        """Seconds: the sum of what is exposed."""
        return sum(part.time for part in self.contributions if part.exposed)

    @cached_property
    def hidden(self) -> float:
        """Seconds of work that run behind other work."""
        return sum(part.time for part in self.contributions if not part.exposed)

    @cached_property
    def memory_bytes(self) -> float:
        """Bytes on the fullest rank."""
        return sum(part.bytes for part in self.memory)

    @property
    def left_free(self) -> float:
        """Share of memory that must stay free."""
        return max(self.margin, 0.0)

    @property
    def feasible(self) -> bool:
        """Whether it can run at all."""
        return not self.violations

    @property
    def could_exist(self) -> bool:
        """Whether nothing but memory forbids it: where counts do not divide there is no such run, nor a speed of it."""
        return all(violation.name == "memory" for violation in self.violations)

    @property
    def rate(self) -> float:
        """Counted FLOP a second, of the whole machine."""
        return self.work / self.time

    @property
    def utilisation(self) -> float:
        """The rate over the peak of all chips used."""
        return float(model_flops_utilisation(self.work, self.time, chips=self.chips, peak=self.peak))

    @property
    def rate_per_watt(self) -> float | None:
        """FLOP/s a watt."""
        return None if not self.power else self.rate / self.power

    @property
    def time_range(self) -> Range | None:
        """Where the time lies: its own range, or what that of the rate makes it; None: that was not asked."""
        rates = self.ranges.get("rate")
        if "time" in self.ranges or rates is None:
            return self.ranges.get("time")
        return replace(rates, low=self.work / rates.high, high=self.work / rates.low)

    @property
    def rate_range(self) -> Range | None:
        """Where the rate lies: its own range, or what that of the time makes it."""
        times = self.ranges.get("time")
        if "rate" in self.ranges or times is None:
            return self.ranges.get("rate")
        return replace(times, low=self.work / times.high, high=self.work / times.low)

    def figures(self) -> dict[str, RangedFigure]:
        """Every figure by name, those that are not known left out."""
        values = {
            "time": self.time,
            "memory": self.memory_bytes if self.memory else None,
            "rate": self.rate,
            "utilisation": self.utilisation,
            "power": self.power,
            "rate_per_watt": self.rate_per_watt,
            **self.facts,
        }
        rates = self.rate_range
        ranges = {**self.ranges, "time": self.time_range, "rate": rates}
        if rates is not None and self.power:
            ranges["rate_per_watt"] = self._per_watt(rates, self.power)
        return {
            name: RangedFigure(value=value, range=ranges.get(name))
            for name, value in values.items()
            if value is not None and not isnan(value)
        }

    def _per_watt(self, rates: Range, power: float) -> Range:
        """Return the range of the rate per watt; errors of rate and power are independent."""
        watts = self.ranges.get("power")
        below, above = (0.0, 0.0) if watts is None else (log(watts.high / power), log(power / watts.low))
        efficiency = self.rate / power
        low = exp(-hypot(log(self.rate / rates.low), below)) if rates.low > 0.0 else 0.0
        return replace(rates, low=efficiency * low, high=efficiency * exp(hypot(log(rates.high / self.rate), above)))

    def parts(self) -> dict[str, float]:
        """Exposed seconds by part, largest first."""
        seconds: dict[str, float] = {}
        for part in self.contributions:
            if part.exposed:
                seconds[part.part] = seconds.get(part.part, 0.0) + part.time
        return dict(sorted(seconds.items(), key=lambda item: -item[1]))


@dataclass(frozen=True, kw_only=True, repr=False)
class TrainingEstimate(Estimate[TrainingStep, ParallelMapping]):
    """How one parallel mapping of a training step does."""

    worst_rank: str
    """Which pipeline stage holds the most."""
    tokens: int

    @property
    def mapping(self) -> ParallelMapping:
        """The decision."""
        return self.decision

    @property
    def tensor_bytes(self) -> float:
        """Bytes on the fullest rank, beside what frameworks keep and what is lost between tensors."""
        return self.memory_bytes - sum(part.bytes for part in self.memory if part.name == FRAGMENTS)

    @property
    def tokens_per_second(self) -> float:
        """Tokens the whole machine trains on in a second."""
        return self.tokens / self.time


@dataclass(frozen=True, kw_only=True, repr=False)
class EstimateTable:
    """How many mappings do, as columns; row i is what `estimate` answers for mapping i."""

    mappings: MappingTable
    time: NDArray[np.float64]
    """Seconds a step."""
    memory_bytes: NDArray[np.float64]
    """Bytes on the fullest rank."""
    violations: Mapping[str, NDArray[np.bool_]]
    """Violation → which mappings it strikes."""
    work: Flop
    chips: Count
    peak: FlopPerSecond
    contributions: Mapping[tuple[str, bool], NDArray[np.float64]] | None = None
    """Seconds by contribution and whether it is exposed, if a breakdown was asked for."""
    memory: Mapping[str, NDArray[np.float64]] | None = None
    """Bytes by part, if a breakdown was asked for."""

    def __len__(self) -> int:
        return len(self.time)

    @property
    def tensor_bytes(self) -> NDArray[np.float64]:
        """Bytes on the fullest rank, beside what frameworks keep and what is lost between tensors."""
        assert self.memory is not None, "a breakdown was asked for"
        return self.memory_bytes - self.memory[FRAGMENTS]

    def __repr__(self) -> str:
        runs = np.flatnonzero(self.feasible)
        best = f", the fastest in {show(self.time[runs].min(), SECONDS)}" if len(runs) else ""
        return f"EstimateTable of {numbered(len(self), 'mapping')}: {len(runs):,} can run{best}"

    @cached_property
    def feasible(self) -> NDArray[np.bool_]:
        """Which mappings can run."""
        return self._spared()

    @cached_property
    def runs_but_for_memory(self) -> NDArray[np.bool_]:
        """Which mappings could run if memory were large enough."""
        return self._spared(but_for="memory")

    def _spared(self, *, but_for: str = "") -> NDArray[np.bool_]:
        """Which mappings no violation strikes, one of them aside."""
        bad = np.zeros(len(self), dtype=bool)
        for name, violated in self.violations.items():
            if name != but_for:
                bad |= violated
        return ~bad

    @property
    def utilisation(self) -> NDArray[np.float64]:
        """Model FLOPs utilisation."""
        return np.asarray(model_flops_utilisation(self.work, self.time, chips=self.chips, peak=self.peak))
