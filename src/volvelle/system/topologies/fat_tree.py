"""Fat tree: levels of switches, thinned by oversubscription above the leaves."""

from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.domains import check_fields
from volvelle.errors import DescriptionError
from volvelle.quantities import Count, Fraction, Number
from volvelle.system.routing import Rule
from volvelle.system.topologies.base import AbstractTopology, doublings, island_share
from volvelle.system.wirings.tree import Tree


@final
@dataclass(frozen=True, slots=True)
class FatTree(AbstractTopology):
    """A folded Clos network of switches with `radix` ports; 1/oversubscription of a leaf's rate goes up."""

    radix: int = 64
    oversubscription: Number = 1.0

    def __post_init__(self) -> None:
        check_fields(self, "fat tree")
        if self.radix < 2 or np.any(np.asarray(self.oversubscription) < 1):
            raise DescriptionError(f"a fat tree needs a radix of 2 or more and an oversubscription ≥ 1, not {self}")

    def _levels(self, chips: Count) -> Count:
        """Switch levels: leaves hold radix/2 chips (one level alone: radix)."""
        half = self.radix / 2.0
        return np.asarray(np.maximum(1.0, np.ceil(np.log(np.maximum(chips, 1.0) / 2.0) / np.log(half) - 1e-9)))

    def steps(self, chips: Count) -> Count:
        """Recursive halving or doubling."""
        return doublings(chips)

    def bisection(self, chips: Count) -> Fraction:
        """Full under one switch, thinned above."""
        return np.where(chips <= self.radix, 1.0, 1.0 / self.oversubscription)

    def evenly(self, chips: Count) -> Fraction:
        """What leaves a leaf: all but its own share of what its chips send."""
        leaf = island_share(chips, island=self.radix / 2.0, leaving=1.0 / np.asarray(self.oversubscription))
        return np.where(chips <= self.radix, 1.0, leaf)

    def diameter(self, chips: Count) -> Count:
        """Up and down every level."""
        return 2.0 * self._levels(chips)

    def links(self, chips: Count) -> Count:
        """A cable a chip at the first level, thinned above."""
        return chips * (1.0 + (self._levels(chips) - 1.0) / self.oversubscription)

    def switch_ports(self, chips: Count) -> Count:
        """Both ends of every cable but the chips' own."""
        return chips * (1.0 + 2.0 * (self._levels(chips) - 1.0) / self.oversubscription)

    def wiring(self, units: int, rule: Rule) -> Tree:
        """Leaves of half a radix, thinned above them."""
        levels = round(float(self._levels(float(units))))
        return Tree(units, levels, self.radix // 2, float(self.oversubscription), rule)

    def chooses(self, units: int) -> bool:
        """Above the leaves."""
        return units > self.radix
