"""PolarFly: routers of an Erdős–Rényi polarity graph, any two at most two links apart (Lakhotia et al. 2022)."""

from dataclasses import dataclass
from itertools import count, takewhile
from math import sqrt
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import check_fields
from volvelle.errors import DescriptionError
from volvelle.system.topologies.router_graph import RouterGraph, fitting, is_prime_power
from volvelle.system.wirings.finite_field import field_tables


@final
@dataclass(frozen=True, slots=True)
class PolarFly(RouterGraph):
    """q² + q + 1 routers of degree q + 1 (q + 1 of them have one less) for a prime power q.

    By the construction of the paper; half a degree of chips, rounded up, is as many as uniform traffic has room for.
    """

    paper: ClassVar[str] = "lakhotia2022polarfly"
    q: int
    concentration: int

    def __post_init__(self) -> None:
        check_fields(self, "PolarFly")
        if not is_prime_power(self.q):
            raise DescriptionError(f"a PolarFly needs a prime power q, like 7, 13 or 31, not {self.q}")
        if not 1 <= self.concentration <= -(-(self.q + 1) // 2):
            raise DescriptionError(
                f"a router of a PolarFly of q = {self.q} has 1 to {-(-(self.q + 1) // 2)} chips, not "
                f"{self.concentration}: more would not fit its links"
            )

    @classmethod
    def holding(cls, size: int) -> Self:
        """The smallest of exactly so many chips."""
        orders = (q for q in takewhile(lambda q: q * q <= 4 * size + 64, count(2)) if is_prime_power(q))
        return cls(*fitting(size, ((q, q * q + q + 1, -(-(q + 1) // 2)) for q in orders), name="PolarFly"))

    @property
    def routers(self) -> int:
        """Points of a projective plane."""
        return self.q**2 + self.q + 1

    @property
    def degree(self) -> float:
        """The mean: all links are q (q + 1)²/2."""
        return self.q * (self.q + 1) ** 2 / self.routers

    @property
    def hops(self) -> int:
        """Two."""
        return 2

    @property
    def cut(self) -> float:
        """The degree and the second eigenvalue √q are q + 1 − √q apart, times a quarter of the routers."""
        return (self.q + 1 - sqrt(self.q)) * self.routers / 4.0

    def joined(self) -> NDArray[np.float64]:
        """Points of the projective plane over the field of q, joined where they are orthogonal."""
        sums, products = field_tables(self.q)
        each = range(self.q)
        points = np.array([(1, y, z) for y in each for z in each] + [(0, 1, z) for z in each] + [(0, 0, 1)])
        x, y, z = (products[points[:, axis][:, None], points[:, axis][None, :]] for axis in range(3))
        whole: NDArray[np.float64] = (sums[sums[x, y], z] == 0).astype(float)
        np.fill_diagonal(whole, 0.0)
        return whole
