"""A fleet as it was sized: services on their machines, by the hour and in all."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from volvelle.applications.serving.evidence.basis import basis_words
from volvelle.applications.serving.fleet.sized import SizedService, Spent, together
from volvelle.errors import MissingFigureError
from volvelle.estimators.result import Range, RangedFigure, Violation
from volvelle.interchange.fleet_file import FleetForm, ServiceForm
from volvelle.presentable import Presentable
from volvelle.quantities import percent
from volvelle.verbs.fleet.described import MachineKind
from volvelle.verbs.serving.request_lengths import load_notes


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceTried:
    """A service on a machine that it might be on."""

    service: str
    machine: str
    rate: float | None
    """Requests a second that one replica takes there within the limits; None: it cannot be served there."""
    chips: int | None
    """Most that it would take."""
    dollars: float | None
    """Of all of the time, as it is paid; None: not known."""
    problem: str = ""
    """Why not."""
    cures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineUse:
    """What the fleet takes of a machine."""

    name: str
    chip: str
    services: tuple[str, ...]
    chips: int
    """Most that are on at once."""
    nodes: int
    available: int | None
    """None: as many as it takes."""
    rent: float | None
    """Dollars an hour of a chip."""
    rent_offered: str
    chip_price: float | None
    watts: float | None
    """Of a chip with its host, at the meter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetHour:
    """One hour of all services."""

    hour: int
    spent: Spent
    held: bool | None
    """Whether all limits were kept; None: the hour was not followed."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Fleet(Presentable):
    """How many chips serve what is offered, by the hour, and for what money.

    Its figures are `peak_chips` (the most that are on at once), `chip_hours`, and `cost` in dollars, as it is paid. If
    a service has no place, or a price is unknown, they raise `MissingFigureError`.

    Examples
    --------
    >>> from volvelle import LatencyLimit, Poisson, fleet
    >>> limit = LatencyLimit("tpot", 0.03, percentile=95)
    >>> answer = fleet("llama3-8b", on="dgx-h100", tensor=1, load=Poisson(30), slo=limit, check="none")
    >>> answer.peak_chips.low <= answer.peak_chips.value <= answer.peak_chips.high
    True
    """

    form: FleetForm
    kinds: Mapping[str, MachineKind]
    services: tuple[SizedService, ...]
    """On the machines that they were given; none where one of them has none."""
    tried: tuple[PlaceTried, ...]
    pay: str
    """What places were chosen by: rented or owned."""
    violations: tuple[Violation, ...] = ()
    needed: Mapping[str, int] = field(default_factory=dict)
    """The chips that the cheapest places take of each machine that has too few."""

    @property
    def name(self) -> str:
        """As its file calls it."""
        return self.form.name

    @property
    def feasible(self) -> bool:
        """Whether every service has a place, and kept its limits where it was followed."""
        return not self.violations

    @cached_property
    def chips(self) -> np.ndarray:
        """That are on, by the minute, of all services."""
        return _summed([one.chips for one in self.services])

    @cached_property
    def total(self) -> Spent | None:
        """Of all of the time; None: there is no fleet."""
        if not self.services:
            return None
        return together([one.total for one in self.services], int(self.chips.max()))

    @property
    def peak_chips(self) -> RangedFigure:
        """The most chips that are on at once."""
        return RangedFigure(value=float(self._spent.chips), range=self.ranges.get("chips"), unit="chips")

    @property
    def chip_hours(self) -> RangedFigure:
        """Hours of chips that are on."""
        return RangedFigure(value=self._spent.chip_hours, range=self.ranges.get("chip_hours"), unit="chip-hours")

    @property
    def cost(self) -> RangedFigure:
        """Dollars of all of the time, rented or owned as `pay` says."""
        paid = self._spent.paid(self.pay)
        if paid is None:
            raise MissingFigureError(f"the fleet has no cost: the price of {self.pay} chips is unknown")
        return RangedFigure(value=paid, range=self.ranges.get("dollars"), unit="USD")

    @property
    def _spent(self) -> Spent:
        if self.total is None:
            problems = "; ".join(violation.problem for violation in self.violations)
            raise MissingFigureError(f"the fleet has no figures: {problems}")
        return self.total

    @cached_property
    def hours(self) -> tuple[FleetHour, ...]:
        """Hour by hour."""
        return tuple(self._hours())

    def _hours(self) -> Iterator[FleetHour]:
        for hour in range(max((len(one.hours) for one in self.services), default=0)):
            parts = [one.hours[hour] for one in self.services if hour < len(one.hours)]
            checks = [part.check.held for part in parts if part.check is not None]
            yield FleetHour(
                hour=hour,
                spent=together([part.spent for part in parts], int(self.chips[60 * hour : 60 * (hour + 1)].max())),
                held=all(checks) if checks else None,
            )

    @cached_property
    def machines(self) -> tuple[MachineUse, ...]:
        """Those that are used."""
        return tuple(self._machines())

    def _machines(self) -> Iterator[MachineUse]:
        for kind in self.kinds.values():
            own = [one for one in self.services if one.machine == kind.name]
            if own:
                chips = int(_summed([one.chips for one in own]).max())
                yield MachineUse(
                    name=kind.name,
                    chip=kind.node.chip.name,
                    services=tuple(one.name for one in own),
                    chips=chips,
                    nodes=-(-chips // kind.node.accelerators),
                    available=kind.chips,
                    rent=kind.prices.rent,
                    rent_offered=kind.prices.offered,
                    chip_price=kind.prices.chip_price,
                    watts=kind.prices.watts,
                )

    @cached_property
    def ranges(self) -> Mapping[str, Range]:
        """Of the most chips, and of dollars as they are paid: what the error of the model makes of them."""
        if not self.services:
            return {}
        return _ranges(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before the figures."""
        return tuple(dict.fromkeys(told for one in self.services for told in one.instance.warnings))

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed."""
        return tuple(_notes(self))


def _summed(columns: list[np.ndarray]) -> np.ndarray:
    """Columns that begin together, the shorter ones nothing after their end."""
    whole = np.zeros(max(column.size for column in columns), np.int64)
    for column in columns:
        whole[: column.size] += column
    return whole


def _ranges(fleet: Fleet) -> Mapping[str, Range]:
    """With every service's replicas taking as little, or as much, as is to be expected: they err together."""
    found: dict[str, list[float]] = {"chips": [], "chip_hours": []}
    for end in ("high", "low"):
        columns, hours = [], 0.0
        for one in fleet.services:
            plan = one.at_capacity(getattr(one.capacity.range, end))
            column = (plan.ordered + one.spare) * one.instance.layout.chips
            columns.append(column)
            hours += float((column * one.load.seconds).sum()) / 3600.0
        found["chips"].append(float(_summed(columns).max()))
        found["chip_hours"].append(hours)
    level = fleet.services[0].capacity.range.level
    ranges = {
        name: Range(low=low, high=high, level=level, varied=("model error",)) for name, (low, high) in found.items()
    }
    total = fleet.total
    paid = None if total is None else total.paid(fleet.pay)
    if total is not None and paid is not None:
        # Chips that are owned are paid for whether or not they are on.
        name = "chip_hours" if fleet.pay == "rented" else "chips"
        whole = total.chip_hours if fleet.pay == "rented" else float(total.chips)
        ranges["dollars"] = Range(
            low=paid * ranges[name].low / whole,
            high=paid * ranges[name].high / whole,
            level=level,
            varied=("model error",),
        )
    return ranges


