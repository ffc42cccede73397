"""Clusters: one kind of chip, and nested network dimensions that join them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from math import prod
from operator import mul

from volvelle.errors import DescriptionError
from volvelle.quantities import BytesPerSecond, Watts
from volvelle.spread import Figure
from volvelle.system.chip import Chip
from volvelle.system.link import Link
from volvelle.system.topologies import AbstractTopology

__all__ = ["Cluster", "Dimension", "nested_sizes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One level of the network: `size` units of the level below, joined in some shape."""

    name: str
    size: int
    topology: AbstractTopology
    link: Link
    """As one chip sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A machine: chips in nested network dimensions, innermost first."""

    name: str
    chip: Chip
    dimensions: tuple[Dimension, ...]
    host_power: Watts = 0.0
    """Each chip's share of what is not chips: hosts, fans, switches."""
    host_rate: BytesPerSecond | None = None
    """What one chip sustains to and from host memory, each direction; None: there is none."""
    pue: float = 1.0
    """Power at the meter over power in the racks."""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.dimensions or min(dimension.size for dimension in self.dimensions) < 1:
            raise DescriptionError(f"cluster {self.name!r} needs at least one network dimension of at least one chip")

    @property
    def accelerators(self) -> int:
        """How many chips there are."""
        return prod(dimension.size for dimension in self.dimensions)

    @property
    def spans(self) -> tuple[int, ...]:
        """Chips in one unit of each dimension, innermost first: 8 in a node, 1024 in all."""
        return tuple(accumulate((dimension.size for dimension in self.dimensions), mul))


def nested_sizes(count: int, sizes: tuple[int | None, ...], *, name: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Sizes of a template's dimensions for a number of chips, and notes on what had to give.

    The dimension of size None takes the rest. Where the count is no multiple of a dimension's size, units are
    filled evenly with as many chips as divide it: 12 chips in nodes of 8 are two nodes of 6.
    """
    if count < 1:
        raise DescriptionError(f"cluster {name!r} cannot have {count} accelerators; ask for one or more")
    notes = []
    found = []
    left = count
    for size in sizes:
        if size is None:
            found.append(left)
            left = 1
            continue
        taken = max(divisor for divisor in range(1, size + 1) if left % divisor == 0)
        if taken < min(size, left):
            notes.append(f"{left} do not fill units of {size}: {left // taken} units of {taken} are taken")
        found.append(taken)
        left //= taken
    if left > 1:
        raise DescriptionError(
            f"cluster {name!r} holds at most {prod(found)} accelerators in this shape; {count} do not fit it"
        )
    return tuple(found), tuple(notes)
