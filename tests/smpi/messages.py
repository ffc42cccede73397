"""Collectives of a step as messages, for simulators that know no groups: along one dimension after another.

Around rings, or by halving and doubling where that has as few steps as the law counts in a dimension.

What a collective takes beyond its messages (launching, filling of pipelines, rates below those of its links) is kept as
a wait before them, so that on a network that nobody else uses it takes what the law says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from volvelle.estimators.event_driven.moved import Group
from volvelle.estimators.rates import SustainedRates
from volvelle.interchange.step_traces.stage_program import Node
from volvelle.mapping.placement import members
from volvelle.workload.tensor_layout import Collective


@dataclass(frozen=True, slots=True)
class Hop:
    """One message out and one in, at the same time."""

    to: int
    """Places in the group, counted from one's own."""
    source: int
    size: float
    tier: int


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A collective as one rank takes part in it."""

    wait: float
    """Seconds before its messages: what it takes beyond them."""
    sent: list[tuple[int, int, int]]
    """Rank to which a message goes, rank from which one comes at the same time, and the bytes of each; in order."""


@dataclass(frozen=True, slots=True)
class Wires:
    """Rate and latency of every dimension, and where ranks meet."""

    machine: SustainedRates
    rates: tuple[float, ...]
    latencies: tuple[float, ...]

    @classmethod
    def of(cls, machine: SustainedRates) -> Self:
        """Of a machine's levels."""
        return cls(
            machine,
            tuple(float(np.max(level.rate)) for level in machine.levels),
            tuple(float(np.max(level.latency)) for level in machine.levels),
        )

    def tier(self, one: int, other: int) -> int:
        """The innermost dimension in which two ranks are in one unit."""
        for place, span in enumerate(self.machine.spans):
            if one // span == other // span:
                return place
        return len(self.machine.spans) - 1

    def along(self, group: Group) -> tuple[int, ...]:
        """Members of a group along each dimension."""
        found = tuple(
            round(float(np.max(count)))
            for count in members(float(group.chips), float(group.stride), self.machine.spans)
        )
        if int(np.prod(found)) != group.chips:
            raise ValueError(f"{group} does not fill whole units of the machine's dimensions")
        return found

    def seconds(self, hops: Sequence[Hop]) -> float:
        """Of messages one after another."""
        return sum(self.latencies[hop.tier] + hop.size / self.rates[hop.tier] for hop in hops)

    def longer(self, node: Node, rank: int, other: int) -> float:
        """What a message between stages takes beyond its bytes and the latency of where the two meet, or less."""
        tier = self.tier(rank, other)
        return node.transit - self.latencies[tier] - node.size / self.rates[tier]


def exchanged(node: Node, rank: int, wires: Wires) -> Exchanged:
    """A collective's messages for one of its ranks, and what it waits before them."""
    assert node.group is not None, "collectives have a group"
    members = node.group.members(rank)
    place = members.index(rank)
    ways = hops(node, place, wires)
    sent = [(members[place + hop.to], members[place + hop.source], round(hop.size)) for hop in ways]
    return Exchanged(max(node.seconds - wires.seconds(ways), 0.0), sent)


def hops(node: Node, place: int, wires: Wires) -> list[Hop]:
    """Messages of one member of a group, in order; `place` is its place in it."""
    assert node.collective is not None, "collectives have a kind"
    assert node.group is not None, "collectives have a group"
    along = wires.along(node.group)
    halves = tuple(
        1 < count == 1 << (count.bit_length() - 1)
        and float(level.topology.steps(float(count))) <= count.bit_length() - 1
        for count, level in zip(along, wires.machine.levels, strict=True)
    )
    return _hops(node.collective, node.size, place, along, halves)


@lru_cache(maxsize=4096)
def _hops(
    collective: Collective, size: float, place: int, along: tuple[int, ...], halves: tuple[bool, ...]
) -> list[Hop]:
    chips = int(np.prod(along))
    if collective is Collective.ALL_TO_ALL:
        units = [int(unit) for unit in np.cumprod([1, *along])]
        found = []
        for step in range(1, chips):
            to, source = (place + step) % chips, (place - step) % chips
            found.append(Hop(to - place, source - place, size / chips, _meet(place, to, units)))
        return found
    if collective not in (Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER):
        raise ValueError(f"a {collective.value} is not written as messages")
    scattered = list(_scattered(size, place, along, halves))
    gathered = scattered[::-1]
    if collective is Collective.ALL_REDUCE:
        return scattered + gathered
    return gathered if collective is Collective.ALL_GATHER else scattered


def _scattered(size: float, place: int, along: tuple[int, ...], halves: tuple[bool, ...]) -> Iterator[Hop]:
    """A reduce-scatter of the innermost dimension, of a share of it in the next, …; a gather is it run backwards."""
    left, stride = size, 1
    for tier, (count, halved) in enumerate(zip(along, halves, strict=True)):
        own = place // stride % count
        if halved:
            for step in range(count.bit_length() - 1):
                partner = ((own ^ 1 << step) - own) * stride
                yield Hop(partner, partner, left / (2 << step), tier)
        else:
            ahead = ((own + 1) % count - own) * stride
            behind = ((own - 1) % count - own) * stride
            for _ in range(count - 1):
                yield Hop(ahead, behind, left / count, tier)
        left /= count
        stride *= count


def _meet(one: int, other: int, units: Sequence[int]) -> int:
    """The innermost dimension in which two places of a group are in one unit."""
    return next(tier for tier, unit in enumerate(units[1:]) if one // unit == other // unit)
