"""Hybrid cube mesh: eight chips, each wired to four others by one or two of its six links (DGX-1)."""

from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.errors import DescriptionError
from volvelle.quantities import Count, Fraction
from volvelle.system.routing import Rule
from volvelle.system.topologies.base import AbstractTopology
from volvelle.system.wirings.graph import Graph

# Links that all rings of the first so many chips (and more, up to the next entry) use together, out of six: 0-3, 1-2,
# 2-3, 0-4 and 1-5 are double, the others single. Four chips hold two rings, run both ways; five and six have to pass a
# single link.
_RING_LINKS = ((2, 2.0), (4, 4.0), (5, 2.0), (7, 4.0), (8, 6.0))

_CHIPS = 8
_TWICE, _ONCE = (0, 3, 2, 1, 5, 6, 7, 4), (0, 1, 3, 7, 5, 4, 6, 2)
"""Around double links, and around single ones."""


@final
@dataclass(frozen=True, slots=True)
class CubeMesh(AbstractTopology):
    """A part of the mesh reaches only as many links as it can thread into rings."""

    def steps(self, chips: Count) -> Count:
        """Once around, less one."""
        return chips - 1.0

    def bisection(self, chips: Count) -> Fraction:
        """Six links join the two halves of eight chips, a quarter of what four chips inject."""
        return np.minimum(1.0, 2.0 / np.maximum(chips, 1.0))

    def diameter(self, chips: Count) -> Count:
        """Two links reach everybody."""
        return np.minimum(2.0, chips - 1.0)

    def neighbourly(self, chips: Count) -> Fraction:
        """Links threaded into rings, of six; a pair is taken to be one that two links join."""
        links: Count = 6.0
        for least, threaded in _RING_LINKS:
            links = np.where(chips >= least, threaded, links)
        return links / 6.0

    def links(self, chips: Count) -> Count:
        """Three a chip: six ends each."""
        return 3.0 * chips

    def switch_ports(self, chips: Count) -> Count:
        """None."""
        return 0.0 * chips

    def wiring(self, units: int, rule: Rule) -> Graph:
        """Links of the first so many of eight chips."""
        if units > _CHIPS:
            raise DescriptionError(f"a hybrid cube mesh has {_CHIPS} chips, not {units}; take another topology")
        joined = np.zeros((_CHIPS, _CHIPS))
        for ring, links in ((_TWICE, 2.0), (_ONCE, 1.0)):
            for one, other in zip(ring, (*ring[1:], ring[0]), strict=True):
                joined[one, other] = joined[other, one] = links / 6.0
        return Graph(units, 1, joined[:units, :units], rule)

    def rings(self, units: int) -> list[list[int]]:
        """Of eight chips: twice around the double links and once around the single ones, both ways."""
        if units < _CHIPS:
            return [list(range(units))]
        ways = [list(ring) for ring in (_TWICE, _TWICE, _ONCE)]
        return [order for ring in ways for order in (ring, ring[::-1])]
