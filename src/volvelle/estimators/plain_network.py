"""A network by the rates its links state: no latency, no loss, one law a dimension, as DFModel counts.

The machine's own network laws (sustained rates, steps, contention) are in :mod:`volvelle.estimators.rates`; this is the
plainer reading that a stated mapping may ask for, and that the reproduction of DFModel asks for.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Literal, TypeAlias

from volvelle.errors import MappingError
from volvelle.laws.collectives import (
    direct_all_reduce_time,
    pipelined_broadcast_time,
    point_to_point_time,
    ring_all_reduce_time,
    ring_reduce_scatter_time,
)
from volvelle.laws.network.bisection import connected_cut, cut_time, torus_cut
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.topologies import FullyConnected, Ring, Switch

Kind: TypeAlias = Literal["ring", "switch", "fully-connected"]
_KINDS: dict[type, Kind] = {Ring: "ring", Switch: "switch", FullyConnected: "fully-connected"}


def plain_kind(dimension: Dimension) -> Kind:
    """What joins the units of a dimension, of the shapes that have a plain law."""
    found = _KINDS.get(type(dimension.topology))
    if found is None:
        raise MappingError(
            f"network dimension {dimension.name!r} is a {type(dimension.topology).__name__}; plain networks are made "
            f"of {', '.join(_KINDS.values())}: write a torus as several rings"
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainDimension:
    """Units that are joined in one way."""

    kind: Kind
    size: int
    rate: float
    """Bytes a second of one link; a fully connected unit has one to each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainNetwork:
    """Dimensions of a network, innermost first."""

    dimensions: tuple[PlainDimension, ...]

    @classmethod
    def of(cls, cluster: Cluster) -> "PlainNetwork":
        """That of a machine; a dimension of one unit is none."""
        return cls(
            dimensions=tuple(
                PlainDimension(kind=plain_kind(one), size=one.size, rate=float(one.link.rate))
                for one in cluster.dimensions
                if one.size > 1
            )
        )

    @property
    def chips(self) -> int:
        """All of them."""
        return prod(one.size for one in self.dimensions)

    def part(self, inside: int, degree: int) -> "PlainNetwork":
        """The dimensions of a group of `degree` chips, every `inside`-th one: whole ones, or there is none such."""
        found, before = [], 1
        for one in self.dimensions:
            if inside <= before and before * one.size <= inside * degree:
                found.append(one)
            before *= one.size
        if prod(one.size for one in found) != degree:
            sizes = " × ".join(str(one.size) for one in self.dimensions)
            raise MappingError(
                f"a group of {degree} chips, {inside} apart, is no whole dimension of a network of {sizes}; by plain "
                "laws each group takes whole dimensions: take degrees that are sizes of dimensions, innermost first"
            )
        return PlainNetwork(dimensions=tuple(found))

    @property
    def _only(self) -> PlainDimension:
        if len(self.dimensions) != 1:
            raise MappingError(
                f"an exchange along {len(self.dimensions)} network dimensions at once has no plain law; "
                "give the group one dimension"
            )
        return self.dimensions[0]

    def all_reduce(self, size: float) -> float:
        """Seconds of an all-reduce along the one dimension of a group."""
        if not self.dimensions:
            return 0.0
        one = self._only
        return plain_all_reduce(size, one.size, rate=one.rate, connected=one.kind == "fully-connected")

    @property
    def rate(self) -> float:
        """Bytes a second of a link of the one dimension of a group."""
        return self._only.rate

    def all_to_all(self, pair: float) -> float:
        """Seconds until each chip has sent `pair` bytes to each: the slowest cut."""
        return max(
            (
                float(cut_time(pair, float(both), links=links, rate=one.rate))
                for (both, links), one in zip(self._cuts(), self.dimensions, strict=True)
            ),
            default=0.0,
        )

    def _cuts(self) -> Iterator[tuple[int, float]]:
        """For each dimension: chips on both sides of its cut, and links cut."""
        torus = {one.kind for one in self.dimensions} == {"ring"}
        inside = 1
        for one in self.dimensions:
            inside *= one.size
            both = self.chips if torus else inside
            if torus:
                # The dimensions are of one size, or the longest is worst: the study numbers them either way.
                yield both, float(torus_cut(float(self.chips), size=float(one.size)))
            elif one.kind == "fully-connected":
                yield both, float(connected_cut(float(one.size)))
            else:
                # A ring inside a group is cut twice; a switch carries what its units send.
                yield both, 2.0 if one.kind == "ring" else float(one.size)

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of chips: the last dimension has the columns, all others together the rows."""
        *rows, columns = self.dimensions
        return prod(one.size for one in rows), columns.size

    def panel(self, size: float) -> float:
        """Seconds until a panel spread over the grid was broadcast along one side and handed on along the other."""
        rows, columns = self.grid
        spread = pipelined_broadcast_time(size / columns, float(columns), rate=self.dimensions[0].rate, latency=0.0)
        handed = point_to_point_time(size / rows, rate=self.dimensions[-1].rate, latency=0.0)
        return max(float(spread), float(handed))


def plain_all_reduce(size: float, chips: int, *, rate: float, connected: bool = False, passes: int = 2) -> float:
    """Seconds of an all-reduce where `rate` is of a link and steps cost nothing.

    Two passes are reduce-scatter and all-gather; in one pass, as some inputs of DFModel have it, only the first is
    paid. A fully connected chip has a link of that rate to each other.
    """
    if chips == 1:
        return 0.0
    p = float(chips)
    if connected:
        return float(direct_all_reduce_time(size, p, rate=rate * (p - 1.0), latency=0.0)) * passes / 2.0
    law = ring_all_reduce_time if passes == 2 else ring_reduce_scatter_time
    return float(law(size, p, rate=rate, latency=0.0))
