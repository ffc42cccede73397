"""Prices of accelerators: the rows of ``data/prices/accelerators.csv``, and the median of the newest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import median
from typing import Literal, TypeVar, cast, get_args

from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.economics.usual_terms import USUAL_HOSTS
from volvelle.errors import DescriptionError, OutsideDomainError
from volvelle.spread import Evidence, Figure, Interval, LogNormal

Offer = TypeVar("Offer")
Scope = Literal["chip", "board", "server"]
_SOURCE = "epoch-hardware"
_SINGLE = {"vendor": 1.3, "derived": 1.5}
"""Spread of a price that one row alone states, one standard deviation as a factor: an offer, or an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceRow:
    """One offer, divided by the accelerators in it."""

    chip: str
    date: str
    dollars: float
    scope: Scope
    """What comes with the accelerator: nothing, a board with its scale-up network, or a whole server."""
    kind: Literal["vendor", "derived"]
    note: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorPrice:
    """The middle of some rows."""

    figure: Figure
    rows: tuple[PriceRow, ...]
    with_host: bool
    """No row is of an accelerator without its server."""

    @property
    def on_board(self) -> bool:
        """Whether the price holds a scale-up network."""
        return any(row.scope != "chip" for row in self.rows)


@cache
def price_without_host(chip: str) -> Figure | None:
    """Return the price of a chip by its newest offers, or None if there are none.

    Where only whole servers were offered, the usual price of hosts is taken off.
    """
    if not any(row.chip == chip for row in price_rows()):
        return None
    found = accelerator_price(chip)
    if not found.with_host:
        return found.figure
    assert found.figure.spread is not None, "every price has a spread"
    share = 1.0 / (1.0 + USUAL_HOSTS)
    return replace(
        found.figure,
        value=share * found.figure.value,
        evidence=Evidence.DERIVED,
        spread=found.figure.spread.times(share),
        note=f"{found.figure.note}; a whole server, less {100 * USUAL_HOSTS:.0f} % of the rest for the host",
    )


@cache
def price_rows() -> tuple[PriceRow, ...]:
    """All rows, by chip and date."""
    found = []
    for row in packaged_rows("prices/accelerators.csv"):
        if row["scope"] not in get_args(Scope) or not row["address"] or not row["date"]:
            raise DescriptionError(
                f"prices/accelerators.csv: a row of {row['chip']!r} lacks its scope, date or address"
            )
        found.append(
            PriceRow(
                chip=row["chip"],
                date=row["date"],
                dollars=float(row["usd"]),
                scope=cast(Scope, row["scope"]),
                kind="vendor" if row["kind"] == "vendor" else "derived",
                note=row["note"],
                address=row["address"],
            )
        )
    return tuple(found)


def newest(offers: Sequence[Offer], *, date: Callable[[Offer], str]) -> list[Offer]:
    """Return the offers of the last twelve months that have any; dates are like ``2026-08`` or ``2026-08-31``."""
    if not offers:
        return []
    year, month = (int(part) for part in max(date(offer) for offer in offers)[:7].split("-"))
    return [offer for offer in offers if date(offer)[:7] >= f"{year - 1:04d}-{month:02d}"]


def accelerator_price(chip: str, *, since: str = "", until: str = "") -> AcceleratorPrice:
    """Return the median of the offers of a chip, with all of them as its interval.

    Without dates, offers count that are at most a year older than the newest; with dates, all between them. Offers of
    chips and boards are preferred to offers of whole servers.
    """
    of_chip = [row for row in price_rows() if row.chip == chip]
    rows = newest(of_chip, date=lambda row: row.date)
    if since or until:
        rows = [row for row in of_chip if since <= row.date and (not until or row.date[: len(until)] <= until)]
    if not rows:
        known = sorted({row.chip for row in price_rows()})
        when = f" between {since or 'ever'} and {until or 'now'}" if of_chip else ""
        others = f"; it has some of {', '.join(row.date for row in of_chip)}" if of_chip else ""
        raise OutsideDomainError(
            f"no price of an accelerator {chip!r} is known{when}{others}: give one (chip_price, or --chip-price), or "
            f"take a chip that has one: {', '.join(known)}"
        )
    alone = [row for row in rows if row.scope != "server"]
    taken = alone or rows
    prices = [row.dollars for row in taken]
    middle = median(prices)
    dates = sorted(row.date[:7] for row in taken)
    figure = Figure(
        value=middle,
        evidence=Evidence.VENDOR if len(taken) == 1 and taken[0].kind == "vendor" else Evidence.DERIVED,
        source=_SOURCE,
        spread=Interval(min(prices), max(prices))
        if len(set(prices)) > 1
        else LogNormal(middle, _SINGLE[taken[0].kind]),
        note=f"median of {len(taken)} offers" if len(taken) > 1 else f"one offer: {taken[0].note}",
        date=dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}",
    )
    return AcceleratorPrice(figure=figure, rows=tuple(taken), with_host=not alone)
