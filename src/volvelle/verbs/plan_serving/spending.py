"""What an hour of a chip is worth to whoever asks: dollars, watts, or the chip itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from volvelle.catalogue.prices import owned_costs
from volvelle.catalogue.rents import rent_of
from volvelle.economics.step_cost import TimedStep
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.system.cluster import Cluster

Purpose = Literal["dollars", "chips", "watts"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
_HOUR = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipHour:
    """Of one chip of a machine, with its share of hosts and network; None: not known."""

    owned: float | None
    """Dollars, written off over its life, with energy."""
    rented: float | None
    """Dollars of rent."""
    watts: float | None
    """At the meter."""
    rent_offered: str = ""
    """Whose list prices the rent is, and from when."""


def chip_hour(cluster: Cluster) -> ChipHour:
    """What the catalogue says of a chip of a machine."""
    costs = owned_costs(TimedStep(time=_HOUR, tokens=1.0, chips=cluster.accelerators), cluster)
    rent = rent_of(cluster.chip.name, cluster.name)
    return ChipHour(
        owned=None if costs.dollars is None else float(costs.dollars) / cluster.accelerators,
        rented=None if rent is None else rent.dollars_per_hour,
        rent_offered="" if rent is None else rent.rate_words,
        watts=None if costs.power is None else float(costs.power) / cluster.accelerators,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What is to be least: the same for all machines that are considered."""

    purpose: Purpose
    basis: str
    """In words: chips, W at the meter, USD/h owned or USD/h rented."""
    of_chip: tuple[float, ...]
    """Of one chip of each machine."""
    note: str = ""


def spending(purpose: str, clusters: Sequence[Cluster]) -> Spending:
    """What is to be least, of machines whose chips have it all; owned hardware is preferred to rented."""
    if purpose not in PURPOSES:
        raise UnknownNameError.among("thing to spend least of", purpose, PURPOSES)
    if purpose == "chips":
        return Spending(purpose="chips", basis="chips", of_chip=tuple(1.0 for _ in clusters))
    hours = [chip_hour(cluster) for cluster in clusters]
    columns = {"W at the meter": [hour.watts for hour in hours]}
    if purpose == "dollars":
        columns = {"USD/h owned": [hour.owned for hour in hours], "USD/h rented": [hour.rented for hour in hours]}
    for basis, column in columns.items():
        values = [value for value in column if value is not None]
        if len(values) == len(clusters):
            return Spending(purpose="watts" if purpose == "watts" else "dollars", basis=basis, of_chip=tuple(values))
    if len({cluster.chip.name for cluster in clusters}) == 1:
        told = f"{purpose} of {clusters[0].chip.name} are not known, so fewest chips are looked for"
        return Spending(purpose="chips", basis="chips", of_chip=tuple(1.0 for _ in clusters), note=told)
    unknown = next(cluster.chip.name for cluster, hour in zip(clusters, hours, strict=True) if hour.owned is None)
    raise DescriptionError(
        f"{purpose} of {unknown} are not in the catalogue, so machines cannot be compared by them; ask with --for chips"
    )
