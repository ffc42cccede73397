"""Torus: rings in several directions at once."""

from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Self, final

import numpy as np

from volvelle.domains import check_fields
from volvelle.errors import DescriptionError
from volvelle.quantities import Count, Fraction
from volvelle.system.routing import Rule
from volvelle.system.topologies.base import AbstractTopology
from volvelle.system.wirings.grid import Grid


def nearly_cubic(chips: int, axes: int) -> tuple[int, ...]:
    """The factorisation of `chips` into `axes` factors whose largest is least (then next largest …)."""
    if axes == 1:
        return (chips,)
    best: tuple[int, ...] | None = None
    for factor in (f for f in range(1, round(chips ** (1 / axes)) + 2) if chips % f == 0):
        rest = nearly_cubic(chips // factor, axes - 1)
        shape = tuple(sorted((factor, *rest)))
        if best is None or shape[::-1] < best[::-1]:
            best = shape
    assert best is not None  # factor 1 always divides
    return best


@final
@dataclass(frozen=True, slots=True)
class Torus(AbstractTopology):
    """An n-dimensional torus; a chip's rate is shared evenly over its axes, both ways on each.

    The answers are for a cube-like part of it that holds the given number of chips, of at most `shape`.
    """

    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        check_fields(self, "torus")
        if not self.shape or min(self.shape) < 1:
            raise DescriptionError(f"a torus needs a positive size on every axis, not {self.shape}")

    @property
    def chips(self) -> int:
        """All of them."""
        return prod(self.shape)

    def resized(self, chips: int) -> Self:
        """As many axes, of sides as equal as can be."""
        return type(self)(nearly_cubic(chips, len(self.shape)))

    def _sides(self, chips: Count) -> list[Count]:
        """Sides of a box of so many chips, filled along the longest axes last."""
        sides: list[Count] = []
        left = chips
        axes = sorted(self.shape)
        for index, side in enumerate(axes):
            even = np.power(left, 1.0 / (len(axes) - index))
            taken = np.minimum(float(side), even) if index < len(axes) - 1 else left
            sides.append(taken)
            left = left / taken
        return sides

    def steps(self, chips: Count) -> Count:
        """Around each axis in turn."""
        return sum((np.maximum(side - 1.0, 0.0) for side in self._sides(chips)), start=np.zeros(()))

    def bisection(self, chips: Count) -> Fraction:
        """Cutting the longest axis: 2·p/k links of 1/(2n) of a chip's rate, for p/2 chips."""
        longest = reduce(np.maximum, self._sides(chips))
        return np.minimum(1.0, 2.0 / len(self.shape) / np.maximum(longest, 1.0))

    def diameter(self, chips: Count) -> Count:
        """Half around every axis."""
        return np.asarray(sum((np.floor(side / 2.0 + 1e-9) for side in self._sides(chips)), start=np.zeros(())))

    def links(self, chips: Count) -> Count:
        """One a chip and axis."""
        return float(len(self.shape)) * chips

    def switch_ports(self, chips: Count) -> Count:
        """None."""
        return 0.0 * chips

    def wiring(self, units: int, rule: Rule) -> Grid:
        """Links to both neighbours along each axis of all of it, or of a box of sides as equal as can be."""
        return Grid(self.shape if units == self.chips else nearly_cubic(units, len(self.shape)), rule)
