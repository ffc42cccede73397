"""Dragonfly: groups that are fully connected inside, and fully connected with each other (Kim et al. 2008)."""

from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.domains import check_fields
from volvelle.errors import DescriptionError
from volvelle.quantities import Count, Fraction
from volvelle.system.routing import Rule
from volvelle.system.topologies.base import AbstractTopology, doublings, island_share
from volvelle.system.wirings.groups import Groups


@final
@dataclass(frozen=True, slots=True)
class Dragonfly(AbstractTopology):
    """Groups of `group` chips; `taper` of a group's injection rate leaves it."""

    group: int
    taper: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self, "dragonfly")
        if self.group < 1 or not 0 < self.taper <= 1:
            raise DescriptionError(f"a dragonfly needs a positive group and a taper in (0, 1], not {self}")

    def steps(self, chips: Count) -> Count:
        """Recursive halving or doubling, over at most three hops."""
        return doublings(chips)

    def bisection(self, chips: Count) -> Fraction:
        """Full inside one group; half of what leaves each group crosses, with minimal routing."""
        return np.where(chips <= self.group, 1.0, self.taper)

    def evenly(self, chips: Count) -> Fraction:
        """What leaves a group: all but its own share of what its chips send."""
        return np.where(chips <= self.group, 1.0, island_share(chips, island=self.group, leaving=self.taper))

    def diameter(self, chips: Count) -> Count:
        """Out of the group, across, into the other."""
        return np.where(chips <= self.group, 2.0, 5.0)

    def neighbourly(self, chips: Count) -> Fraction:
        """A ring leaves each group once, so local links carry it."""
        return 1.0 + 0.0 * chips

    def links(self, chips: Count) -> Count:
        """Chips to routers, and a link for every two groups for every `group` chips' share of the taper."""
        groups = np.ceil(chips / float(self.group))
        return chips + groups * self.group * self.taper / 2.0 * (groups > 1)

    def switch_ports(self, chips: Count) -> Count:
        """One a chip, its share of local links, and of global ones."""
        groups = np.ceil(chips / float(self.group))
        return chips + groups * self.group * self.taper * (groups > 1)

    def wiring(self, units: int, rule: Rule) -> Groups:
        """Routers in groups."""
        return Groups(units, self.group, self.taper, rule)
