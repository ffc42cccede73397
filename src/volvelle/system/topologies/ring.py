"""Ring: each chip has two neighbours."""

from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.quantities import Count, Fraction
from volvelle.system.topologies.base import AbstractTopology


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
