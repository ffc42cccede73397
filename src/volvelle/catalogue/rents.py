"""What an hour of an accelerator is rented for: offers of ``data/prices/rents.csv`` and their middle."""

from dataclasses import dataclass
from functools import cache
from statistics import median

from volvelle.catalogue.packaged_rows import packaged_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Rent:
    """Offers of one chip on demand, those of the last year that has any."""

    dollars_per_hour: float
    """The middle one."""
    low: float
    high: float
    since: str
    until: str
    """Dates of the first and the last of them."""
    offers: int


@cache
def _offers() -> tuple[tuple[str, str, float], ...]:
    """Chip, date and dollars an hour."""
    rows = packaged_rows("prices/rents.csv")
    return tuple((row["chip"], row["date"], float(row["usd_per_hour"])) for row in rows)


@cache
def rent_of(chip: str) -> Rent | None:
    """What an hour of a chip is rented for; None: no offer is known."""
    dated = sorted((date, dollars) for name, date, dollars in _offers() if name == chip)
    if not dated:
        return None
    year, month_and_day = dated[-1][0].split("-", 1)
    recent = [(date, dollars) for date, dollars in dated if date >= f"{int(year) - 1}-{month_and_day}"]
    prices = [dollars for _, dollars in recent]
    return Rent(
        dollars_per_hour=median(prices),
        low=min(prices),
        high=max(prices),
        since=recent[0][0],
        until=recent[-1][0],
        offers=len(recent),
    )
