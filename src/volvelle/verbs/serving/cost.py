"""What a million output tokens cost, on chips of one machine or of several."""

from collections.abc import Iterable
from dataclasses import dataclass

from volvelle.catalogue.prices import owned_costs
from volvelle.catalogue.rents import rent_of
from volvelle.economics.step_cost import TimedStep
from volvelle.system.cluster import Cluster

_MILLION = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingCost:
    """Dollars a million output tokens; None where the catalogue lacks what it takes."""

    owned: float | None
    """Of all chips that are used, written off over their life, with energy."""
    rented: float | None
    """At the rent of such chips by the hour."""
    rent_offered: str = ""
    """What the rent is: whose list prices, and from when."""


def token_cost(throughput: float | None, used: Iterable[tuple[Cluster, int]]) -> ServingCost | None:
    """Of a million output tokens, with so many chips of each machine; None: nothing comes out."""
    if not throughput:
        return None
    seconds = _MILLION / throughput
    owned: list[float | None] = []
    rented: list[float | None] = []
    offered: dict[str, None] = {}
    for cluster, chips in used:
        dollars = owned_costs(TimedStep(time=seconds, tokens=_MILLION, chips=chips), cluster).dollars
        owned.append(None if dollars is None else float(dollars) * chips / cluster.accelerators)
        rent = rent_of(cluster.chip.name, cluster.name)
        rented.append(None if rent is None else rent.dollars_per_hour * chips * seconds / 3600.0)
        if rent is not None:
            offered[rent.rate_words] = None
    return ServingCost(owned=_sum(owned), rented=_sum(rented), rent_offered=", ".join(offered))


def _sum(parts: list[float | None]) -> float | None:
    """Of all parts; None where one is not known."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
