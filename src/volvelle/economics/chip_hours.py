"""What hours of chips cost: rented by the hour, or owned whether or not they are on; and what they draw."""

from dataclasses import dataclass, replace

from volvelle.domains import RENT, check_fields, number
from volvelle.economics.cost_breakdown import cost_breakdown
from volvelle.economics.price_book import ListPrices
from volvelle.economics.step_cost import CostAssumptions, TimedStep, owned_parts, step_costs
from volvelle.laws.price import rented_price
from volvelle.system.cluster import Cluster

_HOUR = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipHours:
    """Prices of one chip of a machine; None where neither the catalogue nor anybody else says."""

    watts: float | None
    """At the meter, of a chip that is on, with its host."""
    chip_price: float | None
    standing: float | None = None
    """Dollars per second of owning the chip with its host, network and plant, whether or not it is on."""
    rent: float | None = number(RENT, None)
    """Dollars an hour."""
    offered: str = ""
    """When that was offered, or by whom it is said."""
    assumptions: CostAssumptions

    def __post_init__(self) -> None:
        check_fields(self, "prices of a chip")

    def joules(self, chip_hours: float) -> float | None:
        """Energy of chips that are on for so many hours in all."""
        return None if self.watts is None else self.watts * _HOUR * chip_hours

    def rented(self, chip_hours: float) -> float | None:
        """Dollars for so many hours of a chip."""
        return None if self.rent is None else float(rented_price(_HOUR, chip_hours, per_chip_hour=self.rent))

    def owned(self, chip_hours: float, *, chips: float, hours: float) -> float | None:
        """Dollars for chips that are owned for some hours, and on for so many hours of a chip in all."""
        energy = self.joules(chip_hours)
        if energy is None or self.standing is None:
            return None
        return self.standing * hours * _HOUR * chips + energy * float(self.assumptions.energy_price)


def chip_hours(
    cluster: Cluster,
    *,
    rent: float | None = None,
    offered: str = "",
    price: float | None = None,
    assumptions: CostAssumptions | None = None,
) -> ChipHours:
    """Prices of a chip of a machine; `price` and `rent` where they are known."""
    given = assumptions or CostAssumptions()
    if price is not None:
        cluster = replace(cluster, chip=replace(cluster.chip, price=price))
    power = step_costs(TimedStep(time=1.0, tokens=1.0, chips=cluster.accelerators), cluster, given).power
    own, standing = cluster.chip.price, None
    if own is not None and power is not None:
        owned = cost_breakdown(owned_parts(cluster, chips=1.0), ListPrices(overhead=given.overhead), given)
        standing = float(owned.dollars_per_second - owned.power * given.energy_price)
    return ChipHours(
        watts=None if power is None else float(power) / cluster.accelerators,
        chip_price=None if own is None else float(own),
        standing=standing,
        rent=rent,
        offered=offered,
        assumptions=given,
    )
