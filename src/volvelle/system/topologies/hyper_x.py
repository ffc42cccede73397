"""HyperX: routers on a grid, fully connected along every axis (Ahn et al. 2009)."""

from dataclasses import dataclass
from itertools import count, takewhile
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import check_fields
from volvelle.errors import DescriptionError
from volvelle.system.topologies.router_graph import RouterGraph, fitting

_AXES = 2
"""Of a HyperX that is asked for by its size alone."""


@final
@dataclass(frozen=True, slots=True)
class HyperX(RouterGraph):
    """A regular HyperX (L, S, 1, T): S routers along each of L axes, one link between any two of a row, T chips each.

    By the terms of the paper.
    """

    paper: ClassVar[str] = "ahn2009hyperx"
    axes: int
    side: int
    concentration: int

    def __post_init__(self) -> None:
        check_fields(self, "HyperX")
        if min(self.axes, self.concentration) < 1 or self.side < 2:
            raise DescriptionError(
                f"a HyperX needs an axis or more, 2 routers or more along each and a chip or more a router, not {self}"
            )

    @classmethod
    def holding(cls, size: int) -> Self:
        """The smallest with two axes of exactly so many chips whose bisection is full."""
        sides = takewhile(lambda side: side**_AXES <= 4 * size + 64, count(2))
        family = ((side, side**_AXES, side // 2) for side in sides)
        return cls(_AXES, *fitting(size, family, name="HyperX of two axes and full bisection"))

    @property
    def routers(self) -> int:
        """S to the power of L."""
        return int(self.side**self.axes)

    @property
    def degree(self) -> int:
        """All others of each row."""
        return self.axes * (self.side - 1)

    @property
    def hops(self) -> int:
        """One along each axis."""
        return self.axes

    @property
    def cut(self) -> float:
        """Every row across one axis is cut: the relative bisection S/(2T) of the paper."""
        return (self.side // 2) * (-(-self.side // 2)) * self.routers / self.side

    def joined(self) -> NDArray[np.float64]:
        """Routers that differ along one axis."""
        row = np.ones((self.side, self.side)) - np.eye(self.side)
        whole = np.zeros((1, 1))
        for _ in range(self.axes):
            whole = np.kron(np.eye(self.side), whole) + np.kron(row, np.eye(len(whole)))
        return whole
