"""Shardings parted by what holds their bound down: branch and bound, the branch of the least bound first."""

import heapq
from collections.abc import Iterator, Sequence
from itertools import count
from math import inf

from volvelle.search.graph.dual import LagrangianBound, lagrangian_bound
from volvelle.search.graph.sharding_times import Weights
from volvelle.search.graph.timed_splits import TimedSplits

_PULLED_AT_FIRST, _PULLED = 64, 4
"""Shardings taken in order before all of them, or a branch, are parted: a small graph is settled without."""


class Branch:
    """Shardings that have some options in common: a bound on all, and a stream of them in order."""

    def __init__(
        self,
        timed: TimedSplits,
        *,
        hints: Sequence[tuple[int, ...]] = (),
        start: Weights | None = None,
        parent: "Branch | None" = None,
        known: Sequence[tuple[int, ...]] = (),
    ) -> None:
        self.timed = timed
        start = start if parent is None else parent.lagrangian.weights
        self.lagrangian: LagrangianBound = lagrangian_bound(timed, start=start, known=known)
        self.hints = list(dict.fromkeys((*self.lagrangian.hints, *hints)))
        self.bound: float = max(self.lagrangian.bound, 0.0 if parent is None else parent.bound)
        """No sharding of it that was not looked at takes less."""
        self._stream: Iterator[tuple[float, tuple[int, ...]]] | None = None
        self._pulls = _PULLED_AT_FIRST if parent is None else _PULLED

    def pull(self) -> tuple[int, ...]:
        """The options of the next sharding, raising the bound; nothing after the last."""
        if self._stream is None:
            self._stream = self.timed.eliminated(self.lagrangian.weights).assignments()
        self._pulls -= 1
        cost, chosen = next(self._stream, (inf, ()))
        self.bound = max(self.bound, cost)
        return chosen

    def parting(self) -> int | None:
        """The variable to branch on: the one that matters most to what holds the bound down; None: go on in order."""
        if self._pulls > 0:
            return None
        active = self.lagrangian.active
        for other in active[1:]:
            variable = self.timed.differing(active[0], other)
            if variable is not None:
                return variable
        return None


class Branches:
    """All shardings of a block that were not looked at."""

    def __init__(self, root: Branch) -> None:
        self._number = count()
        self._heap: list[tuple[float, int, Branch]] = []
        self._keep(root)

    @property
    def bound(self) -> float:
        """None of them takes less; infinite where none is left."""
        return self._heap[0][0] if self._heap else inf

    @property
    def first(self) -> Branch:
        """The branch of the least bound."""
        return self._heap[0][2]

    def again(self) -> None:
        """Put the first where its bound, which may have risen, belongs."""
        branch = self.first
        heapq.heapreplace(self._heap, (branch.bound, next(self._number), branch))

    def drop(self) -> None:
        """Nothing is left in the first."""
        heapq.heappop(self._heap)

    def part(self, variable: int) -> None:
        """A branch for every option of a variable in place of the first."""
        whole = self.first
        self.drop()
        for option in range(whole.timed.sizes[variable]):
            known = [
                (*chosen[:variable], 0, *chosen[variable + 1 :])
                for chosen in whole.lagrangian.active
                if chosen[variable] == option
            ]
            part = whole.timed.restricted(variable, option)
            self._keep(Branch(part, parent=whole, known=known))

    def _keep(self, branch: Branch) -> None:
        if branch.bound < inf:
            heapq.heappush(self._heap, (branch.bound, next(self._number), branch))
