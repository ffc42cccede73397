"""Pipeline stages cut anywhere in a chain: between the partitions of a fusion, inside a layer or between layers.

What a stage hands over is charged to both ends, which send and receive at once: a stage takes the time of its
partitions and the longer of the hand-overs before and after it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np

from volvelle.errors import MappingError
from volvelle.mapping.fusion import Fusion
from volvelle.search.graph.split_tables import leader_of
from volvelle.workload.graph import Block
from volvelle.workload.operations import Phase
from volvelle.workload.transforms import seed_of

_CLOSE = 1e-9
_DOWN_SETS = 3000
"""Ways to cut a block that are looked at for the cheapest one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainCut:
    """Where a chain is cut, and how good that is known to be."""

    starts: tuple[int, ...]
    """The first item of each stage."""
    times: tuple[float, ...]
    """Of each stage, with its hand-over."""
    hand_overs: tuple[float, ...]
    bound: float
    """No cut into so many stages has a faster slowest stage."""

    @property
    def slowest(self) -> float:
        """Seconds of the slowest stage."""
        return max(self.times)


def cut_chain(times: Sequence[float], hand_overs: Sequence[float], stages: int) -> ChainCut:
    """The cut of a chain into at most so many stages whose slowest is fastest, exactly.

    `hand_overs[i]` is what it takes to hand over between item i and the next; there is one less than items.
    """
    count = len(times)
    if not count or len(hand_overs) != count - 1:
        raise MappingError(f"a chain of {count} items has {count - 1} places to cut, not {len(hand_overs)}")
    if stages < 1:
        raise MappingError(f"a chain cannot be cut into {stages} stages; ask for one or more")
    total = sum(times)
    if stages == 1:
        return ChainCut(starts=(0,), times=(total,), hand_overs=(0.0,), bound=total)
    before = np.array([0.0, *accumulate(times)])
    hand = np.array([0.0, *hand_overs, 0.0])
    # Two stages or more take all items and a hand-over each; a single one takes all items.
    low = min(total, max(*times, total / stages + min(hand_overs, default=0.0)))
    best = described(times, hand_overs, (0,), low)
    if count % stages == 0:
        even = described(times, hand_overs, range(0, count, count // stages), low)
        best = min(best, even, key=lambda one: one.slowest)
    high = best.slowest
    while high > low * (1.0 + _CLOSE):
        middle = (low + high) / 2
        tried = _starts(before, hand, stages, middle)
        if tried is None:
            low = middle
        else:
            best = min(best, described(times, hand_overs, tried, low), key=lambda one: one.slowest)
            high = min(middle, best.slowest)
    return replace(best, bound=min(low, best.slowest))


def described(times: Sequence[float], hand_overs: Sequence[float], starts: Sequence[int], bound: float) -> ChainCut:
    """What stages that begin at these items take."""
    ends = [*starts[1:], len(times)]
    hands = tuple(
        max(hand_overs[start - 1] if start else 0.0, hand_overs[end - 1] if end < len(times) else 0.0)
        for start, end in zip(starts, ends, strict=True)
    )
    spent = tuple(sum(times[start:end]) + hand for start, end, hand in zip(starts, ends, hands, strict=True))
    return ChainCut(starts=tuple(starts), times=spent, hand_overs=hands, bound=bound)


def _starts(
    before: np.ndarray[tuple[int], np.dtype[np.float64]],
    hand: np.ndarray[tuple[int], np.dtype[np.float64]],
    stages: int,
    most: float,
) -> tuple[int, ...] | None:
    """Starts of the fewest stages none of which takes more than `most`; None if that is more than there are."""
    count = len(before) - 1
    fewest = np.full(count + 1, np.iinfo(np.int64).max, dtype=np.int64)
    fewest[0] = 0
    whence = [0] * (count + 1)
    room = most * (1.0 + _CLOSE)
    for end in range(1, count + 1):
        first = int(np.searchsorted(before, before[end] - room))
        spans = before[end] - before[first:end] + np.maximum(hand[first:end], hand[end])
        able = np.where(spans <= room, fewest[first:end], np.iinfo(np.int64).max)
        if len(able) and able.min() < np.iinfo(np.int64).max:
            at = int(able.argmin())
            fewest[end], whence[end] = able[at] + 1, first + at
    if fewest[count] > stages:
        return None
    found, end = [], count
    while end:
        end = whence[end]
        found.append(end)
    return tuple(reversed(found))


# -- what may be cut, and what crosses ---------------------------------------------------------------------------


def homes(block: Block) -> Mapping[str, str]:
    """Operation → the forward operation on whose stage it runs: a backward one where its weights are.

    A sum of gradients runs where the earliest of its summands is made, since gradients go backwards; what belongs to
    nothing runs with the last forward operation.
    """
    forward = [op.name for op in block.operations if op.phase is Phase.FORWARD]
    place = {name: number for number, name in enumerate(forward)}
    maker = {name: op.name for op in block.operations for name in op.outputs}
    found: dict[str, str] = {}
    for op in block.operations:
        leader = leader_of(op)
        if op.name in place:
            found[op.name] = op.name
        elif leader is not None and leader in place:
            found[op.name] = leader
        else:
            summands = [found[maker[name]] for name in op.inputs if name in maker]
            found[op.name] = min(summands, key=place.__getitem__, default=forward[-1] if forward else op.name)
    return found


def segments(block: Block, fusion: Fusion) -> tuple[tuple[int, ...], ...]:
    """Partitions that cannot be put on different stages, together; each group after those it depends on.

    With a backward pass a stage holds the backward operations of its forward ones, so partitions that share a forward
    operation, or need each other's results in turn, go together.
    """
    home = homes(block)
    holders: dict[str, set[int]] = {}
    for place, names in enumerate(fusion.partitions):
        for name in names:
            holders.setdefault(home[name], set()).add(place)
    used = [place for place, names in enumerate(fusion.partitions) if names]
    after: dict[int, set[int]] = {place: set() for place in used}
    for places in holders.values():
        for one, other in pairwise(sorted(places)):
            after[one].add(other)
            after[other].add(one)
    maker = {name: op.name for op in block.operations for name in op.outputs if op.phase is Phase.FORWARD}
    for op in block.operations:
        if op.phase is Phase.FORWARD:
            for name in op.inputs:
                for one in holders.get(home[maker[name]], ()) if name in maker else ():
                    after[one] |= holders[op.name]
    return _components(used, after)


def _components(used: Sequence[int], after: Mapping[int, set[int]]) -> tuple[tuple[int, ...], ...]:
    """Strongly connected components, in an order in which none comes before what it depends on."""
    reach = {place: {place} for place in used}
    for place in used:
        waiting = [place]
        while waiting:
            for other in after[waiting.pop()]:
                if other not in reach[place]:
                    reach[place].add(other)
                    waiting.append(other)
    groups = {place: tuple(sorted(other for other in reach[place] if place in reach[other])) for place in used}
    ordered = sorted(set(groups.values()), key=lambda group: (-len(reach[group[0]]), group))
    return tuple(ordered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """Bytes that cross a cut, one chip's share."""

    forward: float
    backward: float


def crossing_bytes(block: Block, size_of: Callable[[str], float], before: Iterable[str]) -> Crossing:
    """What crosses a cut inside a block that leaves some forward operations (and their backward ones) before it.

    Each tensor crosses once, however many read it; `size_of` gives its bytes on one chip.
    """
    home, inside = homes(block), set(before)
    forward, backward = set[str](), set[str]()
    maker = {name: op.name for op in block.operations for name in op.outputs}
    inputs, outputs, seeds = set(block.inputs), set(block.outputs), {seed_of(name) for name in block.outputs}
    if seeds & set(block.tensor_of):
        # A gradient that the graph leaves out must reach the copy before all the same.
        backward |= {name for name in inputs if f"{name}.grad" not in block.tensor_of}
    for op in block.operations:
        here = home[op.name] in inside
        for name in op.inputs:
            if name in maker:
                there = home[maker[name]] in inside
                if there and not here:
                    forward.add(name)
                elif here and not there:
                    backward.add(name)
            elif name in inputs and not here:
                forward.add(name)
            elif name in seeds and here:
                backward.add(name)
        for name in op.outputs:
            if name in outputs and here:
                forward.add(name)
            if name.removesuffix(".grad") in inputs and name.endswith(".grad") and not here:
                backward.add(name)
    return Crossing(forward=sum(map(size_of, sorted(forward))), backward=sum(map(size_of, sorted(backward))))


def handed_bytes(block: Block, sizes: Mapping[str, float], *, split: str | None = None, over: int = 1) -> Crossing:
    """What one chip hands from copy to copy of a block, with activations `split` over so many between them."""
    size_of = {name: block.tensor_of[name].bytes(sizes, split=split, over=over) for name in block.outputs}
    return Crossing(
        forward=sum(size_of.values()),
        backward=sum(size for name, size in size_of.items() if seed_of(name) in block.tensor_of),
    )


def least_crossings(block: Block, size_of: Callable[[str], float], *, between: Crossing) -> tuple[Crossing, ...]:
    """What crosses the cuts, inside a block or `between` its copies, that hand over least; nothing if they are many."""
    forward = [op for op in block.operations if op.phase is Phase.FORWARD]
    maker = {name: op.name for op in forward for name in op.outputs}
    needs = {op.name: {maker[name] for name in op.inputs if name in maker} for op in forward}
    seen, found = {frozenset[str]()}, {between}
    waiting = [frozenset[str]()]
    while waiting:
        done = waiting.pop()
        for name, needed in needs.items():
            after = done | {name}
            if name in done or not needed <= done or len(after) == len(forward) or after in seen:
                continue
            if len(seen) > _DOWN_SETS:
                return (Crossing(forward=0.0, backward=0.0),)
            seen.add(after)
            waiting.append(after)
            found.add(crossing_bytes(block, size_of, after))
    return tuple(
        one
        for one in found
        if not any(other != one and other.forward <= one.forward and other.backward <= one.backward for other in found)
    )
