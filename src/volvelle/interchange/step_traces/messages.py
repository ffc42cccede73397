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

from volvelle.errors import OutsideDomainError
from volvelle.estimators.event_driven.moved import Group
from volvelle.estimators.rates import SustainedRates
from volvelle.interchange.step_traces.stage_program import Kind, Node, StageProgram
from volvelle.mapping.placement import members
from volvelle.workload.tensor_layout import Collective

MOST_MESSAGES = 4_000_000
"""That are written, of all ranks together."""


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
            raise OutsideDomainError(
                f"a group of {group.chips} ranks, each {group.stride} from the next, does not fill whole units of the "
                "machine's dimensions, so there are no rings along them; take degrees that divide them"
            )
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
        raise OutsideDomainError(f"a {collective.value} is not written as messages; use the format chakra")
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


def unsaid_as_messages(programs: Sequence[StageProgram], wires: Wires) -> tuple[str, ...]:
    """What a file of messages cannot say; a step that would be too long a file is refused before it is made."""
    count, faster = 0, 0.0
    for program in programs:
        for node in program.nodes:
            if node.kind is Kind.COLLECTIVE and node.group is not None:
                # Every place of a group has as many messages, and as many of them in each dimension.
                ways = hops(node, 0, wires)
                count += len(ways) * len(program.ranks)
                faster += max(wires.seconds(ways) - node.seconds, 0.0) * len(program.ranks)
            else:
                count += len(program.ranks)
                if node.kind is Kind.SEND:
                    rank = program.ranks[0]
                    faster -= min(wires.longer(node, rank, program.peer(rank, node)), 0.0) * len(program.ranks)
            if count > MOST_MESSAGES:
                raise OutsideDomainError(
                    f"the step is more than {MOST_MESSAGES:,} lines, message by message; take fewer ranks or "
                    "micro-batches, or the format chakra, which names groups"
                )
    groups = "groups: collectives are messages along dimensions, their fixed costs waits before them"
    if faster <= 0.0:
        return (groups,)
    each = faster / sum(len(program.ranks) for program in programs)
    pipelined = (
        "networks that add up, dimensions in a pipeline, hand-over that is hidden in part: laws are "
        f"{each:.3g} s a rank below what the messages take"
    )
    return groups, pipelined
