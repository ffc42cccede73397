"""A service with its replicas by the minute: what it takes and costs, by the hour and in all."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from volvelle.applications.serving.evidence.basis import OPEN_LOADS, ServingBasis, serving_bases
from volvelle.applications.serving.fleet.capacity import ReplicaCapacity
from volvelle.applications.serving.fleet.checked_hour import HourCheck
from volvelle.applications.serving.fleet.scaling import Scaling, Schedule, schedule
from volvelle.applications.serving.instance import Instance
from volvelle.economics.chip_hours import ChipHours
from volvelle.estimators.result import Range
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.offered import HOUR, OfferedLoad
from volvelle.workload.serving.requests import Real, Whole

MILLION = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What an hour, or all of the time, takes and brings; totals of services are sums of these."""

    hours: float
    """How long it is."""
    requests: float
    input_tokens: float
    output_tokens: float
    chips: int
    """That are on at most."""
    chip_hours: float
    kwh: float | None
    rented: float | None
    """Dollars."""
    owned: float | None
    rented_for_input: float | None
    owned_for_input: float | None
    """Of the dollars, what reading prompts takes; the rest is for tokens after them."""

    @property
    def rate(self) -> float:
        """Requests a second, in the mean."""
        return self.requests / (self.hours * HOUR)

    @property
    def kw(self) -> float | None:
        """At the meter, in the mean."""
        return None if self.kwh is None else self.kwh / self.hours

    @property
    def rented_input_price(self) -> float | None:
        """Dollars a million tokens in; None, here and below: not known, or there are none."""
        return _per_million(self.rented_for_input, self.input_tokens)

    @property
    def rented_output_price(self) -> float | None:
        """Dollars a million tokens out."""
        return _per_million(_less(self.rented, self.rented_for_input), self.output_tokens)

    @property
    def owned_input_price(self) -> float | None:
        """Dollars a million tokens in."""
        return _per_million(self.owned_for_input, self.input_tokens)

    @property
    def owned_output_price(self) -> float | None:
        """Dollars a million tokens out."""
        return _per_million(_less(self.owned, self.owned_for_input), self.output_tokens)

    def paid(self, pay: str) -> float | None:
        """Dollars, rented or owned."""
        return self.rented if pay == "rented" else self.owned

    def per_million(self, pay: str) -> tuple[float | None, float | None]:
        """Dollars a million tokens in, and out."""
        if pay == "rented":
            return self.rented_input_price, self.rented_output_price
        return self.owned_input_price, self.owned_output_price


def _less(whole: float | None, part: float | None) -> float | None:
    return None if whole is None or part is None else whole - part


