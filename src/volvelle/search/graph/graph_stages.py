"""Stages of a graph that does not repeat: fusion and cut together, so that the slowest stage is fastest.

A stage is a run of partitions, so stages are differences of down-sets as partitions are. Whether no stage need take
longer than some time is a walk over the down-sets that remembers the stages used and the time spent in the last; the
least such time is found by bisection, and is one that the walk itself reaches.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter

from volvelle.estimators.dataflow.on_chip import FusionProblem
from volvelle.estimators.dataflow.partition_time import PartitionTimes, partition_times_of
from volvelle.mapping.fusion import Fusion
from volvelle.search.fusion.lattice import Lattice, members_of
from volvelle.search.fusion.next_partitions import PartitionCandidates
from volvelle.search.fusion.solve import decoded

_CLOSE = 1e-9
_STEPS = 400_000
"""Partitions timed before a graph counts as too wide for this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCut:
    """The best fusion into so many stages."""

    fusion: Fusion
    starts: tuple[int, ...]
    """The first partition of each stage."""
    slowest: float
    bound: float


@dataclass(frozen=True, slots=True)
class _Label:
    stages: int
    spent: float
    """In the stage that runs, with the hand-over before it."""
    arrived: float
    """Of that, the hand-over."""
    earlier: int
    """The down-set before, and the place of its label."""
    place: int
    fresh: bool
    """The last partition begins a stage."""


class TooWideError(Exception):
    """More partitions than are worth pricing."""


def cut_graph(
    problem: FusionProblem,
    stages: int,
    hand_over: Callable[[frozenset[str]], float],
    *,
    upper: float = inf,
    deadline: float = inf,
) -> GraphCut | None:
    """The fusion and cut whose slowest stage is fastest, if it takes less than `upper`; None if none does.

    `hand_over` is what it takes to hand over where these kernels are done. Raises :class:`TooWideError` where the graph
    has too many down-sets; cut the best fusion's chain then (:func:`volvelle.search.graph.stages.cut_chain`).
    """
    return _Walk(partition_times_of(problem), stages, hand_over, deadline).best(upper)


class _Walk:
    def __init__(
        self, times_of: PartitionTimes, stages: int, hand_over: Callable[[frozenset[str]], float], deadline: float
    ) -> None:
        self.times_of, self.stages, self.deadline = times_of, stages, deadline
        self.lattice = Lattice(times_of, twins=False)
        self.growth = PartitionCandidates(times_of, self.lattice)
        self.hand_over = hand_over
        self.hands: dict[int, float] = {0: 0.0, self.lattice.goal: 0.0}
        self.steps_from: dict[int, list[tuple[int, float]]] = {}
        self.steps = 0

    def best(self, upper: float) -> GraphCut | None:
        low = sum(self.times_of.balanced) / self.stages
        found = self._reach(upper * (1.0 - _CLOSE))
        if found is None:
            return None
        high = found.slowest
        while high > low * (1.0 + _CLOSE):
            middle = (low + high) / 2
            tried = self._reach(middle)
            if tried is None:
                low = middle
            else:
                found, high = tried, min(tried.slowest, middle)
        return replace(found, bound=min(found.slowest, low))

    def _hand(self, mask: int) -> float:
        if mask not in self.hands:
            self.hands[mask] = self.hand_over(frozenset(self.times_of.names[one] for one in members_of(mask)))
        return self.hands[mask]

    def _partitions(self, mask: int) -> list[tuple[int, float]]:
        """Down-sets one partition further on, with the partition's time."""
        known = self.steps_from.get(mask)
        if known is not None:
            return known
        found, complete = self.growth.grow(
            mask, self.lattice.ready(mask), room=inf, most=_STEPS - self.steps, deadline=self.deadline
        )
        self.steps += len(found.sets)
        if not complete or self.steps > _STEPS or perf_counter() > self.deadline:
            raise TooWideError
        times = found.times(self.times_of).tolist()
        known = self.steps_from[mask] = [
            (mask | reached, time) for reached, time in zip(found.sets, times, strict=True)
        ]
        return known

    def _reach(self, most: float) -> "GraphCut | None":
        """A walk on which no stage takes more than `most`, in the fewest stages."""
        room = most * (1.0 + _CLOSE / 4)
        labels: dict[int, list[_Label]] = {0: [_Label(1, 0.0, 0.0, -1, -1, True)]}
        by_size: list[set[int]] = [set() for _ in range(self.lattice.count + 1)]
        by_size[0].add(0)
        for masks in by_size:
            for mask in sorted(masks):
                here = self._hand(mask)
                for after, time in self._partitions(mask):
                    for place, label in enumerate(labels[mask]):
                        self._extend(labels, by_size, (mask, place, label), (after, time), here, room)
        ends = labels.get(self.lattice.goal)
        return self._walked(labels, min(range(len(ends)), key=lambda at: ends[at].stages)) if ends else None

    def _extend(
        self,
        labels: dict[int, list[_Label]],
        by_size: list[set[int]],
        start: tuple[int, int, _Label],
        step: tuple[int, float],
        here: float,
        room: float,
    ) -> None:
        (mask, place, label), (after, time) = start, step
        offers = [_Label(label.stages, label.spent + time, label.arrived, mask, place, mask == 0)]
        if mask and label.stages < self.stages and label.spent - label.arrived + max(label.arrived, here) <= room:
            offers.append(_Label(label.stages + 1, here + time, here, mask, place, True))
        for offer in offers:
            if offer.spent > room:
                continue
            front = labels.setdefault(after, [])
            if any(
                one.stages <= offer.stages
                and one.spent <= offer.spent
                and one.spent - one.arrived <= offer.spent - offer.arrived
                for one in front
            ):
                continue
            # Earlier labels are kept: later ones may lead back through them.
            front.append(offer)
            by_size[after.bit_count()].add(after)

    def _walked(self, labels: dict[int, list[_Label]], place: int) -> GraphCut:
        mask, partitions, fresh = self.lattice.goal, list[tuple[int, ...]](), list[bool]()
        ends: list[int] = []
        while mask:
            label = labels[mask][place]
            partitions.append(tuple(members_of(mask & ~label.earlier)))
            fresh.append(label.fresh)
            ends.append(mask)
            mask, place = label.earlier, label.place
        partitions.reverse()
        starts = tuple(at for at, one in enumerate(reversed(fresh)) if one)
        ends.reverse()
        times = [self.times_of.time_of(members).time for members in partitions]
        slowest = 0.0
        for start, end in zip(starts, [*starts[1:], len(partitions)], strict=True):
            hand = max(self._hand(ends[start - 1]) if start else 0.0, self._hand(ends[end - 1]))
            slowest = max(slowest, sum(times[start:end]) + hand)
        return GraphCut(fusion=decoded(self.times_of, partitions), starts=starts, slowest=slowest, bound=0.0)
