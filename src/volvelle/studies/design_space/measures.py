"""What may be asked of a point: time, money, watts and what follows from them, each a column."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from volvelle.economics.cost_breakdown import CostBreakdown
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.laws.ownership import training_time
from volvelle.laws.utilisation import model_flops_utilisation
from volvelle.quantities import BYTES, DOLLARS, FRACTION, JOULES, SECONDS, WATTS, Flop, FlopPerSecond, Number, Quantity

__all__ = ["MEASURES", "Measure", "Objective", "Outcome", "Worked", "objective_of"]

_DAY = 86_400.0
_MILLION = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """What one workload does at the points of a slice."""

    name: str
    time: NDArray[np.float64]
    """Seconds a step."""
    memory: NDArray[np.float64]
    """Bytes on the fullest rank."""
    violated: NDArray[np.int8]
    """What forbids it, a number of the study's reasons; 0: nothing."""
    work: Flop
    peak: FlopPerSecond
    tokens: float
    samples: float
    weight: float
    run_tokens: float | None
    chosen: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """The layout that was found best, column by column; empty where it was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All workloads of a slice, and the machine's bill."""

    worked: Sequence[Worked]
    chips: float
    cost_breakdown: Callable[[], CostBreakdown]
    """Made only if a measure of money or watts is asked for."""

    def round(self, of: Callable[[Worked], Number]) -> Number:
        """A quantity over one round of the mix: every workload as often as it weighs."""
        first, *others = self.worked
        total = first.weight * of(first)
        for worked in others:
            total = total + worked.weight * of(worked)
        return total

    @property
    def time(self) -> Number:
        """Seconds a round."""
        return self.round(lambda worked: worked.time)

    @property
    def samples(self) -> Number:
        """Sequences or samples a round."""
        return self.round(lambda worked: worked.samples)

    @property
    def rate(self) -> Number:
        """FLOP/s done, recomputation not counted."""
        return self.round(lambda worked: worked.work) / self.time

    @property
    def tokens(self) -> Number:
        """Tokens a round."""
        found = self.round(lambda worked: worked.tokens)
        if not np.all(found):
            raise DescriptionError(
                "tokens are asked for, but no workload of the study trains on any; judge by time, samples_per_s or usd"
            )
        return found

    @property
    def seconds(self) -> Number:
        """Seconds until every workload has had its tokens, one after another."""
        first, *others = (_whole_run(worked) for worked in self.worked)
        total = first
        for other in others:
            total = total + other
        return total


def _whole_run(worked: Worked) -> Number:
    if worked.run_tokens is None:
        raise DescriptionError(
            f"how long training takes was asked for, but workload {worked.name!r} has no tokens: to train on; add "
            "tokens: 15e12 or the like"
        )
    return training_time(worked.run_tokens, per_step=worked.tokens, step=worked.time)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Something to judge a point by."""

    name: str
    says: str
    kind: Quantity | None
    less_is_better: bool
    of: Callable[[Outcome], Number]
    """The column, from what was found."""


def _mfu(found: Outcome) -> Number:
    # Workloads may have different peaks, so the work is counted in seconds of one chip at its peak.
    busy = found.round(lambda worked: worked.work / worked.peak)
    return model_flops_utilisation(busy, found.time, chips=found.chips, peak=1.0)


_ALL = (
    Measure(
        name="time",
        says="of a step (of one round of the mix)",
        kind=SECONDS,
        less_is_better=True,
        of=lambda it: it.time,
    ),
    Measure(
        name="memory",
        says="on the fullest chip",
        kind=BYTES,
        less_is_better=True,
        of=lambda it: (
            np.max([worked.memory for worked in it.worked], axis=0) if len(it.worked) > 1 else it.worked[0].memory
        ),
    ),
    Measure(name="mfu", says="model FLOPs utilisation", kind=FRACTION, less_is_better=False, of=_mfu),
    Measure(
        name="samples_per_s",
        says="sequences a second",
        kind=None,
        less_is_better=False,
        of=lambda it: it.samples / it.time,
    ),
    Measure(
        name="tokens_per_s",
        says="tokens a second",
        kind=None,
        less_is_better=False,
        of=lambda it: it.tokens / it.time,
    ),
    Measure(
        name="days",
        says="until all tokens are trained on",
        kind=None,
        less_is_better=True,
        of=lambda it: it.seconds / _DAY,
    ),
    Measure(name="chips", says="accelerators", kind=None, less_is_better=True, of=lambda it: it.chips),
    Measure(
        name="machine_usd",
        says="price of the machine",
        kind=DOLLARS,
        less_is_better=True,
        of=lambda it: it.cost_breakdown().capex,
    ),
    Measure(
        name="usd",
        says="owning the machine over its life",
        kind=DOLLARS,
        less_is_better=True,
        of=lambda it: it.cost_breakdown().tco,
    ),
    Measure(
        name="run_usd",
        says="share of that for the training asked for",
        kind=DOLLARS,
        less_is_better=True,
        of=lambda it: it.cost_breakdown().step(it.seconds).dollars,
    ),
    Measure(
        name="flops_per_usd",
        says="FLOP/s done for every dollar of the machine",
        kind=None,
        less_is_better=False,
        of=lambda it: it.rate / it.cost_breakdown().capex,
    ),
    Measure(
        name="flops_per_joule",
        says="FLOP done for every joule, at the meter",
        kind=None,
        less_is_better=False,
        of=lambda it: it.rate / it.cost_breakdown().power,
    ),
    Measure(
        name="usd_per_mtoken",
        says="dollars a million tokens",
        kind=DOLLARS,
        less_is_better=True,
        of=lambda it: it.cost_breakdown().step(it.time, tokens=it.tokens).dollars_per_token * _MILLION,
    ),
    Measure(
        name="power", says="at the meter", kind=WATTS, less_is_better=True, of=lambda it: it.cost_breakdown().power
    ),
    Measure(
        name="joules_per_sample",
        says="energy a sequence, at the meter",
        kind=JOULES,
        less_is_better=True,
        of=lambda it: it.cost_breakdown().step(it.time, samples=it.samples).energy_per_sample,
    ),
    Measure(
        name="tokens_per_joule",
        says="tokens a second for every watt",
        kind=None,
        less_is_better=False,
        of=lambda it: it.cost_breakdown().step(it.time, tokens=it.tokens).tokens_per_second_per_watt,
    ),
)
MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in _ALL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """A measure, and which way is better."""

    measure: Measure
    less: bool

    @property
    def name(self) -> str:
        """Of the measure."""
        return self.measure.name

    def __str__(self) -> str:
        return f"{'least' if self.less else 'most'} {self.name}"


def objective_of(text: str) -> Objective:
    """An objective from words: ``days``, ``least days``, ``max mfu``, ``usd minimal``."""
    words = text.split()
    ways = {"least": True, "min": True, "minimal": True, "lowest": True, "most": False, "max": False, "maximal": False}
    directions = [ways[word] for word in words if word in ways]
    names = [word for word in words if word not in ways]
    if len(names) != 1 or len(directions) > 1:
        raise DescriptionError(f"{text!r} is no objective; write a measure, or 'least' or 'most' before it")
    if names[0] not in MEASURES:
        raise UnknownNameError.among("measure", names[0], MEASURES)
    measure = MEASURES[names[0]]
    return Objective(measure=measure, less=directions[0] if directions else measure.less_is_better)
