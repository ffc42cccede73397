"""The best sharding and fusion of one block on one group of chips, for one tile size: shardings by rising bound."""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import inf
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.dataflow.chip_graph import ChipGraph, Exchange
from volvelle.estimators.dataflow.on_chip import FusionChoices, FusionProblem, OnChip, Overlap
from volvelle.mapping.fusion import Fusion
from volvelle.mapping.sharding import ShardedBlock
from volvelle.search.certificate import PROVEN
from volvelle.search.fusion.solve import fuse
from volvelle.search.graph.chip_table import ChipTable
from volvelle.search.graph.dual import LagrangianBound, lagrangian_bound
from volvelle.search.graph.sharding import Objective, Sharder, Sharding
from volvelle.search.graph.sharding_times import ShardingTimes, Weights
from volvelle.search.graph.timed_splits import TimedSplits
from volvelle.workload.operations import Operation
from volvelle.workload.tensor_layout import TensorLayout

__all__ = ["AT_ONCE", "CLOSE", "BlockQuestion", "BlockSearch", "Effort", "Solved", "Solver", "fused"]

CLOSE = 5e-7
"""Relative difference below which no better time is looked for; half of what counts as proven."""

AT_ONCE = 200
"""Shardings looked at before the search turns to what else is open."""
_FIRST_PATIENCE = 0.5
"""Seconds for a fusion that a quick look left open; each time it comes up again, so many times as long."""
_MORE_PATIENCE = 4.0


def _any(sharding: Sharding) -> bool:
    del sharding
    return True


