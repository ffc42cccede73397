"""Switch: every chip on one non-blocking switch."""

from dataclasses import dataclass
from typing import final

from volvelle.quantities import Count, Fraction
from volvelle.system.routing import Rule
from volvelle.system.topologies.base import AbstractTopology, doublings
from volvelle.system.wirings.crossbar import Crossbar


@final
@dataclass(frozen=True, slots=True)
class Switch(AbstractTopology):
    """Any chip to any chip at full rate."""

    def steps(self, chips: Count) -> Count:
        """Recursive halving or doubling."""
        return doublings(chips)

    def bisection(self, chips: Count) -> Fraction:
        """Full."""
        return 1.0 + 0.0 * chips

    def diameter(self, chips: Count) -> Count:
        """To the switch and back."""
        return 2.0 + 0.0 * chips

    def links(self, chips: Count) -> Count:
        """One a chip."""
        return 1.0 * chips

    def switch_ports(self, chips: Count) -> Count:
        """One a chip."""
        return 1.0 * chips

    def wiring(self, units: int, rule: Rule) -> Crossbar:
        """Ports alone."""
        return Crossbar(units)

    def chooses(self, units: int) -> bool:
        """There is one way."""
        return False
