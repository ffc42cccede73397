"""Best first over groups of layouts that split their blocks alike: each with a bound, each way to split them in order.

A layout's time is the closed form's, whatever its operations split: the search computes no time of its own. Its bound
is: a micro-batch through all blocks, each split in the best way, shared evenly by the stages. The search ends when no
bound is less than the best time.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import ceil, inf
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import MappingError
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.result import Estimate, EstimateTable, Violation
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.training.stage_memory import MemoryRecipe
from volvelle.mapping.axes import TENSOR
from volvelle.mapping.axis_shardings import axis_shardings
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.mapping.sharding import TensorSharding
from volvelle.quantities import BYTES, show
from volvelle.search.certificate import PROVEN, SearchCounts
from volvelle.search.graph.answer import Axis, MappedBlock, MappedPlan, MappingAnswer
from volvelle.search.graph.elimination import OutOfTimeError
from volvelle.search.graph.network import placed
from volvelle.search.graph.sharding import Sharder
from volvelle.search.graph.split_tables import handed_layouts
from volvelle.search.kernels.block_splits import BlockSplits
from volvelle.search.kernels.least_memory import least_memory
from volvelle.search.kernels.split_times import SplitTimes
from volvelle.search.layouts import layouts
from volvelle.search.space import Space
from volvelle.system.cluster import Cluster
from volvelle.workload.tensor_layout import TensorLayout
from volvelle.workload.training import TrainingStep


def map_kernels(
    step: TrainingStep,
    cluster: Cluster,
    space: Space,
    *,
    data: Sequence[int] = (),
    split: bool = True,
    time_limit: float = 60.0,
) -> MappingAnswer:
    """The best mapping of a step: every layout of a space, its operations split in any way, or as Megatron does."""
    begun = perf_counter()
    search = _Search(step, cluster, space, tuple(data), begun + time_limit)
    search.start(split=split)
    if split:
        search.run()
    return MappingAnswer(
        workload=step.model.name,
        cluster=cluster.name,
        chips=cluster.accelerators,
        plan=search.plan(),
        bound=min(search.bound if split else search.time, search.time),
        seconds=perf_counter() - begun,
        counts=search.counts,
        violations=() if search.best is not None else search.violations(),
    )


@dataclass(order=True)
class _Group:
    """Layouts of equal degrees inside a layer: their blocks can be split alike."""

    bound: float
    number: int
    rows: MappingTable = field(compare=False)
    scale: NDArray[np.float64] = field(compare=False)
    """Row → seconds a step at least for every second of a micro-batch through all blocks."""
    splits: Iterator[tuple[float, TensorSharding | None]] = field(compare=False)
    """Seconds of a micro-batch through all blocks at least, and how they are split; None: a better bound only."""


class _Search:
    def __init__(
        self, step: TrainingStep, cluster: Cluster, space: Space, data: tuple[int, ...], deadline: float
    ) -> None:
        self.step, self.cluster, self.space, self.deadline = step, cluster, space, deadline
        self.data = data
        """Numbers of replicas to consider; none: all."""
        self.machine = SustainedRates.of(cluster, step.element).at_best()
        self.best: ParallelMapping | None = None
        self.time = inf
        self.counts = SearchCounts()
        self.groups: list[_Group] = []
        self.bound = 0.0
        self.least = inf
        """Bytes that the fullest chip holds at least, however layouts and splits are chosen."""
        self.whole = step.whole
        if "batch" in self.whole.sizes:
            self.whole = self.whole.with_sizes(batch=space.micro_batch[0])
        self.boundaries = tuple(dict.fromkeys(one for block in self.whole.blocks for one in handed_layouts(block)))

    @cached_property
    def sharders(self) -> list[Sharder]:
        """Of every block; made when the first group is opened."""
        return [Sharder(block, self.whole.sizes, boundaries=self.boundaries) for block in self.whole.blocks]

    # -- all layouts, Megatron's splits --------------------------------------------------------------------------

    def start(self, *, split: bool) -> None:
        """Every layout with Megatron's splits, and groups of those that other splits may improve.

        Without other splits nothing is grouped, but where nothing fits, to say by how much.
        """
        every = MappingTable.joined(list(layouts(self.space, self.step, self.cluster)))
        if self.data:
            every = every.take(np.flatnonzero(np.isin(every.data, list(self.data))))
        if not len(every):
            return
        self._keep(ClosedForm().table(self.step, self.cluster, every))
        self.counts.degrees = len(every)
        if not split and self.best is not None:
            return
        for structure, rows in every.structures():
            if structure.sequence_parallel:
                continue  # any split includes that of positions
            part = every.take(rows)
            held = least_memory(self.step, self.whole, structure, self.machine, part)
            self.least = min(self.least, float(np.min(held)))
            fits = np.flatnonzero(np.broadcast_to(held <= self.machine.room, (len(part),)))
            self.counts.full += len(part) - len(fits)
            part = part.take(fits)
            degrees = np.stack([part.tensor, part.expert], axis=1)
            for number, pair in enumerate(np.unique(degrees, axis=0)):
                mine = np.flatnonzero((degrees == pair).all(axis=1))
                self.groups.append(self._group(len(self.groups) + number, part.take(mine)))
        heapq.heapify(self.groups)

    def _keep(self, table: EstimateTable) -> None:
        feasible = table.feasible
        if feasible.any():
            row = int(np.argmin(np.where(feasible, table.time, inf)))
            if table.time[row] < self.time:
                self.time, self.best = float(table.time[row]), table.mappings.row(row)

    def _group(self, number: int, table: MappingTable) -> _Group:
        own = self.step.batch / (table.data * table.micro_batch)
        # One forward, one backward: a micro-batch through all stages, and the slowest for all others.
        scale = np.asarray((own + table.pipeline - 1.0) / table.pipeline)
        return _Group(0.0, number, table, scale, self._in_order(table.row(0), float(np.max(table.pipeline))))

    def _in_order(self, mapping: ParallelMapping, stages: float) -> Iterator[tuple[float, TensorSharding | None]]:
        """Ways to split all blocks, from the least bound on, after a first bound that no way beats.

        What is exchanged once a step counts nothing. A chip has room for the weights and gradients of the copies of a
        block that fall on the fullest of so many `stages`.
        """
        recipe = MemoryRecipe.of(self.step)
        state = float(recipe.weight + recipe.gradient) if mapping.zero < 2 else 0.0
        times = [
            SplitTimes(
                self.whole,
                block,
                mapping,
                self.machine,
                state=state * ceil(block.repeat / stages),
                room=float(np.max(self.machine.holds)),
                deadline=self.deadline,
            )
            for block in self.whole.blocks
        ]

        def able(dim: str | None) -> bool:
            size = self.whole.sizes[dim] if dim is not None else 0.0
            return dim is None or (mapping.tensor > 1 and size >= mapping.tensor and size % mapping.tensor == 0)

        yield (
            sum(block.repeat * one.least({}, able) for block, one in zip(self.whole.blocks, times, strict=True)),
            None,
        )
        boundaries = [one for one in self.boundaries if able(one.dim or None)]
        yield from heapq.merge(*(self._joint(times, one) for one in boundaries), key=lambda found: found[0])

    def _joint(self, times: Sequence[SplitTimes], boundary: TensorLayout) -> Iterator[tuple[float, TensorSharding]]:
        """Combinations of the blocks' splits under one layout between blocks, in order of their sum."""
        blocks = self.whole.blocks
        try:
            lists = [BlockSplits(sharder, one, boundary) for sharder, one in zip(self.sharders, times, strict=True)]
        except MappingError:
            return

        def chosen(place: tuple[int, ...]) -> list[tuple[float, dict[str, str | None]]]:
            found = [one.at(number) for one, number in zip(lists, place, strict=True)]
            return [one for one in found if one is not None]

        def cost(place: tuple[int, ...]) -> float | None:
            found = chosen(place)
            if len(found) < len(blocks):
                return None
            return sum(block.repeat * seconds for block, (seconds, _) in zip(blocks, found, strict=True))

        start = (0,) * len(lists)
        first = cost(start)
        heap = [] if first is None else [(first, start)]
        seen = {start}
        while heap:
            seconds, place = heapq.heappop(heap)
            splits = {block.name: split for block, (_, split) in zip(blocks, chosen(place), strict=True)}
            yield seconds, TensorSharding.of(splits, boundary)
            for axis in range(len(place)):
                after = (*place[:axis], place[axis] + 1, *place[axis + 1 :])
                if after not in seen:
                    seen.add(after)
                    found = cost(after)
                    if found is not None:
                        heapq.heappush(heap, (found, after))

    # -- any splits ----------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Look at splits until no bound is less than the best time, or time is up."""
        while self.groups:
            group = self.groups[0]
            self.bound = group.bound
            if group.bound >= self.time * (1.0 - PROVEN) or perf_counter() > self.deadline:
                return
            try:
                found = next(group.splits, None)
            except OutOfTimeError:
                return
            if found is None:
                heapq.heappop(self.groups)
                continue
            seconds, sharding = found
            bounds = group.scale * seconds
            useful = np.flatnonzero(bounds < self.time * (1.0 - PROVEN))
            if len(useful) and sharding is not None:
                table = replace(group.rows.take(useful), sharding=sharding)
                self._keep(ClosedForm().table(self.step, self.cluster, table))
                self.counts.shardings += 1
            heapq.heapreplace(self.groups, replace(group, bound=max(group.bound, float(bounds.min()))))
        self.bound = self.time

    def plan(self) -> MappedPlan | None:
        """The best mapping with its closed form."""
        best = self.best
        if best is None:
            return None
        estimate = ClosedForm().estimate(self.step, self.cluster, best)
        # Ranks are numbered tensor, data, pipeline.
        degree: dict[Axis, int] = {"tensor": best.tensor, "data": best.data, "pipeline": best.pipeline}
        return MappedPlan(
            **{one.name: getattr(estimate, one.name) for one in fields(Estimate)},
            degrees=placed(self.cluster, degree, tuple(degree)),
            blocks=tuple(
                MappedBlock(sharded=axis_shardings(self.whole, block, best.structure)[TENSOR])
                for block in self.whole.blocks
            ),
            micro_batches=self.step.batch // (best.data * best.micro_batch),
        )

    def violations(self) -> tuple[Violation, ...]:
        """Why nothing runs."""
        capacity = float(np.max(self.machine.holds))
        if capacity < self.least < inf:
            least = f"{show(self.least, BYTES)} on its fullest chip, of {show(capacity, BYTES)}"
            problem = f"the layout that needs least needs {least}"
        elif self.least < inf and not self.groups:
            problem = "no split of operations fits, where dimensions that the chips do not divide stay whole"
        elif self.least < inf:
            problem = "no split of operations that the search reached within the time limit fits"
        else:
            problem = "no layout divides micro-batches and chips"
        return (Violation(name="memory" if self.least < inf else "layouts", problem=problem, cures=()),)