@dataclass(slots=True)
class Effort:
    """How much was done, counted as it is done."""

    shardings: int = 0
    dominated: int = 0
    fusions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockQuestion:
    """A block on a group of chips."""

    sharder: Sharder
    table: ChipTable
    chip: OnChip
    choices: FusionChoices
    exchange: Exchange
    replicas: Exchange | None
    micro_batches: int
    pins: Mapping[str, int]
    splits: Mapping[str, str | None]
    objective: Objective
    uneven: bool
    ends: bool = False
    """What enters and leaves the block passes through DRAM."""
    refused: tuple[str, ...] = ()
    boundary: TensorLayout | None = None
    """The layout between blocks; None: any."""
    held: Callable[[Operation, str | None], float] | None = None
    """Bytes that an operation makes a chip hold, by the dimension it splits."""
    room: float = inf
    """Bytes that a chip may hold."""

    @property
    def degree(self) -> int:
        """Chips of the group."""
        return self.table.degree

    @property
    def costs(self) -> ShardingTimes:
        """The bound on what a sharding takes."""
        return ShardingTimes(
            work=self.table.work,
            memory=self.table.memory,
            moved=self.table.moved,
            sided=self.choices.forward_first,
            exchange=self.exchange,
            replicas=self.replicas,
            micro_batches=self.micro_batches,
            alone=self.table.alone,
            overlapped=self.choices.overlap is Overlap.ALL,
            held=self.held,
            room=self.room,
        )

    def timed(self, *, fits: bool = True) -> TimedSplits:
        """Every split with its time; without `fits` whatever the tile size, so whatever does not fit the chip."""
        return self.sharder.timed(
            self.degree,
            self.costs if fits else replace(self.costs, alone=None),
            splits=self.splits,
            refused=self.refused,
            uneven=self.uneven,
            boundary=self.boundary,
        )

    def lagrangian(self) -> LagrangianBound:
        """The best bound whatever the tile size, and how it weighs."""
        return lagrangian_bound(self.timed(fits=False), self.choices.overlap)

    def least_sent(self) -> Sharding:
        """The sharding that sends the fewest bytes."""
        return next(
            self.sharder.in_order(
                self.degree,
                self.costs,
                objective="bytes",
                splits=self.splits,
                refused=self.refused,
                uneven=self.uneven,
                boundary=self.boundary,
            )
        )

    def likely(self) -> Sharding:
        """The best sharding if everything fitted the chip."""
        timed = replace(self, held=None).timed(fits=False)
        return next(self.sharder.decoded_in_order(timed, Weights()))

    def problem(self, sharded: ShardedBlock, *, replicas: bool = True) -> FusionProblem:
        """The fusion problem of a sharding."""
        graph = ChipGraph(
            sharded=sharded,
            sizes=self.sharder.sizes,
            degree=self.degree,
            stream=self.table.stream,
            exchange=self.exchange,
            replicas=self.replicas if replicas else None,
            micro_batches=self.micro_batches,
            vector_cost=self.table.vector_cost,
            ends=self.ends,
        )
        return graph.problem(self.chip, tile=self.table.tile, choices=self.choices, pins=self.pins)


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
    """Enumerates a block's shardings until none left can beat the best.

    Each is given a quick look when it comes up; what that leaves open comes up again by its bound, with more patience.
    """

    def __init__(
        self, question: BlockQuestion, effort: Effort, *, hints: Sequence[tuple[int, ...]] = (), solver: Solver = fused
    ) -> None:
        self.question, self.effort, self._solver = question, effort, solver
        self.best: Solved | None = None
        self._timed = question.timed()
        found = lagrangian_bound(self._timed, question.choices.overlap)
        search = self._timed.eliminated(found.weights)
        self.lower = max(found.bound, search.bound)
        """No sharding not yet looked at takes less."""
        self.undecided = inf
        """No sharding looked at takes less than this or the best."""
        self.exhausted = self.lower == inf
        self._hints = list(dict.fromkeys((*found.hints, *hints)))
        self._seen: set[FusionProblem] = set()
        self._solved: list[NDArray[np.float64]] = []
        self._assignments = search.assignments()
        self._open: list[tuple[float, int, _Open]] = []
        self._number = count()

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
        return min(inf if self.exhausted else self.lower, self._open[0][0] if self._open else inf)

    def closed(self, cutoff: float) -> bool:
        """Whether nothing left can be better than the best, nor than `cutoff`."""
        return self._left >= min(cutoff, self.time) * (1.0 - CLOSE)

    def advance(
        self,
        *,
        cutoff: float,
        deadline: float,
        looks: int = AT_ONCE,
        fits: Callable[[Sharding], bool] = _any,
    ) -> Solved | None:
        """Look at some more shardings; gives the first that is better than the best so far and than `cutoff`."""
        if self.question.objective == "bytes" and not self.exhausted:
            self.exhausted, self._hints = True, []
            return self._look(self.question.least_sent(), min(cutoff, self.time), deadline, fits)
        for _ in range(looks):
            if self.closed(cutoff) or perf_counter() > deadline:
                return None
            limit = min(cutoff, self.time)
            if not self._hints and self._open and (self.exhausted or self._open[0][0] < self.lower):
                found = self._deepen(limit, deadline)
            else:
                found = self._next(cutoff, limit, deadline, fits)
            if found is not None:
                return found
        return None

    def _next(
        self, cutoff: float, limit: float, deadline: float, fits: Callable[[Sharding], bool]
    ) -> Solved | None:
        """A quick look at the next sharding."""
        if self._hints:
            cost, chosen = 0.0, self._hints.pop(0)
        else:
            cost, chosen = next(self._assignments, (inf, ()))
            if not chosen:
                self.exhausted = True
                return None
            self.lower = max(self.lower, cost)
            if self.closed(cutoff):
                return None
        least = self._timed.least(chosen, self.question.choices.overlap)
        if least >= limit * (1.0 - CLOSE):
            self.undecided = min(self.undecided, least)
            return None
        sharding = self.question.sharder.decoded(cost, chosen, self._timed.allowed)
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
        self.effort.shardings += 1
        if not fits(sharding):
            return None
        mark = _mark(problem)
        if any(np.all(other <= mark) for other in self._solved):
            self.effort.dominated += 1
            return None
        found = self._solver(sharding, problem, limit, deadline, True)
        self.effort.fusions += 1
        # What takes more in everything takes more time too: this one's bound is on it as well.
        self._solved.append(mark)
        return self._settle(_Open(sharding, problem, _FIRST_PATIENCE), found, limit, 0.0)

    def _settle(self, opened: _Open, found: Solved | float, limit: float, known: float) -> Solved | None:
        """Keep what is better, and what is still open."""
        better = isinstance(found, Solved) and found.time < limit
        bound = max(known, found.bound if isinstance(found, Solved) else found)
        if bound < (found.time if better else limit) * (1.0 - PROVEN):
            heapq.heappush(self._open, (bound, next(self._number), opened))
        else:
            self.undecided = min(self.undecided, bound)
        if better:
            self.best = found
            return found
        return None


def _mark(problem: FusionProblem) -> NDArray[np.float64]:
    """All that enters the time: what is nowhere more than another's takes no more time, however it is fused."""
    kernels = [
        (one.rows, one.depth, one.columns, one.work, one.weight_bytes, one.network_time, one.extra_bytes)
        for one in problem.kernels
    ]
    return np.array(
        [*(float(entry) for kernel in kernels for entry in kernel), *(one.bytes for one in problem.tensors)]
    )
