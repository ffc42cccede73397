"""Where a machine stands: carbon of its grid and PUE by place and year (``data/reliability``)."""

from dataclasses import dataclass
from functools import cache
from statistics import median

from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.errors import DescriptionError, UnknownNameError, plainly

CLOUDS = ("Google", "Amazon", "Microsoft")
"""Whose regions are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place in a year."""

    name: str
    where: str
    of: str
    """Whose region it is, or that it is a country."""
    year: int
    grams_per_kwh: float
    """Location-based: what the grid there emits, whatever is bought."""
    accounting: str
    pue: float | None
    """None: nobody says."""
    source: str


@cache
def places() -> tuple[Place, ...]:
    """All places and years."""
    effectiveness = {(row["site"], row["year"]): float(row["pue"]) for row in packaged_rows("reliability/pue.csv")}
    newest: dict[str, float] = {}
    for (site, _), pue in sorted(effectiveness.items()):
        newest[site] = pue
    return tuple(
        Place(
            name=row["place"],
            where=row["where"],
            of=row["of"],
            year=int(row["year"]),
            grams_per_kwh=float(row["g_co2e_per_kwh"]),
            accounting=row["accounting"],
            pue=effectiveness.get((row["place"], row["year"]), newest.get(row["place"])),
            source=row["source"],
        )
        for row in packaged_rows("reliability/grid_carbon.csv")
        if row["g_co2e_per_kwh"]
    )


def place_called(name: str, year: int | None = None) -> Place:
    """A region or country by its name, in a year or in the last that is known."""
    wanted = plainly(name)
    found = [place for place in places() if wanted in (plainly(place.name), plainly(place.where))]
    if not found:
        names = {place.name for place in places()} | {place.where for place in places() if place.where}
        raise UnknownNameError.among("place with a known grid", name, names)
    if year is None:
        return max(found, key=lambda place: place.year)
    of_year = [place for place in found if place.year == year]
    if not of_year:
        known = ", ".join(str(place.year) for place in sorted(found, key=lambda place: place.year))
        raise DescriptionError(f"the grid of {found[0].name} is not known for {year}; it is for {known}")
    return of_year[0]


@cache
def cloud_places() -> tuple[Place, ...]:
    """Regions of clouds in the last year that is known of each, cleanest first."""
    newest: dict[str, Place] = {}
    for place in places():
        if place.of in CLOUDS and (place.name not in newest or newest[place.name].year < place.year):
            newest[place.name] = place
    return tuple(sorted(newest.values(), key=lambda place: place.grams_per_kwh))


@cache
def middle_intensity() -> float:
    """Grams a kWh in the middle of the regions of clouds."""
    return median(place.grams_per_kwh for place in cloud_places())
