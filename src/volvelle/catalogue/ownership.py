"""The terms of owning a machine by the price book: one owned price for every command."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from volvelle.catalogue.loader import Catalogue
from volvelle.catalogue.prices import PriceBook
from volvelle.economics.machine_power import total
from volvelle.economics.step_cost import CostAssumptions, Costs, Timed, step_costs
from volvelle.economics.usual_terms import USUAL_OVERHEAD
from volvelle.errors import OutsideDomainError
from volvelle.estimators.uncertainty import Samples
from volvelle.system.cluster import Cluster
from volvelle.system.inventory import Inventory


def owned_costs(estimate: Timed, cluster: Cluster, *, samples: Samples | None = None) -> Costs:
    """Return energy and money of a step on a machine that is owned on the terms of the price book."""
    return step_costs(estimate, cluster, owned_terms(cluster), samples=samples)


def owned_terms(cluster: Cluster) -> CostAssumptions:
    """Return the terms of owning a machine at typical prices, as `cost` has them by the market's prices."""
    book = PriceBook(_catalogue(*cluster.catalogue_folders))
    site = book.terms()
    return CostAssumptions(
        overhead=_overhead(book, cluster),
        energy_price=site.energy_price,
        plant_price=site.plant_price,
        plant_life=site.plant_life,
        interest=site.interest,
        maintenance=site.maintenance,
    )


def _overhead(book: PriceBook, cluster: Cluster) -> float:
    """Return the price of hosts and network over the price of accelerators."""
    chip = cluster.chip
    if chip.price is None or chip.power is None:
        return USUAL_OVERHEAD
    try:
        bought = total(book.market(cluster).capex_by_part(Inventory.of(cluster)))
    except OutsideDomainError:  # a network that the book has no price of
        return USUAL_OVERHEAD
    return float(np.max(np.asarray(bought / (cluster.accelerators * chip.price)))) - 1.0


@lru_cache(maxsize=64)
def _catalogue(*folders: Path) -> Catalogue:
    return Catalogue(*folders)
