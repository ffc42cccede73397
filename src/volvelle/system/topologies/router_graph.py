"""Networks of routers with a few chips each, joined as a graph of small diameter whose size a prime power sets."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError
from volvelle.quantities import Count, Fraction
from volvelle.system.routing import Rule
from volvelle.system.topologies.base import HoldingTopology, doublings
from volvelle.system.wirings.graph import Graph


class RouterGraph(HoldingTopology):
    """Routers of one degree, any two at most `hops` apart, each with `concentration` chips."""

    concentration: int

    @property
    def routers(self) -> int:
        """How many there are."""
        raise NotImplementedError

    @property
    def degree(self) -> float:
        """Links from a router to others; the mean where some have one less."""
        raise NotImplementedError

    @property
    def hops(self) -> int:
        """Most links between two routers."""
        raise NotImplementedError

    @property
    def cut(self) -> float:
        """Links between the halves of all routers, at the least."""
        raise NotImplementedError

    @property
    def chips(self) -> int:
        """All of them."""
        return self.routers * self.concentration

    def joined(self) -> NDArray[np.float64]:
        """Which routers have a link between them: 1, else 0."""
        raise NotImplementedError

    def wiring(self, units: int, rule: Rule) -> Graph:
        """Links of the rate of a chip between routers."""
        if units > self.chips:
            raise DescriptionError(f"a network of {self.chips:,} chips cannot join {units:,} units; take a larger one")
        return Graph(units, self.concentration, self.joined(), rule)

    def steps(self, chips: Count) -> Count:
        """Recursive halving or doubling, over at most a few hops."""
        return doublings(chips)

    def bisection(self, chips: Count) -> Fraction:
        """Full at one router; else links across the worst cut, for half the chips."""
        whole = min(1.0, self.cut / (self.chips / 2.0))
        return np.where(np.asarray(chips) <= self.concentration, 1.0, whole)

    def diameter(self, chips: Count) -> Count:
        """To a router, across, and to the other chip."""
        return np.where(np.asarray(chips) <= self.concentration, 2.0, 2.0 + self.hops)

    def links(self, chips: Count) -> Count:
        """A cable a chip, and half a degree for every router that has chips."""
        used = np.ceil(np.asarray(chips) / self.concentration)
        return chips + used * self.degree / 2.0 * (used > 1)

    def switch_ports(self, chips: Count) -> Count:
        """One a chip, and a degree for every router that has chips."""
        used = np.ceil(np.asarray(chips) / self.concentration)
        return chips + used * self.degree * (used > 1)


def fitting(size: int, family: Iterable[tuple[int, int, int]], *, name: str) -> tuple[int, int]:
    """The first member of a family with exactly so many chips, and its chips at a router.

    A family is what it is made with, its routers and the most chips of one, by growing number of routers.
    """
    below, above = 0, 0
    for member, routers, most in family:
        each, rest = divmod(size, routers)
        if not rest and 1 <= each <= most:
            return member, each
        below = max(below, routers * min(each, most))
        more = routers * (each + 1)
        if each < most and (not above or more < above):
            above = more
    near = " and ".join(f"{count:,}" for count in (below, above) if count)
    raise DescriptionError(
        f"there is no {name} of {size:,} units; the nearest have {near}: take a machine of such a count, or another "
        "topology"
    )


def is_prime_power(number: int) -> bool:
    """Whether a finite field has so many elements."""
    if number < 2:
        return False
    prime = next((d for d in range(2, int(number**0.5) + 1) if number % d == 0), number)
    while number % prime == 0:
        number //= prime
    return number == 1
