"""What a step costs in energy and money."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from volvelle.domains import EXTRA, LIFE, NO_SHARE, POWER_PRICE, number, within_domains
from volvelle.economics.cost_breakdown import Terms, cost_breakdown
from volvelle.economics.machine_power import power_in_use, total
from volvelle.economics.price_book import ListPrices
from volvelle.economics.usual_terms import (
    USUAL_INTEREST,
    USUAL_MAINTENANCE,
    USUAL_OVERHEAD,
    USUAL_PLANT_LIFE,
    USUAL_PLANT_PRICE,
)
from volvelle.estimators.result import Range
from volvelle.estimators.uncertainty import Samples
from volvelle.quantities import Dollars, Fraction, Joules, Number, Seconds, Watts
from volvelle.system.cluster import Cluster
from volvelle.system.inventory import Inventory


@dataclass(frozen=True, slots=True, kw_only=True)
class CostAssumptions(Terms):
    """The terms of owning a machine, with the price of hosts and network over the price of its chips."""

    overhead: Fraction = number(EXTRA, USUAL_OVERHEAD)
    """Price of hosts and network over the price of the chips."""
    plant_price: Number | None = number(POWER_PRICE, USUAL_PLANT_PRICE)
    """Building, power and cooling, dollars per watt of rated power; None: they are not paid for."""
    plant_life: Seconds = number(LIFE, USUAL_PLANT_LIFE)
    interest: Fraction = number(NO_SHARE, USUAL_INTEREST)
    """Per year."""
    maintenance: Fraction = number(NO_SHARE, USUAL_MAINTENANCE)
    """Operation and maintenance per year, over the purchase price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Energy and money of one step; None where the catalogue lacks what it takes."""

    energy: Joules | None
    dollars: Dollars | None
    assumptions: CostAssumptions
    missing: tuple[str, ...]
    power: Watts | None = None
    """At the meter, on average."""
    ranges: Mapping[str, Range] = field(default_factory=dict)
    """Where they lie when inputs vary, by name: energy, power, dollars."""


class Timed(Protocol):
    """A step whose time is known: an estimate of it, or the time alone."""

    @property
    def time(self) -> float:
        """Seconds a step."""

    @property
    def tokens(self) -> float:
        """A step."""

    @property
    def chips(self) -> int:
        """That work on it."""

    @property
    def ranges(self) -> Mapping[str, Range]:
        """Of its figures, as far as they are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedStep:
    """A step of which only the time is known."""

    time: float
    tokens: float
    chips: int
    ranges: Mapping[str, Range] = field(default_factory=dict)


@within_domains
def step_costs(
    estimate: Timed,
    system: Cluster,
    assumptions: CostAssumptions | None = None,
    *,
    samples: Samples | None = None,
) -> Costs:
    """Energy and money of the step that was estimated; with the samples behind it, their ranges too."""
    given = assumptions or CostAssumptions()
    chip = system.chip
    missing = tuple(f"{chip.name}: {name}" for name in ("power", "price") if getattr(chip, name) is None)
    names = ("power", "energy", "dollars")
    central = [None if value is None else float(value) for value in _costs(estimate.time, system, given)]
    power, energy, dollars = central
    ranges = {}
    if samples is not None:
        for name, column, value in zip(names, _costs(samples.time, samples.system, given), central, strict=True):
            if column is not None and value is not None:
                sampled = samples.cost_range(name, np.broadcast_to(column, samples.time.shape))
                ranges[name] = sampled.holding(value)
    return Costs(energy=energy, dollars=dollars, assumptions=given, missing=missing, power=power, ranges=ranges)


def owned_parts(system: Cluster, *, chips: Number | None = None) -> Inventory:
    """Return the parts of a machine that ownership is paid by: chips, their hosts and their power, no cables."""
    chip = system.chip
    return Inventory(
        name=system.name,
        chip=chip.name,
        chips=float(system.accelerators) if chips is None else chips,
        memory=chip.memory.name,
        memory_rate=chip.memory.rate,
        memory_capacity=chip.memory.capacity,
        networks=(),
        chip_price=chip.price,
        chip_power=chip.power,
        host_power=system.host_watts,
        pue=system.pue,
    )


def _costs(
    time: Seconds, system: Cluster, given: CostAssumptions
) -> tuple[Watts | None, Joules | None, Dollars | None]:
    """Return power, energy and money of a step that takes so long; time and numbers of the machine may be columns."""
    chip, parts = system.chip, owned_parts(system)
    if chip.power is None:
        return None, None, None
    prices = ListPrices(overhead=given.overhead)
    if chip.price is None:
        watts = total(
            power_in_use(
                prices.power_by_part(parts),
                load=given.load,
                host_load=given.host_load,
                pue=parts.pue if given.pue is None else given.pue,
                conversion=given.conversion,
            )
        )
        return watts, watts * time, None
    owned = cost_breakdown(parts, prices, given)
    step = owned.step(time)
    return owned.power, step.energy, step.dollars
