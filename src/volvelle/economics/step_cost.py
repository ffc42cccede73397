"""What a step costs in energy and money."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from volvelle.domains import ENERGY_PRICE, EXTRA, LIFE, SHARE, check_fields, number, within_domains
from volvelle.economics.usual_terms import CHIP_LOAD, HOST_LOAD, USUAL_ENERGY_PRICE, USUAL_LIFE, USUAL_USE
from volvelle.estimators.result import Range
from volvelle.estimators.uncertainty import Samples
from volvelle.laws.energy import run_energy
from volvelle.laws.price import owned_price
from volvelle.quantities import Dollars, Fraction, Joules, Number, Seconds, Watts
from volvelle.system.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class CostAssumptions:
    """What no catalogue can know of one's own machine; stated with every figure."""

    life: Seconds = number(LIFE, USUAL_LIFE)
    use: Fraction = number(SHARE, USUAL_USE)
    """Share of its life in which the machine is used."""
    overhead: Fraction = number(EXTRA, 0.5)
    """Price of hosts and network over that of the chips."""
    energy_price: Number = number(ENERGY_PRICE, USUAL_ENERGY_PRICE)
    """Dollars a joule."""
    load: Fraction = number(SHARE, CHIP_LOAD)
    """Mean power of a busy chip over its rated power."""
    host_load: Fraction = number(SHARE, HOST_LOAD)
    """Mean power of its host, fans and network over theirs: a node of eight H100 was measured at 76 % of its rating."""

    def __post_init__(self) -> None:
        check_fields(self, "cost assumptions")


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


def _costs(
    time: Seconds, system: Cluster, given: CostAssumptions
) -> tuple[Watts | None, Joules | None, Dollars | None]:
    """Power, energy and money of a step that takes so long; time and the machine's numbers may be columns."""
    chip = system.chip
    if chip.power is None:
        return None, None, None
    energy = run_energy(
        time,
        system.accelerators,
        chip_power=chip.power,
        host_power=system.host_power,
        load=given.load,
        host_load=given.host_load,
        pue=system.pue,
    )
    if chip.price is None:
        return energy / time, energy, None
    dollars = owned_price(
        time,
        system.accelerators,
        chip_price=chip.price,
        life=given.life,
        energy=energy,
        energy_price=given.energy_price,
        overhead=given.overhead,
        use=given.use,
    )
    return energy / time, energy, dollars
