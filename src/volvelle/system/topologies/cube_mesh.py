"""Hybrid cube mesh: eight chips, each wired to four others by one or two of its six links (DGX-1)."""

from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.quantities import Count, Fraction
from volvelle.system.topologies.base import AbstractTopology

# Links that all rings of the first so many chips (and more, up to the next entry) use together, out of six: 0-3, 1-2,
# 2-3, 0-4 and 1-5 are double, the others single. Four chips hold two rings, run both ways; five and six have to pass a
# single link.
_RING_LINKS = ((2, 2.0), (4, 4.0), (5, 2.0), (7, 4.0), (8, 6.0))


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
