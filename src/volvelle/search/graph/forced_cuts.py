"""DRAM traffic that the SRAM forces: of two operations that share no partition one comes later.

A tensor from the one to the other passes through DRAM then; any other path between them is cut somewhere, at the cost
of its cheapest tensor at least. Along a chain of such paths what they cost adds up.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf

import numpy as np

from volvelle.search.graph.between import Apart, Between, Edge
from volvelle.search.graph.slots import Range


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedCut:
    """A path that is cut somewhere."""

    within: Range
    """The slots in which that may be."""
    seconds: float
    """Of both ends of its cheapest tensor."""
    path: tuple[str, ...]
    """Its operations."""


def certain_cuts(between: Between, apart: Apart) -> set[Edge]:
    """Tensors within a pass whose maker and reader share no partition."""
    return {edge for maker, reader, edge in between.edges if apart[maker, reader]}


def forced_cuts(
    between: Between, apart: Apart, seconds: Callable[[Edge], float], slots: Mapping[str, Range]
) -> list[ForcedCut]:
    """Paths that are cut, one after another; of every pass those that cost most.

    `seconds` is what one end of a tensor takes at least: nothing where that is counted already.
    """
    ways: dict[int, list[tuple[int, float]]] = {}
    for maker, reader, edge in between.edges:
        ways.setdefault(reader, []).append((maker, seconds(edge)))
    nothing: tuple[float, tuple[ForcedCut, ...]] = (0.0, ())
    chains = [nothing] * len(between.names)
    for end in range(len(chains)):
        chains[end] = max((chains[maker] for maker, _ in ways.get(end, ())), key=lambda one: one[0], default=nothing)
        for start in _nearest(end, between, apart):
            width, path = _widest(start, end, between, ways)
            total, cuts = chains[start]
            if total + 2.0 * width > chains[end][0]:
                names = tuple(between.names[place] for place in path)
                within = (slots[names[0]][0], slots[names[-1]][1])
                cut = ForcedCut(within=within, seconds=2.0 * width, path=names)
                chains[end] = (total + cut.seconds, (*cuts, cut))
    found: list[ForcedCut] = []
    for number in sorted(set(between.sides)):
        mine = [chain for chain, side in zip(chains, between.sides, strict=True) if side == number]
        found += max(mine, key=lambda chain: chain[0])[1]
    return found


def _nearest(end: int, between: Between, apart: Apart) -> list[int]:
    """Operations apart from one that depends on them, the last of each path: what is before tells no more."""
    starts = np.flatnonzero(apart[:, end])
    return [int(one) for one in starts if not (between.after[one, starts] & (starts != one)).any()]


def _widest(
    start: int, end: int, between: Between, ways: Mapping[int, list[tuple[int, float]]]
) -> tuple[float, tuple[int, ...]]:
    """The most that the cheapest tensor of a path from one operation to another takes, and that path."""
    reached: dict[int, tuple[float, tuple[int, ...]]] = {start: (inf, (start,))}
    for place in np.flatnonzero(between.after[start] & between.after[:, end]).tolist():
        for maker, seconds in ways.get(place, ()) if place != start else ():
            if maker in reached:
                width = min(reached[maker][0], seconds)
                if width > reached.get(place, (-1.0, ()))[0]:
                    reached[place] = (width, (*reached[maker][1], place))
    return reached[end]
