"""A load of hours or days, minute by minute: from a trace, or from a rate for every hour.

A trace is followed as it was recorded. Several times as many requests are copies of them within the same minute, so
that a day stays a day; fewer are some of them.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from volvelle.domains import NumberDomain
from volvelle.errors import DescriptionError
from volvelle.workload.serving.lengths import AbstractShape, Empirical
from volvelle.workload.serving.loads import RATE_FACTOR, REQUEST_RATE
from volvelle.workload.serving.requests import Real, Requests, Whole

SLOT = 60.0
"""Seconds over which requests are counted."""
HOUR = 3600.0
LOAD_HOURS = NumberDomain(1, 366 * 24, whole=True)
"""Hours of a load, a year at most."""
HOURLY_RATE = NumberDomain(0.0, REQUEST_RATE.most)
"""Requests a second; in an hour there may be none."""
_DRAWN = 20_000
"""Requests by which the mean of lengths is found."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OfferedLoad:
    """Requests of each minute, with their tokens, and the requests themselves for any part of the time."""

    seconds: Real
    """How long each slot is: a minute, the last perhaps less."""
    counts: Real
    """Requests of each slot; expected ones need not be whole."""
    input_tokens: Real
    output_tokens: Real
    """Of all requests of each slot."""
    shape: AbstractShape
    """Lengths of requests."""
    burstiness: float = 1.0
    recorded: Requests | None = None
    """None: requests are drawn at the rates of the slots."""
    factor: float = 1.0
    """Times that there are as many as were recorded."""

    @classmethod
    def of_trace(cls, requests: Requests, factor: float = 1.0) -> Self:
        """As somebody's users sent them, so many times as many at any time of the day."""
        RATE_FACTOR.check(factor, "load: times as many")
        count, last = len(requests), float(requests.arrival[-1])
        if count < 2 or last <= 0.0:
            raise DescriptionError(
                f"the trace has {count:,} request{'s' if count > 1 else ''} within {last:g} s, which is no rate; give "
                "a trace of minutes, hours or days"
            )
        # So many requests have one gap less: the last of them is followed by one as long as the others.
        duration = last * count / (count - 1)
        _check_hours(duration)
        slots = int(np.ceil(duration / SLOT))
        place = np.minimum(requests.arrival / SLOT, slots - 1).astype(np.int64)
        lengths = np.full(slots, SLOT)
        lengths[-1] = duration - SLOT * (slots - 1)

        def summed(weights: Whole | None) -> Real:
            return factor * np.bincount(place, weights, minlength=slots).astype(np.float64)

        return cls(
            seconds=lengths,
            counts=summed(None),
            input_tokens=summed(requests.input_tokens),
            output_tokens=summed(requests.output_tokens),
            shape=Empirical.of(requests),
            recorded=requests,
            factor=factor,
        )

    @classmethod
    def of_hours(cls, rates: Real, shape: AbstractShape, *, burstiness: float = 1.0, factor: float = 1.0) -> Self:
        """At a rate that holds for its hour; each is in requests a second."""
        RATE_FACTOR.check(factor, "load: times as many")
        LOAD_HOURS.check(int(rates.size), "load: hours")
        for hour, rate in enumerate(rates):
            HOURLY_RATE.check(float(rate), f"load: the rate of hour {hour}")
        if not rates.any():
            raise DescriptionError("the load has no requests in any hour; give at least one rate above 0")
        prompts, answers = shape.sample(np.random.default_rng(0), _DRAWN)
        counts = np.repeat(rates * factor, round(HOUR / SLOT)) * SLOT
        return cls(
            seconds=np.full(counts.size, SLOT),
            counts=counts,
            input_tokens=counts * float(prompts.mean()),
            output_tokens=counts * float(answers.mean()),
            shape=shape,
            burstiness=burstiness,
        )

    @property
    def slots(self) -> int:
        """Minutes."""
        return int(self.counts.size)

    @cached_property
    def duration(self) -> float:
        """Seconds."""
        return float(self.seconds.sum())

    @cached_property
    def begins(self) -> Real:
        """When each slot begins."""
        return SLOT * np.arange(self.slots, dtype=np.float64)

    @cached_property
    def rates(self) -> Real:
        """Requests a second of each slot."""
        return self.counts / self.seconds

    @cached_property
    def hours(self) -> Whole:
        """The hour of each slot."""
        return (self.begins // HOUR).astype(np.int64)

    def slots_of(self, hour: int) -> slice:
        """The slots of an hour."""
        each = round(HOUR / SLOT)
        return slice(each * hour, min(each * (hour + 1), self.slots))

    def thinned(self, times: int) -> Self:
        """So many times fewer requests, at the same times of the day."""
        counts, prompts, answers = (part / times for part in (self.counts, self.input_tokens, self.output_tokens))
        return replace(self, counts=counts, input_tokens=prompts, output_tokens=answers, factor=self.factor / times)

    def between(self, first: int, last: int, *, seed: int = 0) -> Requests | None:
        """Requests of the slots from `first` up to `last`, at times of the whole load; None: there are none."""
        if self.recorded is not None:
            return self._recorded(self.recorded, first, last, seed)
        # A process at rate 1 by which the rate's own time is stretched: the same draws at every rate.
        until = np.concatenate(([0.0], np.cumsum(self.counts[first:last])))
        expected = float(until[-1])
        generator = np.random.default_rng((seed, 2))
        draws = int(expected + 10.0 * np.sqrt(expected / min(self.burstiness, 1.0)) + 20)
        own = np.cumsum(generator.gamma(self.burstiness, 1.0 / self.burstiness, draws))
        own = own[own < expected]
        if not own.size:
            return None
        ends = np.concatenate((self.begins[first:last], [self.begins[last - 1] + self.seconds[last - 1]]))
        prompts, answers = self.shape.sample(np.random.default_rng((seed, 1)), own.size)
        return Requests(arrival=np.interp(own, until, ends), input_tokens=prompts, output_tokens=answers)

    def _recorded(self, requests: Requests, first: int, last: int, seed: int) -> Requests | None:
        begin, end = SLOT * first, SLOT * last
        low, high = np.searchsorted(requests.arrival, [begin, end if last < self.slots else np.inf])
        rows = np.arange(low, high)
        generator = np.random.default_rng((seed, 2))
        whole = int(self.factor)
        copies = whole + (generator.random(rows.size) < self.factor - whole).astype(np.int64)
        taken = np.repeat(rows, copies)
        if not taken.size:
            return None
        arrival = requests.arrival[taken]
        further = np.concatenate(([False], taken[1:] == taken[:-1]))
        minute = np.minimum(arrival // SLOT, self.slots - 1).astype(np.int64)
        anywhere = self.begins[minute] + generator.random(taken.size) * self.seconds[minute]
        arrival = np.where(further, anywhere, arrival)
        order = np.argsort(arrival, kind="stable")
        return Requests(
            arrival=arrival[order],
            input_tokens=requests.input_tokens[taken][order],
            output_tokens=requests.output_tokens[taken][order],
        )


def _check_hours(duration: float) -> None:
    most = LOAD_HOURS.most * HOUR
    if duration > most:
        raise DescriptionError(
            f"the trace is {duration / 86_400:,.0f} days long, more than the {most / 86_400:,.0f} that a fleet is "
            "sized for; cut it to its busiest days (and see that times are in seconds)"
        )
