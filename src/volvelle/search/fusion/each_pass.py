"""The best fusion where the forward and the backward pass share no partition: each pass by itself.

What one pass takes does not depend on how the other is fused, so two small searches take the place of a large one, and
their bounds add up.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import inf
from time import perf_counter

from volvelle.estimators.dataflow.partition_time import PartitionTimes
from volvelle.search.fusion.down_sets import Budget, shortest_path
from volvelle.search.fusion.incumbent import Partitions, along_orders, improved
from volvelle.search.fusion.lattice import Lattice

_QUICK_STEPS = 2_000
_FIRST_STEPS = 20_000
"""Partitions timed before a good fusion is looked for by other means."""
_WINDOW_STEPS = 60_000
_STATES = 4_000_000


@dataclass(slots=True)
class _Pass:
    """The kernels between two down-sets, on the way to their best fusion."""

    start: int
    lattice: Lattice
    bound: float = 0.0
    time: float = inf
    partitions: Partitions | None = None
    complete: bool = False

    def offer(self, time: float, partitions: Partitions | None) -> None:
        if partitions is not None and time < self.time:
            self.time, self.partitions = time, partitions


class EachPass:
    """Both passes of one problem; only fusions that take less than `upper` in all count."""

    def __init__(self, times_of: PartitionTimes, forward: int, *, upper: float, deadline: float) -> None:
        self.times_of, self.upper, self.deadline = times_of, upper, deadline
        whole = (1 << len(times_of.names)) - 1
        ends = [0, *([forward] if forward not in (0, whole) else []), whole]
        self.passes = [
            _Pass(start=start, lattice=Lattice(times_of, start=start, goal=goal)) for start, goal in pairwise(ends)
        ]
        self.states = self.steps = 0

    @property
    def bound(self) -> float:
        """No fusion takes less; the upper bound given where none takes less than that."""
        return min(self.upper, sum(min(one.bound, one.time) for one in self.passes))

    @property
    def partitions(self) -> Partitions | None:
        """The best fusion found, if both passes have one."""
        found = [one.partitions for one in self.passes]
        return tuple(members for part in found if part is not None for members in part) if None not in found else None

    def solve(self, *, quick: bool) -> None:
        """Down-sets for some steps, then a good fusion of each pass; unless `quick`, down-sets to the end."""
        for one in self.passes:
            self._search(one, Budget(steps=_QUICK_STEPS if quick else _FIRST_STEPS, deadline=self.deadline))
        for one in self.passes:
            if not one.complete and not self._hopeless:
                self._good(one, quick=quick)
        if quick:
            return
        # The pass that is nearer to an end first: what it settles leaves the other less room.
        waiting = sorted((one for one in self.passes if not one.complete), key=lambda one: one.time - one.bound)
        for place, one in enumerate(waiting):
            share = (self.deadline - perf_counter()) / (len(waiting) - place)
            self._search(one, Budget(states=_STATES, deadline=perf_counter() + share))

    @property
    def _hopeless(self) -> bool:
        return self.bound >= self.upper

    def _search(self, one: _Pass, budget: Budget) -> None:
        """The best fusion of a pass, if it takes less than what the other leaves."""
        if one.complete or self._hopeless:
            return
        others = sum(other.bound for other in self.passes if other is not one)
        room = min(one.time, self.upper - others)
        found = shortest_path(self.times_of, one.lattice, upper=room, budget=budget)
        self.states, self.steps = max(self.states, found.states), self.steps + found.steps
        one.bound = max(one.bound, found.bound)
        one.complete = found.complete
        one.offer(found.time, found.partitions)

    def _good(self, one: _Pass, *, quick: bool) -> None:
        ends = {"start": one.start, "goal": one.lattice.goal}
        time, partitions = along_orders(self.times_of, slots=False, deadline=self.deadline, **ends)
        if partitions is None:
            return
        one.offer(time, partitions)
        steps = _QUICK_STEPS if quick else _WINDOW_STEPS
        better = improved(self.times_of, partitions, deadline=self.deadline, steps=steps, done=one.start)
        one.offer(sum(self.times_of.time_of(members).time for members in better), better)
