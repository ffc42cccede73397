"""What a step costs in energy and money."""

from dataclasses import dataclass

from volvelle.estimators.result import TrainingEstimate
from volvelle.laws.energy import run_energy
from volvelle.laws.price import owned_price
from volvelle.quantities import Dollars, Fraction, Joules, Number, Seconds
from volvelle.system.cluster import Cluster

__all__ = ["CostAssumptions", "Costs", "step_costs"]

_YEAR = 31_557_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CostAssumptions:
    """What no catalogue can know of one's own machine; stated with every figure."""

    life: Seconds = 4 * _YEAR
    use: Fraction = 0.8
    """Share of its life in which the machine is used."""
    overhead: Fraction = 0.5
    """Price of hosts and network over that of the chips."""
    energy_price: Number = 0.10 / 3.6e6
    """Dollars a joule."""
    load: Fraction = 0.85
    """Mean power of a busy chip over its rated power."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Energy and money of one step; None where the catalogue lacks what it takes."""

    energy: Joules | None
    dollars: Dollars | None
    assumptions: CostAssumptions
    missing: tuple[str, ...]


def step_costs(estimate: TrainingEstimate, system: Cluster, assumptions: CostAssumptions | None = None) -> Costs:
    """Energy and money of the step that was estimated."""
    given = assumptions or CostAssumptions()
    chip = system.chip
    missing = tuple(f"{chip.name}: {name}" for name in ("power", "price") if getattr(chip, name) is None)
    if chip.power is None:
        return Costs(energy=None, dollars=None, assumptions=given, missing=missing)
    energy = run_energy(
        estimate.time,
        system.accelerators,
        chip_power=chip.power,
        host_power=system.host_power,
        load=given.load,
        pue=system.pue,
    )
    if chip.price is None:
        return Costs(energy=float(energy), dollars=None, assumptions=given, missing=missing)
    dollars = owned_price(
        estimate.time,
        system.accelerators,
        chip_price=chip.price,
        life=given.life,
        energy=energy,
        energy_price=given.energy_price,
        overhead=given.overhead,
        use=given.use,
    )
    return Costs(energy=float(energy), dollars=float(dollars), assumptions=given, missing=missing)
