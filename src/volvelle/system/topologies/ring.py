"""Ring: each chip has two neighbours."""

from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.quantities import Count, Fraction
from volvelle.system.routing import Rule
from volvelle.system.topologies.base import AbstractTopology
from volvelle.system.wirings.grid import Grid


@final
@dataclass(frozen=True, slots=True)
class Ring(AbstractTopology):
    """Half of a chip's rate to each neighbour."""

    def steps(self, chips: Count) -> Count:
        """Once around, less one."""
        return chips - 1.0

    def bisection(self, chips: Count) -> Fraction:
        """Two cut links of half a chip's rate each, for half the chips."""
        return np.minimum(1.0, 2.0 / np.maximum(chips, 1.0))

    def diameter(self, chips: Count) -> Count:
        """Half around."""
        return np.floor(chips / 2.0)

    def links(self, chips: Count) -> Count:
        """One a chip (a ring of two is one link, of one none)."""
        return np.where(np.asarray(chips) > 2, chips, np.asarray(chips) - 1.0)

    def switch_ports(self, chips: Count) -> Count:
        """None."""
        return 0.0 * chips

    def wiring(self, units: int, rule: Rule) -> Grid:
        """Links to both neighbours."""
        return Grid((units,), rule)

    def chooses(self, units: int) -> bool:
        """The unit right across can be reached both ways."""
        return units > 2 and units % 2 == 0

    def rings(self, units: int) -> list[list[int]]:
        """One each way; two units have but one."""
        units_up = list(range(units))
        return [units_up, units_up[::-1]] if units > 2 else [units_up]
