"""The best sharding and fusion of one block on one group of chips, for one tile size: shardings by rising bound."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from math import inf
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.dataflow.on_chip import FusionProblem
from volvelle.mapping.fusion import Fusion
from volvelle.search.certificate import PROVEN, SearchCounts
from volvelle.search.fusion.solve import fuse
from volvelle.search.graph.block_question import BlockQuestion
from volvelle.search.graph.branches import Branch, Branches
from volvelle.search.graph.sharding import Sharding
from volvelle.search.graph.sharding_times import Weights

CLOSE = 5e-7
"""Relative difference below which no better time is looked for; half of what counts as proven."""

AT_ONCE = 200
"""Shardings looked at before the search turns to what else is open."""
_FIRST_PATIENCE = 0.5
"""Seconds for a fusion that a quick look left open; each time it comes up again, so many times as long."""
_MORE_PATIENCE = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """A sharding with its best fusion."""

    sharding: Sharding
    problem: FusionProblem
    fusion: Fusion
    time: float
    """Of all partitions; where the graph was cut with its fusion, so many times its slowest stage as there are."""
    bound: float
    """This sharding takes no less."""
    starts: tuple[int, ...] | None = None
    """The first partition of each stage, where the graph was cut with its fusion."""


Solver = Callable[[Sharding, FusionProblem, float, float, bool], Solved | float]
"""(sharding, problem, cutoff, deadline, quick) → the best fusion if it takes less than the cutoff, else a bound."""


def fused(
    sharding: Sharding, problem: FusionProblem, cutoff: float, deadline: float, quick: bool = False
) -> Solved | float:
    """The best fusion of a sharding, or a good one."""
    answer = fuse(problem, time_limit=max(0.05, deadline - perf_counter()), cutoff=cutoff, quick=quick)
    if answer.fusion is None:
        return answer.bound
    return Solved(sharding=sharding, problem=problem, fusion=answer.fusion, time=answer.time, bound=answer.bound)


@dataclass(slots=True)
class _Open:
    """A sharding whose best fusion is not settled."""

    sharding: Sharding
    problem: FusionProblem
    patience: float


class BlockSearch:
    """Looks at a block's shardings until none left can beat the best.

    Branch and bound: shardings come from the branch of the least bound, in order; where that bound is not what any of
    them takes, the branch is parted. Each sharding is given a quick look when it comes up; what that leaves open comes
    up again by its bound, with more patience.
    """

    def __init__(
        self,
        question: BlockQuestion,
        counts: SearchCounts,
        *,
        hints: Sequence[tuple[int, ...]] = (),
        start: Weights | None = None,
        solver: Solver = fused,
    ) -> None:
        self.question, self.counts, self._solver = question, counts, solver
        self.best: Solved | None = None
        self.undecided = inf
        """No sharding looked at takes less than this or the best."""
        self._looked: set[tuple[int, ...]] = set()
        self._seen: set[FusionProblem] = set()
        self._solved: list[NDArray[np.float64]] = []
        self._number = count()
        self._open: list[tuple[float, int, _Open]] = []
        self.root = Branch(question.timed(), hints=hints, start=start)
        self._branches = Branches(self.root)

    @property
    def time(self) -> float:
        """Of the best found."""
        return self.best.time if self.best is not None else inf

    @property
    def bound(self) -> float:
        """No sharding takes less."""
        return min(self.time, self.undecided, self._left)

    @property
    def _left(self) -> float:
        """No sharding that is still to be looked at takes less."""
        return min(self._branches.bound, self._open[0][0] if self._open else inf)

    def closed(self, cutoff: float) -> bool:
        """Whether nothing left can be better than the best, nor than `cutoff`."""
        return self._left >= min(cutoff, self.time) * (1.0 - CLOSE)

    def advance(
        self,
        *,
        cutoff: float,
        deadline: float,
        fits: Callable[[Sharding], bool],
        looks: int = AT_ONCE,
    ) -> Solved | None:
        """Look at some more shardings; gives the first that is better than the best so far and than `cutoff`."""
        if self.question.asked.objective == "bytes" and self._branches.bound < inf:
            self._branches.drop()
            return self._look(self.question.least_sent(), min(cutoff, self.time), deadline, fits)
        for _ in range(looks):
            if self.closed(cutoff) or perf_counter() > deadline:
                return None
            limit = min(cutoff, self.time)
            if self._open and self._open[0][0] < self._branches.bound:
                found = self._deepen(limit, deadline)
            else:
                found = self._next(limit, deadline, fits)
            if found is not None:
                return found
        return None

    def _next(self, limit: float, deadline: float, fits: Callable[[Sharding], bool]) -> Solved | None:
        """A quick look at the next sharding of the branch of the least bound, or a parting of it."""
        branch = self._branches.first
        if branch.hints:
            chosen = branch.hints.pop(0)
        elif (variable := branch.parting()) is not None:
            self._branches.part(variable)
            return None
        else:
            chosen = branch.pull()
            if not chosen:
                self._branches.drop()
                return None
        self._branches.again()
        options = tuple(kept[at] for kept, at in zip(branch.timed.allowed, chosen, strict=True))
        if options in self._looked:
            return None
        self._looked.add(options)
        least = branch.timed.least(chosen)
        if least >= limit * (1.0 - CLOSE):
            self.undecided = min(self.undecided, least)
            return None
        sharding = self.question.sharder.decoded(least, chosen, branch.timed.allowed)
        return self._look(sharding, limit, deadline, fits)

    def _deepen(self, limit: float, deadline: float) -> Solved | None:
        """More patience with the open sharding of the least bound."""
        bound, _, opened = heapq.heappop(self._open)
        if bound >= limit * (1.0 - CLOSE):
            self.undecided = min(self.undecided, bound)
            return None
        patience = min(deadline, perf_counter() + opened.patience)
        opened.patience *= _MORE_PATIENCE
        found = self._solver(opened.sharding, opened.problem, limit, patience, False)
        return self._settle(opened, found, limit, bound)

    def refuse(self, found: Solved) -> None:
        """Forget the best: it turned out not to fit. Another fusion of it might, so its bound still counts."""
        if self.best is found:
            self.best = None
        self.undecided = min(self.undecided, found.bound)

    def _look(
        self, sharding: Sharding, limit: float, deadline: float, fits: Callable[[Sharding], bool]
    ) -> Solved | None:
        problem = self.question.problem(sharding.sharded)
        if problem in self._seen:
            return None
        self._seen.add(problem)
        self.counts.shardings += 1
        if not fits(sharding):
            return None
        mark = _mark(problem)
        if any(np.all(other <= mark) for other in self._solved):
            self.counts.dominated += 1
            return None
        found = self._solver(sharding, problem, limit, deadline, True)
        self.counts.fusions += 1
        # What takes more in everything takes more time too: this one's bound is on it as well.
        self._solved.append(mark)
        return self._settle(_Open(sharding, problem, _FIRST_PATIENCE), found, limit, 0.0)

    def _settle(self, opened: _Open, found: Solved | float, limit: float, known: float) -> Solved | None:
        """Keep what is better, and what is still open."""
        better = found if isinstance(found, Solved) and found.time < limit else None
        bound = max(known, found.bound if isinstance(found, Solved) else found)
        if bound < (better.time if better is not None else limit) * (1.0 - PROVEN):
            heapq.heappush(self._open, (bound, next(self._number), opened))
        else:
            self.undecided = min(self.undecided, bound)
        if better is not None:
            self.best = better
        return better


def _mark(problem: FusionProblem) -> NDArray[np.float64]:
    """All that enters the time: what is nowhere more than another's takes no more time, however it is fused."""
    kernels = [
        (one.rows, one.depth, one.columns, one.work, one.weight_bytes, one.network_time, one.extra_bytes)
        for one in problem.kernels
    ]
    return np.array(
        [*(float(entry) for kernel in kernels for entry in kernel), *(one.bytes for one in problem.tensors)]
    )
