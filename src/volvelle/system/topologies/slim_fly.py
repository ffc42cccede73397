"""Slim Fly: routers of a McKay–Miller–Širáň graph, any two at most two links apart (Besta & Hoefler 2014)."""

from dataclasses import dataclass
from itertools import count, takewhile
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import check_fields
from volvelle.errors import DescriptionError
from volvelle.system.topologies.router_graph import RouterGraph, fitting, is_prime_power
from volvelle.system.wirings.finite_field import field_tables, primitive_powers


@final
@dataclass(frozen=True, slots=True)
class SlimFly(RouterGraph):
    """2q² routers of degree (3q − δ)/2 for a prime power q = 4w + δ, each with `concentration` chips.

    Section II-B of the paper; half a degree of chips, rounded up, is as many as uniform traffic has room for.
    """

    paper: ClassVar[str] = "besta2014slimfly"
    q: int
    concentration: int

    def __post_init__(self) -> None:
        check_fields(self, "Slim Fly")
        if not is_prime_power(self.q) or self.q < 3 or self.q % 4 == 2:
            raise DescriptionError(f"a Slim Fly needs a prime power q of 3 or more, like 5, 7 or 19, not {self.q}")
        if not 1 <= self.concentration <= -(-self.degree // 2):
            raise DescriptionError(
                f"a router of a Slim Fly of q = {self.q} has 1 to {-(-self.degree // 2)} chips, not "
                f"{self.concentration}: more would not fit its links"
            )

    @classmethod
    def holding(cls, size: int) -> Self:
        """The smallest of exactly so many chips."""
        orders = (q for q in takewhile(lambda q: q * q <= 2 * size + 64, count(3)) if is_prime_power(q))
        return cls(*fitting(size, ((q, 2 * q * q, -(-_degree(q) // 2)) for q in orders), name="Slim Fly"))

    @property
    def routers(self) -> int:
        """Two blocks of q²."""
        return 2 * self.q**2

    @property
    def degree(self) -> int:
        """(3q − δ)/2."""
        return _degree(self.q)

    @property
    def hops(self) -> int:
        """Two."""
        return 2

    @property
    def cut(self) -> float:
        """q³/2: the degree and the second eigenvalue (q − δ)/2 are q apart, times a quarter of the routers."""
        return self.q**3 / 2.0

    def joined(self) -> NDArray[np.float64]:
        """Columns of each block by differences that are even and odd powers; blocks by lines y = m x + c."""
        sums, products = field_tables(self.q)
        powers, q = primitive_powers(products), self.q
        even, odd = _differences(q)
        each = np.arange(q)
        column = np.zeros((2, q, q))
        for block, taken in enumerate((even, odd)):
            for power in taken:
                column[block, each, sums[each, powers[power % (q - 1)]]] = 1.0
        whole = np.zeros((2, q, q, 2, q, q))
        for x in range(q):
            whole[0, x, :, 0, x, :], whole[1, x, :, 1, x, :] = column
            for m in range(q):
                y = sums[products[m, x], each]
                whole[0, x, y, 1, m, each] = whole[1, m, each, 0, x, y] = 1.0
        return whole.reshape(self.routers, self.routers)


def _degree(q: int) -> int:
    remainder = {0: 0, 1: 1, 3: -1}[q % 4]
    return (3 * q - remainder) // 2


def _differences(q: int) -> tuple[list[int], list[int]]:
    """Powers of a primitive element by which routers of a column differ, in either block (Hafner's sets).

    Each set holds the negative of all it holds: of q = 4w − 1 it changes from even to odd powers half-way.
    """
    if q % 4 != 3:
        return list(range(0, q - 1, 2)), list(range(1, q if q % 4 == 0 else q - 1, 2))
    w = (q + 1) // 4
    even = [*range(0, 2 * w - 1, 2), *range(2 * w - 1, 4 * w - 2, 2)]
    odd = [*range(1, 2 * w, 2), *range(2 * w, 4 * w - 1, 2)]
    return even, odd
