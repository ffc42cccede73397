"""Fully connected: a direct link between every two chips."""

from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.quantities import Count, Fraction
from volvelle.system.topologies.base import AbstractTopology


@final
@dataclass(frozen=True, slots=True)
class FullyConnected(AbstractTopology):
    """A chip's rate is shared evenly over its links to all the others."""

    def steps(self, chips: Count) -> Count:
        """Everything at once."""
        return np.minimum(1.0, chips - 1.0)

    def bisection(self, chips: Count) -> Fraction:
        """p/2 · p/2 links of 1/(p−1) of a chip's rate, for p/2 chips."""
        return np.minimum(1.0, chips / 2.0 / np.maximum(chips - 1.0, 1.0))

    def diameter(self, chips: Count) -> Count:
        """One link."""
        return np.minimum(1.0, chips - 1.0)

    def links(self, chips: Count) -> Count:
        """One for every pair."""
        return chips * (chips - 1.0) / 2.0

    def switch_ports(self, chips: Count) -> Count:
        """None."""
        return 0.0 * chips
