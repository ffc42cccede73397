"""What every topology answers. All answers broadcast over the number of chips."""

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from volvelle.quantities import Count, Fraction
from volvelle.system.routing import Rule
from volvelle.system.wirings.wiring import Wiring


class AbstractTopology(ABC):
    """The shape of one network dimension.

    Rates are stated as fractions of what one chip can inject, so that a shape is independent of its links.
    """

    @abstractmethod
    def steps(self, chips: Count) -> Count:
        """Consecutive messages of a reduce-scatter or an all-gather by the algorithm natural to this shape."""

    @abstractmethod
    def bisection(self, chips: Count) -> Fraction:
        """Rate across the worst half-half cut, one direction, over the injection rate of half the chips."""

    def evenly(self, chips: Count) -> Fraction:
        """The half-half cut that would hold up uniform traffic as long as the tightest cut of any size does."""
        return self.bisection(chips)

    @abstractmethod
    def diameter(self, chips: Count) -> Count:
        """Most links a message crosses."""

    @abstractmethod
    def links(self, chips: Count) -> Count:
        """Cables, for pricing: chip to chip or chip to switch, each counted once."""

    @abstractmethod
    def switch_ports(self, chips: Count) -> Count:
        """Ports on switches, for pricing."""

    def resized(self, chips: int) -> Self:
        """The same kind of shape for another number of chips; most know of none."""
        return self

    def neighbourly(self, chips: Count) -> Fraction:
        """Fraction of the injection rate that a well-ordered ring of all chips sustains."""
        return 1.0

    @abstractmethod
    def wiring(self, units: int, rule: Rule) -> Wiring:
        """Directed links among so many units, and the links between any two by a routing rule."""

    def chooses(self, units: int) -> bool:
        """Whether some two of so many units have several shortest ways between them, so that a rule has to choose."""
        return True

    def rings(self, units: int) -> list[list[int]]:
        """Rings through all units that share no link, which together use as much of them as rings can."""
        return [list(range(units))]


class HoldingTopology(AbstractTopology):
    """A shape that there is for some numbers of chips only, made for one of them."""

    @classmethod
    @abstractmethod
    def holding(cls, size: int) -> Self:
        """The smallest of exactly so many chips; refused where there is none."""

    def resized(self, chips: int) -> Self:
        """Made anew."""
        return self.holding(chips)


def doublings(chips: Count) -> Count:
    """Steps in which a group doubles until it holds all chips: log2, rounded up."""
    return np.ceil(np.log2(np.maximum(chips, 1.0)) - 1e-9)


def island_share(chips: Count, *, island: Count, leaving: Fraction) -> Fraction:
    """The half-half cut that holds up uniform traffic as long as the cut around an island does (Dally 2004, 3.3).

    Of what its chips send, all but their own share leaves, at `leaving` of the rate at which they inject.
    """
    return chips * leaving / (2.0 * np.maximum(chips - island, 1.0))
