"""Exhaustive search: every layout of a space, evaluated or proven unable to win, and the best of them in order."""

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import MappingError
from volvelle.estimators.result import EstimateTable
from volvelle.estimators.uncertainty import TableEstimator
from volvelle.mapping.axes import AXES, REPLICAS, combined
from volvelle.mapping.kinds import Kind, kinds
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.search.layouts import layouts
from volvelle.search.least_time import least_times
from volvelle.search.space import Space
from volvelle.system.cluster import Cluster
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import TrainingStep

_BATCH = 200_000
"""Rows evaluated in one call: enough to keep chunks full, little enough to keep memory small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A layout and what it takes."""

    mapping: ParallelMapping
    time: float
    memory: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The best layouts of a space, and the count of all."""

    best: tuple[Ranked, ...]
    """Feasible layouts, fastest first."""
    of_kinds: tuple[tuple[Kind, Ranked], ...]
    """The fastest feasible layout of each kind that has one, fastest first."""
    nearest: Ranked | None
    """The fastest layout that only memory forbids, if it would be faster than the best."""
    lightest: float
    """Bytes that the lightest of those evaluated holds; infinite: none was."""
    configurations: int
    evaluated: int
    pruned: int
    """Proven unable to run before they were evaluated: their states alone overflow memory."""
    feasible: int


def search(
    space: Space,
    step: TrainingStep,
    cluster: Cluster,
    estimator: TableEstimator,
    *,
    top: int = 10,
    within: float | None = None,
    enough: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Ranking:
    """Rank a whole space. Exact: what is skipped cannot run, or not `within` so many seconds.

    With `enough`, the search ends when something runs and so many layouts were evaluated.
    """
    keeper = _Keeper(top)

    def able() -> Iterator[MappingTable]:
        for table in layouts(space, step, cluster):
            keeper.configurations += len(table)
            kept = _may_fit(table, step, cluster)
            if within is not None:
                kept &= least_times(table, step, cluster) <= within
            keeper.pruned += len(table) - int(kept.sum())
            yield table if kept.all() else table.take(np.flatnonzero(kept))

    for table in _batches(able(), _BATCH if enough is None else min(_BATCH, enough)):
        keeper.keep(estimator.table(step, cluster, table))
        if progress is not None:
            progress(keeper.configurations)
        if enough is not None and keeper.feasible and keeper.evaluated >= enough:
            break
    return keeper.ranking()


def _batches(tables: Iterable[MappingTable], most: int = _BATCH) -> Iterator[MappingTable]:
    """Tables joined until they are worth one call of an estimator; empty ones are left out."""
    waiting: list[MappingTable] = []
    rows = 0
    for table in tables:
        if len(table):
            waiting.append(table)
            rows += len(table)
        if rows >= most:
            yield MappingTable.joined(waiting)
            waiting, rows = [], 0
    if waiting:
        yield MappingTable.joined(waiting)


def fastest(
    space: Space,
    step: TrainingStep,
    cluster: Cluster,
    estimator: TableEstimator,
    *,
    within: float | None = None,
    enough: int | None = None,
) -> Ranked | None:
    """The fastest layout of a space; None: none fits, or none divides, or none is `within` so many seconds.

    After `enough` layouts the fastest so far will do.
    """
    try:
        ranking = search(space, step, cluster, estimator, top=1, within=within, enough=enough)
    except MappingError:
        return None
    return next((found for found in ranking.best if within is None or found.time <= within), None)


def lightest(space: Space, step: TrainingStep, cluster: Cluster, estimator: TableEstimator) -> Ranked | None:
    """The layout of a space that holds least, whether it fits or not; None: none divides."""
    found: Ranked | None = None
    if not space.micro_batch:  # a larger one never holds less: as many sequences are on their way, or more
        space = replace(space, largest_micro_batch=1)
    for table in _batches(layouts(space, step, cluster)):
        priced = estimator.table(step, cluster, table)
        held = np.where(priced.runs_but_for_memory, priced.memory_bytes, np.inf)
        row = int(np.argmin(held))
        if np.isfinite(held[row]) and (found is None or held[row] < found.memory):
            found = _ranked(priced, row)
    return found


def _ranked(table: EstimateTable, row: int) -> Ranked:
    return Ranked(mapping=table.mappings.row(row), time=float(table.time[row]), memory=float(table.memory_bytes[row]))


def _may_fit(table: MappingTable, step: TrainingStep, cluster: Cluster) -> NDArray[np.bool_]:
    """Whether weights, gradients and optimiser state alone fit: a bound from below on memory.

    Parameters of a chip are at least the model's over all axes that share them out. Experts alone are divided by expert
    parallelism; dividing everything by it keeps the bound a bound.
    """
    replicas = combined(table, REPLICAS)
    sharing_out = combined(table, [axis for axis in AXES if axis not in REPLICAS])
    least = step.model.trainable_parameters() / sharing_out
    # Software may share out weights in 32 bits alone, which are among the states.
    held = np.where(table.zero >= 3, 0.0, element_bytes(step.weight_element))
    held = held + element_bytes(step.gradient_element) / np.where(table.zero >= 2, replicas, 1.0)
    held = held * (1.0 - table.offload_weights)
    states = float(np.max(step.optimiser_state)) / np.where(table.zero >= 1, replicas, 1.0)
    held = held + states * (1.0 - table.offload_optimiser)
    frozen = step.model.frozen_bytes / sharing_out / np.where(table.zero >= 3, replicas, 1.0)
    return np.asarray(least * held + frozen * (1.0 - table.offload_weights) <= np.max(cluster.chip.capacity))


class _Keeper:
    """Keeps the fastest layouts seen."""

    def __init__(self, top: int) -> None:
        self.top = top
        self.heap: list[tuple[float, int, Ranked]] = []
        self.nearest: Ranked | None = None
        self.lightest = np.inf
        self.of_kinds: dict[Kind, Ranked] = {}
        self.configurations = self.evaluated = self.pruned = self.feasible = 0

    def keep(self, table: EstimateTable) -> None:
        feasible = table.feasible
        self.evaluated += len(table)
        self.feasible += int(feasible.sum())
        slowest = -self.heap[0][0] if len(self.heap) == self.top else np.inf
        rows = _fastest(np.where(feasible & (table.time <= slowest), table.time, np.inf), self.top)
        for row, mapping in zip(map(int, rows), table.mappings.single(rows), strict=True):
            found = Ranked(mapping=mapping, time=float(table.time[row]), memory=float(table.memory_bytes[row]))
            heapq.heappush(self.heap, (-found.time, -self.evaluated - row, found))
            if len(self.heap) > self.top:
                heapq.heappop(self.heap)
        self._keep_of_kinds(table, np.flatnonzero(feasible))
        running = table.runs_but_for_memory
        self.lightest = min(self.lightest, float(np.min(table.memory_bytes, where=running, initial=np.inf)))
        only_memory = ~feasible & running
        if only_memory.any():
            row = int(np.argmin(np.where(only_memory, table.time, np.inf)))
            if self.nearest is None or table.time[row] < self.nearest.time:
                self.nearest = _ranked(table, row)

    def _keep_of_kinds(self, table: EstimateTable, rows: NDArray[np.intp]) -> None:
        found = kinds(table.mappings.take(rows))
        for kind in map(Kind, np.unique(found)):
            of_kind = rows[found == kind]
            row = int(of_kind[np.argmin(table.time[of_kind])])
            if kind not in self.of_kinds or table.time[row] < self.of_kinds[kind].time:
                self.of_kinds[kind] = _ranked(table, row)

    def ranking(self) -> Ranking:
        best = tuple(found for _, _, found in sorted(self.heap, key=lambda entry: (-entry[0], -entry[1])))
        if not self.configurations:
            raise MappingError("the space holds no layout at all; widen it")
        faster = self.nearest is not None and (not best or self.nearest.time < best[0].time)
        return Ranking(
            best=best,
            of_kinds=tuple(sorted(self.of_kinds.items(), key=lambda pair: pair[1].time)),
            nearest=self.nearest if faster else None,
            lightest=self.lightest,
            configurations=self.configurations,
            evaluated=self.evaluated,
            pruned=self.pruned,
            feasible=self.feasible,
        )


def _fastest(times: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Rows of the smallest finite times."""
    finite = int(np.isfinite(times).sum())
    count = min(count, finite)
    if count == 0:
        return np.empty(0, dtype=np.intp)
    return np.argpartition(times, count - 1)[:count]
