"""Fully connected: a direct link between every two chips."""

from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.quantities import Count, Fraction
from volvelle.system.routing import Rule
from volvelle.system.topologies.base import AbstractTopology
from volvelle.system.wirings.crossbar import AllPairs


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

    def wiring(self, units: int, rule: Rule) -> AllPairs:
        """A link for every two, each way."""
        return AllPairs(units)

    def chooses(self, units: int) -> bool:
        """The shortest way is the link of their own."""
        return False

    def rings(self, units: int) -> list[list[int]]:
        """Walecki's zigzags, both ways; of an even number one link of each unit is left over."""
        if units < 3:
            return [list(range(units))]
        even = units % 2 == 0
        turning = units - 2 if even else units - 1
        half = turning // 2
        steps = [sign * step for step in range(1, half + 1) for sign in (1, -1)]
        zigzag = [0, *steps[: turning - 1]]
        found = []
        for turn in range(half):
            ring = [(place + turn) % turning for place in zigzag]
            if even:
                # The link straight across is a different one in every ring: the last unit is put between its ends.
                across = next(at for at in range(turning - 1) if (ring[at + 1] - ring[at]) % turning == half)
                ring.insert(across + 1, units - 1)
            ring.append(turning)
            found += [ring, ring[::-1]]
        return found
