"""The rent of an accelerator per hour: the median of clouds' newest list prices, or the price of one cloud."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from statistics import median

from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.catalogue.price_rows import newest
from volvelle.errors import DescriptionError, UnknownNameError, plainly

OLD = 2
"""Years after which an offer is too old to use without a warning."""
ENOUGH = 3
"""Clouds whose median is called the market's; with fewer, an answer names them."""
_CLOUDS = {
    "Amazon Web Services": "aws",
    "Google Cloud": "gcp",
    "Lambda Labs": "lambda",
    "Microsoft Azure": "azure",
    "Oracle Cloud": "oci",
    "RunPod": "runpod",
}
"""Short names of clouds that both tables have."""
_WRITTEN = {"aws": "AWS", "gcp": "Google Cloud", "azure": "Azure", "oci": "Oracle Cloud", "runpod": "RunPod"}
_WRITTEN |= {"lambda": "Lambda", "nebius": "Nebius"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudRent:
    """The list price of one cloud for an hour of an accelerator, on demand."""

    cloud: str
    dollars_per_hour: float
    """The median of its regions."""
    low: float
    high: float
    spot: float | None
    date: str
    source: str

    def aged(self, today: datetime | None = None) -> str:
        """Return a warning if the offer is old, or nothing."""
        return aged_rent(self.date, today)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rent:
    """The rent of one accelerator: list prices of clouds on demand, none a year older than the newest."""

    dollars_per_hour: float
    """The median over clouds, each at the median of its regions."""
    low: float
    """The lowest price in any region, as `high` is the highest."""
    high: float
    offers: tuple[CloudRent, ...]
    """One per cloud, its newest, the cheapest first."""

    @property
    def since(self) -> str:
        """Return the date of the oldest offer."""
        return min(offer.date for offer in self.offers)

    @property
    def until(self) -> str:
        """Return the date of the newest offer."""
        return max(offer.date for offer in self.offers)

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the sources of the offers, each once."""
        return tuple(dict.fromkeys(offer.source for offer in self.offers))

    @property
    def words(self) -> str:
        """Return what the figure is: how many list prices, of which clouds, from when, and their range."""
        dates = self.until[:7] if self.since[:7] == self.until[:7] else f"{self.since[:7]} to {self.until[:7]}"
        span = "" if self.low == self.high else f", {self.low:.2f} … {self.high:.2f}"
        names = [_written(offer.cloud) for offer in self.offers]
        if len(names) >= ENOUGH:
            return f"median of {len(names)} clouds' list prices, {dates}{span}"
        if len(names) == 1:
            return f"one list price, of {names[0]}, {dates}{span}"
        return f"two list prices, of {names[0]} and {names[1]}, {dates}{span}"

    @property
    def rate_words(self) -> str:
        """Return the figure per hour, and what it is."""
        return f"{self.dollars_per_hour:.2f} USD per accelerator-hour: {self.words}"


def rent_of(chip: str, machine: str = "") -> Rent | None:
    """Return the rent of a chip, or None if no offer is known.

    A machine named after a cloud, such as ``aws-p5``, has that cloud's own price where it is known.
    """
    offers = _offers().get(chip, ())
    own = [offer for offer in offers if machine.partition("-")[0] == offer.cloud]
    return _rent(own or newest(offers, date=lambda offer: offer.date)) if offers else None


def _rent(offers: Sequence[CloudRent]) -> Rent:
    return Rent(
        dollars_per_hour=median(offer.dollars_per_hour for offer in offers),
        low=min(offer.low for offer in offers),
        high=max(offer.high for offer in offers),
        offers=tuple(sorted(offers, key=lambda offer: offer.dollars_per_hour)),
    )


@cache
def _offers() -> dict[str, tuple[CloudRent, ...]]:
    """Return the newest offer of every cloud by chip, of whole nodes where the cloud rents them out."""
    found: dict[tuple[str, str], CloudRent] = {}
    for chip, offer in _by_vendor():
        found[chip, offer.cloud] = offer
    for row in sorted(packaged_rows("prices/cloud_rents.csv"), key=lambda row: (row["whole_node"], row["date"])):
        known = found.get((row["chip"], row["cloud"]))
        if known is None or known.date[:7] <= row["date"][:7]:
            found[row["chip"], row["cloud"]] = _listed(row)
    chips = dict.fromkeys(chip for chip, _ in found)
    return {chip: tuple(offer for (name, _), offer in found.items() if name == chip) for chip in chips}


def _by_vendor() -> list[tuple[str, CloudRent]]:
    """Return the newest day of every vendor in the table of single offers, by chip."""
    days: dict[tuple[str, str], dict[str, list[tuple[float, str]]]] = {}
    for row in packaged_rows("prices/rents.csv"):
        cloud = _CLOUDS.get(row["vendor"], row["vendor"])
        day = days.setdefault((row["chip"], cloud), {}).setdefault(row["date"], [])
        day.append((float(row["usd_per_hour"]), row["address"]))
    found = []
    for (chip, cloud), dated in days.items():
        date = max(dated)
        prices = [price for price, _ in dated[date]]
        found.append(
            (
                chip,
                CloudRent(
                    cloud=cloud,
                    dollars_per_hour=median(prices),
                    low=min(prices),
                    high=max(prices),
                    spot=None,
                    date=date,
                    source=dated[date][0][1],
                ),
            )
        )
    return found


def _listed(row: Mapping[str, str]) -> CloudRent:
    return CloudRent(
        cloud=row["cloud"],
        dollars_per_hour=float(row["median"]),
        low=float(row["low"]),
        high=float(row["high"] or row["median"]),
        spot=float(row["spot"]) if row["spot"] else None,
        date=row["date"],
        source=row["source"],
    )


def _written(cloud: str) -> str:
    return _WRITTEN.get(cloud, cloud)


def aged_rent(date: str, today: datetime | None = None) -> str:
    """Return a warning if an offer of that date is old, or nothing."""
    now = today or datetime.now(tz=UTC)
    year, month = (int(part) for part in f"{date}-01".split("-")[:2])
    years = now.year - year + (now.month - month) / 12
    return f"the rent is of {date}, {years:.0f} years old; give a newer one by --rent 'N USD/h'" if years > OLD else ""


@cache
def clouds() -> tuple[str, ...]:
    """Return the clouds that can be named, those of the table of 2026."""
    return tuple(sorted({row["cloud"] for row in packaged_rows("prices/cloud_rents.csv")}))


def cloud_rent(chip: str, cloud: str) -> CloudRent:
    """Return the price of one cloud for a chip, for whole nodes where it rents them out."""
    if plainly(cloud) not in clouds():
        raise UnknownNameError.among("cloud with known rents", cloud, clouds())
    for offer in _offers().get(chip, ()):
        if offer.cloud == plainly(cloud):
            return offer
    offered = ", ".join(
        sorted(chip for chip, offers in _offers().items() if plainly(cloud) in {offer.cloud for offer in offers})
    )
    raise DescriptionError(f"no rent of {chip} at {cloud} is known; of {offered} it is; or give one, like '3 USD/h'")
