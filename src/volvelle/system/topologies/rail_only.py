"""Rail-only: chips of the same place in every unit are joined, no others (Wang et al. 2023)."""

from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from volvelle.domains import check_fields
from volvelle.errors import DescriptionError
from volvelle.quantities import Count, Fraction
from volvelle.system.routing import Rule
from volvelle.system.topologies.base import HoldingTopology, doublings
from volvelle.system.wirings.tree import Tree


@final
@dataclass(frozen=True, slots=True)
class RailOnly(HoldingTopology):
    """A rail for every place in a unit, each a switch of `radix` ports, or two levels of them; nothing between rails.

    As the paper draws it. What is meant for a chip on another rail is forwarded inside a unit: an all-to-all over
    nested dimensions sends it that way, and pays the inner dimension for it.
    """

    paper: ClassVar[str] = "wang2023railonly"
    radix: int = 64

    def __post_init__(self) -> None:
        check_fields(self, "rail-only network")
        if self.radix < 2:
            raise DescriptionError(f"a rail needs switches of 2 ports or more, not {self.radix}")

    @classmethod
    def holding(cls, size: int) -> Self:
        """Rails for so many units, as far as two levels of switches reach."""
        most = cls().radix ** 2 // 2
        if size > most:
            raise DescriptionError(
                f"a rail of two levels of switches joins at most {most:,} units, not {size:,}: take fewer, larger "
                "units (scale_up.size), or another topology"
            )
        return cls()

    def _levels(self, chips: Count) -> Count:
        return np.where(np.asarray(chips) <= self.radix, 1.0, 2.0)

    def steps(self, chips: Count) -> Count:
        """Recursive halving or doubling along a rail."""
        return doublings(chips)

    def bisection(self, chips: Count) -> Fraction:
        """Full along every rail."""
        return 1.0 + 0.0 * chips

    def diameter(self, chips: Count) -> Count:
        """Up and down every level of a rail; one more inside a unit, where the rail has to be changed, is not its."""
        return 2.0 * self._levels(chips)

    def links(self, chips: Count) -> Count:
        """A cable a chip, and as many between two levels."""
        return chips * self._levels(chips)

    def switch_ports(self, chips: Count) -> Count:
        """One a chip, and both ends of cables between two levels."""
        return chips * (2.0 * self._levels(chips) - 1.0)

    def wiring(self, units: int, rule: Rule) -> Tree:
        """One switch, or leaves and spines."""
        return Tree(units, 1 if units <= self.radix else 2, self.radix // 2, 1.0, rule)

    def chooses(self, units: int) -> bool:
        """Above the leaves of a rail."""
        return units > self.radix