def _per_million(dollars: float | None, tokens: float) -> float | None:
    return None if dollars is None or not tokens else MILLION * dollars / tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceHour:
    """One hour of a service."""

    hour: int
    spent: Spent
    replicas: int
    """That are on at most, spares among them."""
    ready: int
    """That serve at least, spares not counted."""
    use: float | None
    """Of what ready replicas take within their limits, in the mean; None: none is ready."""
    check: HourCheck | None = None
    """What clients measure, where the hour was followed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SizedService:
    """A service on its machine."""

    name: str
    machine: str
    instance: Instance
    limits: tuple[LatencyLimit, ...]
    load: OfferedLoad
    capacity: ReplicaCapacity
    scaling: Scaling
    cold_start: float
    spare: int
    prices: ChipHours
    checks: tuple[HourCheck, ...] = ()
    degrees: tuple[int, ...] = ()
    """Degrees of tensor parallelism that were looked at; none: the question named one."""
    owned_chips: float = field(default=0.0)
    """Chips that are owned for it whether on or off, its share of its machine's."""

    @cached_property
    def plan(self) -> Schedule:
        """Replicas by the minute."""
        return schedule(self.load, self.capacity.rate, self.scaling, cold_start=self.cold_start)

    @cached_property
    def chips(self) -> Whole:
        """That are on, by the minute, spares among them."""
        return (self.plan.ordered + self.spare) * self.instance.layout.chips

    @cached_property
    def chip_hours(self) -> float:
        """Of all of the time."""
        return float((self.chips * self.load.seconds).sum()) / HOUR

    @property
    def replicas(self) -> int:
        """That are on at most, spares among them."""
        return self.plan.peak + self.spare

    @property
    def bases(self) -> tuple[ServingBasis, ...]:
        """What the range of the rate that a replica takes rests on: what that of its throughput does."""
        return (serving_bases(self.instance, OPEN_LOADS)["throughput"],)

    @cached_property
    def strain(self) -> Real:
        """Of what ready replicas take within their limits, by the minute; infinite where none is ready for somebody."""
        taken = self.plan.ready * self.capacity.rate
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.load.rates > 0.0, self.load.rates / taken, 0.0)

    @cached_property
    def total(self) -> Spent:
        """Of all of the time."""
        return self._spent(slice(None))

    @cached_property
    def hours(self) -> tuple[ServiceHour, ...]:
        """Hour by hour."""
        return tuple(self._hours())

    def at_capacity(self, rate: float) -> Schedule:
        """Replicas by the minute if each took another rate."""
        return schedule(self.load, rate, self.scaling, cold_start=self.cold_start)

    @cached_property
    def peak_chips(self) -> Range:
        """Chips that are on at most, where four of five cases are to be expected."""
        found = self.capacity.range
        each = self.instance.layout.chips
        few, many = (each * (self.at_capacity(rate).peak + self.spare) for rate in (found.high, found.low))
        return Range(low=float(few), high=float(many), level=found.level, varied=found.varied)

    def _hours(self) -> Iterator[ServiceHour]:
        checks = {check.hour: check for check in self.checks}
        for hour in range(int(self.load.hours[-1]) + 1):
            slots = self.load.slots_of(hour)
            ready = self.plan.ready[slots]
            taken = float((ready * self.load.seconds[slots]).sum()) * self.capacity.rate
            yield ServiceHour(
                hour=hour,
                spent=self._spent(slots),
                replicas=int(self.plan.ordered[slots].max()) + self.spare,
                ready=int(ready.min()),
                use=float(self.load.counts[slots].sum()) / taken if taken else None,
                check=checks.get(hour),
            )

    def _spent(self, slots: slice) -> Spent:
        load, prices, share = self.load, self.prices, self.capacity.prompt_share
        hours = float(load.seconds[slots].sum()) / HOUR
        on = float((self.chips[slots] * load.seconds[slots]).sum()) / HOUR
        joules = prices.joules(on)
        rented, owned = prices.rented(on), prices.owned(on, chips=self.owned_chips, hours=hours)
        return Spent(
            hours=hours,
            requests=float(load.counts[slots].sum()),
            input_tokens=float(load.input_tokens[slots].sum()),
            output_tokens=float(load.output_tokens[slots].sum()),
            chips=int(self.chips[slots].max()),
            chip_hours=on,
            kwh=None if joules is None else joules / 3.6e6,
            rented=rented,
            owned=owned,
            rented_for_input=None if rented is None else share * rented,
            owned_for_input=None if owned is None else share * owned,
        )


def together(parts: list[Spent], chips: int) -> Spent:
    """Several services at the same time, with so many chips on at most."""

    def added(name: str) -> float | None:
        values = [getattr(part, name) for part in parts]
        return None if None in values else float(sum(values))

    known = ("kwh", "rented", "owned", "rented_for_input", "owned_for_input")
    return Spent(
        hours=max(part.hours for part in parts),
        requests=sum(part.requests for part in parts),
        input_tokens=sum(part.input_tokens for part in parts),
        output_tokens=sum(part.output_tokens for part in parts),
        chips=chips,
        chip_hours=sum(part.chip_hours for part in parts),
        **{name: added(name) for name in known},
    )
