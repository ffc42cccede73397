"""What an hour of an accelerator is rented for: the middle of offers (``data/prices/rents.csv``), or one cloud's."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from statistics import median

from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.errors import DescriptionError, UnknownNameError, plainly

OLD = 2
"""Years after which an offer says little of what is asked today."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudRent:
    """What one cloud asks for an hour of a chip, on demand."""

    cloud: str
    dollars_per_hour: float
    """The middle of its regions."""
    low: float
    high: float
    spot: float | None
    date: str
    source: str

    def aged(self, today: datetime | None = None) -> str:
        """A warning where the offer is old; nothing where it is not."""
        return aged_rent(self.date, today)


def aged_rent(date: str, today: datetime | None = None) -> str:
    """A warning where an offer of that date is old; nothing where it is not."""
    now = today or datetime.now(tz=UTC)
    year, month = (int(part) for part in f"{date}-01".split("-")[:2])
    years = now.year - year + (now.month - month) / 12
    return f"the rent is of {date}, {years:.0f} years old; give a newer one by --rent 'N USD/h'" if years > OLD else ""


@cache
def clouds() -> tuple[str, ...]:
    """Clouds whose rents are known."""
    return tuple(sorted({row["cloud"] for row in packaged_rows("prices/cloud_rents.csv")}))


def cloud_rent(chip: str, cloud: str) -> CloudRent:
    """What a cloud asks for a chip, in whole nodes where it offers them."""
    if plainly(cloud) not in clouds():
        raise UnknownNameError.among("cloud with known rents", cloud, clouds())
    rows = [row for row in packaged_rows("prices/cloud_rents.csv") if row["cloud"] == plainly(cloud)]
    found = sorted((row for row in rows if row["chip"] == chip), key=lambda row: (row["whole_node"], row["date"]))
    if not found:
        offered = ", ".join(sorted({row["chip"] for row in rows}))
        raise DescriptionError(
            f"no rent of {chip} at {cloud} is known; of {offered} it is; or give one, like '3 USD/h'"
        )
    row = found[-1]
    return CloudRent(
        cloud=row["cloud"],
        dollars_per_hour=float(row["median"]),
        low=float(row["low"]),
        high=float(row["high"]),
        spot=float(row["spot"]) if row["spot"] else None,
        date=row["date"],
        source=row["source"],
    )