def _notes(fleet: Fleet) -> Iterator[str]:
    if not fleet.services:
        return
    yield from fleet.warnings
    form = fleet.form
    if form.cold_start.seconds is None:
        yield (
            f"a replica starts by reading its weights at {form.cold_start.storage}, then takes {form.cold_start.engine}"
            "; cold_start says what yours takes"
        )
    for kind in fleet.kinds.values():
        yield from kind.node.notes_on_power[len(kind.node.notes) :]
    for use in fleet.machines:
        if use.rent is not None:
            yield f"rent of {use.chip}: {use.rent:.4g} USD/h a chip ({use.rent_offered or 'as given'})"
    given = fleet.services[0].prices.assumptions
    if any(use.chip_price is not None for use in fleet.machines):
        yield (
            f"owned: the most chips that are on at once are bought, written off over {given.life / 31_557_600:g} years "
            f"of which {percent(given.use, 0)} are used, hosts and network {percent(given.overhead, 0)} on top, with "
            f"plant, interest and maintenance as volvelle cost has them; energy at {given.energy_price * 3.6e6:.2g} "
            f"USD/kWh, chips that are on at {percent(given.load, 0)} of rated power"
        )
    for one in fleet.services:
        if one.degrees:
            yield (
                f"{one.name} on {one.machine}: of tensor parallelism {', '.join(map(str, one.degrees))}, "
                f"{one.instance.layout.tensor} costs least; --dp, --pp and --ep are not searched"
            )
    if any(service.load.lengths is None and service.load.lengths_of is None for service in _drawn(form)):
        yield from load_notes("poisson", None, warm_up=False)
    yield "money for tokens in and out: by the time that prompts and further tokens take of a mean batch"
    yield (
        "intervals: as far as the throughput of a replica may be off; limits were followed with the figure itself, "
        "spares taken to have failed"
    )
    told: dict[str, list[str]] = {}
    for one in fleet.services:
        for words in basis_words(one.bases):
            told.setdefault(words, []).append(one.name)
    yield from (f"{', '.join(names)}: {words}" for words, names in told.items())
    followed = [check for one in fleet.services for check in one.checks]
    if any(check.minutes < 60 for check in followed) or any(_part(one) for one in fleet.services):
        yield "of hours with many requests some ranks, or the fullest minutes, were followed"
    for one in fleet.services:
        if one.capacity.few:
            yield (
                f"{one.name}: prompts take many steps each, so what a replica takes was found with "
                f"{one.capacity.requests:,} requests a run"
            )
    if any(one.load.recorded is not None and one.load.recorded.hash_ids.size for one in fleet.services):
        yield "beginnings that prompts of the trace share are computed again each time, so fewer chips may do"


def _drawn(form: FleetForm) -> Iterator[ServiceForm]:
    """Yield services whose requests have no lengths of a trace."""
    for service in form.services:
        words = (service.load.words or "").split()
        if words[:1] != ["trace"]:
            yield service


def _part(one: SizedService) -> bool:
    ranks = one.instance.layout.data
    return any(check.ranks < int(one.plan.ready.max()) * ranks for check in one.checks)
