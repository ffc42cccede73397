"""The search itself: best first over degrees and tile sizes, until no bound is less than the best plan."""

import heapq
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from math import inf
from time import perf_counter

from volvelle.estimators.dataflow.partition_time import partition_times_of
from volvelle.estimators.result import Violation
from volvelle.quantities import BYTES, show
from volvelle.search.certificate import SearchCounts
from volvelle.search.fusion.infeasible import reasons
from volvelle.search.graph.answer import FusedBlock, MappedPlan
from volvelle.search.graph.block_search import AT_ONCE, CLOSE
from volvelle.search.graph.candidate import Candidate, Cell
from volvelle.search.graph.elimination import OutOfTimeError
from volvelle.search.graph.explain import contributions, limits
from volvelle.search.graph.guide import Guide
from volvelle.search.graph.question import Question
from volvelle.search.graph.staged_plan import PlacedDegrees, StagedPlan

_NAMED = 4
"""Kernels that do not fit the chip which are named."""
_ROOMY = 0.6
"""Share of the DRAM up to which what must be held leaves room for what comes on top."""
_FIRST = 3
"""Shardings looked at when a cell is opened."""
_TURN = 0.5
"""Seconds that a cell is looked at before the search turns to what else is open."""
_PROMISING = 1.15
"""A cell whose first plan takes so many times the best or less is worth a look at its neighbours."""


class BestFirst:
    """Everything that is still open, each with its bound; the least bound first."""

    def __init__(self, question: Question, placements: Sequence[PlacedDegrees]) -> None:
        self.question, self.deadline = question, question.deadline
        self.counts, self._number = SearchCounts(degrees=len(placements)), count()
        self.best: tuple[StagedPlan, Cell] | None = None
        self.time = inf
        self.left = inf
        """No mapping of what was closed takes less than this or the best."""
        self.least_full, self.least_full_bytes = inf, inf
        """The least step and the least bytes of what the DRAM cannot hold."""
        self.waiting: list[tuple[float, int, Candidate]] = []
        self.cells: list[tuple[float, int, Cell]] = []
        known: dict[tuple[int, object, int], Guide] = {}
        self.candidates = [Candidate(question, placed, known) for placed in placements]
        for candidate in self.candidates:
            if candidate.least_held > candidate.capacity:
                self._refused(candidate.bound, candidate.least_held + candidate.placed.reserved)
                self.counts.full += 1
            else:
                heapq.heappush(self.waiting, (candidate.bound, next(self._number), candidate))
                self.counts.pruned += 1  # until it is opened

    def _keep(self, cell: Cell) -> None:
        heapq.heappush(self.cells, (cell.bound, next(self._number), cell))

    def _refused(self, bound: float, size: float) -> None:
        self.least_full = min(self.least_full, bound)
        self.least_full_bytes = min(self.least_full_bytes, size)

    def run(self) -> None:
        """Until no bound is less than the best, or time is up.

        What is furthest from settled comes first; in between, other degrees are opened one by one, since one that is
        good makes short work of the rest.
        """
        with suppress(OutOfTimeError):
            self._run()

    def _run(self) -> None:
        self._start()
        turn = 0
        while perf_counter() < self.deadline:
            turn += 1
            first = self.waiting[0][0] if self.waiting else inf
            cell = self.cells[0][0] if self.cells else inf
            enough = self.time * (1.0 - CLOSE)
            if min(first, cell) >= enough:
                return
            if first <= cell or (turn % 2 and first < enough):
                self._open()
            elif turn % 2 and (fresh := self._unseen(enough)) is not None:
                self._glance(fresh)
            else:
                # Every second turn a cell that was never opened: what it holds may make short work of the rest.
                entry = self._unopened(enough) if turn % 2 else None
                entry = entry or self.cells[0]
                if self._sharpen(entry[2]):
                    continue
                self._advance(entry[2])
                self.cells.remove(entry)
                heapq.heapify(self.cells)

    def _sharpen(self, cell: Cell) -> bool:
        """Raise the bound of a cell and of all that differ from it in their tile size only; whether it could be."""
        blocks = cell.unguided(self.time)
        if not blocks:
            return False
        before, turn = cell.promise, min(self.deadline, perf_counter() + _TURN)
        cell.sharpen(blocks[0], incumbent=self.time, deadline=turn, counts=self.counts)
        promise = cell.promise
        if promise < min(before, self.time * (1.0 - CLOSE)):
            alike = [one for one in cell.candidate.made if one.boundary == cell.boundary]
            for other in sorted(alike, key=lambda one: inf if one.seen is None else one.seen):
                other.seen = None
                if self._glance(other) <= promise * (1.0 + CLOSE):
                    break
        self.cells = [(one.bound, number, one) for _, number, one in self.cells]
        heapq.heapify(self.cells)
        return True

    def _start(self) -> None:
        """A first plan: a short look at degrees that DRAM is likely to hold, those of the least bound first."""
        likely = [
            (candidate.likely_share > _ROOMY, bound, number, candidate)
            for bound, number, candidate in self.waiting
            if candidate.likely_share <= 1.0
        ]
        heapq.heapify(likely)
        while likely and self.best is None and perf_counter() < self.deadline:
            tight, _, number, candidate = heapq.heappop(likely)
            if not candidate.tiles:
                continue
            if candidate.level < 1:
                candidate.sharpen()
                heapq.heappush(likely, (tight, candidate.bound, number, candidate))
            elif candidate.bound < inf:
                self._glance_middle(candidate)
        self.waiting = [(candidate.bound, number, candidate) for _, number, candidate in self.waiting]
        heapq.heapify(self.waiting)

    def _unseen(self, enough: float) -> Cell | None:
        """The cell of the least bound that was not looked at yet."""
        return next((cell for bound, _, cell in sorted(self.cells) if not cell.glanced and bound < enough), None)

    def _unopened(self, enough: float) -> tuple[float, int, Cell] | None:
        """The cell of the least bound that was not opened yet, with its place in the queue."""
        return min((entry for entry in self.cells if not entry[2].searches and entry[0] < enough), default=None)

    def _open(self) -> None:
        """Sharpen the bound of the next degrees; where it is sharp already, look at a tile size of theirs."""
        candidate = self.waiting[0][2]
        if not candidate.tiles:
            heapq.heappop(self.waiting)
            return
        if candidate.level < 2:
            candidate.sharpen()
            heapq.heapreplace(self.waiting, (candidate.bound, next(self._number), candidate))
            return
        cells = candidate.cells()
        heapq.heappop(self.waiting)
        self.counts.pruned -= 1
        for cell in cells:
            self._keep(cell)
        times = self._glance_middle(candidate)
        for cell, time in sorted(times.items(), key=lambda item: item[1]):
            if time <= self.time * _PROMISING:
                self._climb(cell, time)

    def _glance_middle(self, candidate: Candidate) -> dict[Cell, float]:
        """A short look at a tile size that is neither small nor large; gives what plans take."""
        every = self.question.tiles
        middle = every[len(every) // 3]
        if middle not in candidate.tiles:
            middle = candidate.tiles[len(candidate.tiles) // 3]
        return {cell: self._glance(cell) for cell in candidate.cells() if cell.tile == middle}

    def _glance(self, cell: Cell) -> float:
        """A short look at every block of a cell; gives what the plan takes that comes of it."""
        if cell.seen is not None:
            return cell.seen
        plan = None
        if cell.candidate.likely_share <= 1.0 and perf_counter() < self.deadline:
            plan = cell.glance(self.counts)
        cell.seen = inf if plan is None else plan.time
        if plan is None:
            return inf
        self._offer(plan, cell)
        return plan.time

    def _climb(self, cell: Cell, time: float) -> None:
        """What is good with one tile size may be better with the next."""
        row = [other for other in cell.candidate.made if other.boundary == cell.boundary]
        for step in (1, -1):
            place = row.index(cell) + step
            while 0 <= place < len(row) and not row[place].glanced:
                found = self._glance(row[place])
                if found >= time:
                    break
                time, place = found, place + step

    def _offer(self, plan: StagedPlan, cell: Cell) -> None:
        if plan.time < self.time:
            self.best, self.time = (plan, cell), plan.time

    def _advance(self, cell: Cell) -> None:
        """Look at some more of a cell; when it is first opened, at what looks best in it."""
        looks = AT_ONCE
        if not cell.searches:
            cell.open(self.counts)
            looks = _FIRST
        turn = min(self.deadline, perf_counter() + _TURN)
        plan = cell.advance(incumbent=self.time, deadline=turn, looks=looks)
        if cell.least_full < inf:
            self._refused(cell.bound, cell.least_full)
        if plan is not None:
            self._offer(plan, cell)
        if cell.closed(self.time):
            self.left = min(self.left, cell.bound)
        else:
            self._keep(cell)

    @property
    def bound(self) -> float:
        """No mapping takes less."""
        ends = [heap[0][0] for heap in (self.waiting, self.cells) if heap]
        return min(self.time, self.left, *ends)

    # -- the answer ----------------------------------------------------------------------------------------------

    def plan(self, micro_batches: int) -> MappedPlan | None:
        """The best plan, with its reasons."""
        if self.best is None:
            return None
        staged, cell = self.best
        placed, question = staged.placed, self.question
        blocks = []
        for number, (solved, timing, memory) in enumerate(
            zip(staged.solved, staged.times, staged.memories, strict=True)
        ):
            asked = cell.candidate.block_question(number, cell.tile, cell.boundary)
            plain = asked.problem(solved.sharding.sharded, replicas=False)
            gradients = {
                one.name: one.network_time - other.network_time
                for one, other in zip(solved.problem.kernels, plain.kernels, strict=True)
                if one.network_time > other.network_time
            }
            blocks.append(
                FusedBlock(
                    sharded=solved.sharding.sharded,
                    partitions=timing.partitions,
                    fusion=solved.fusion,
                    timing=timing,
                    problem=solved.problem,
                    tile=cell.tile,
                    weights=memory.weights,
                    saved=memory.saved,
                    gradients_of=gradients,
                )
            )
        stages, own = staged.stages, placed.micro_batches
        flops = sum(
            block.repeat * op.kind.work().flops(question.workload.sizes)
            for block in question.workload.blocks
            for op in block.operations
        )
        chip = question.chip
        return MappedPlan(
            workload=question.workload,
            decision=None,
            memory=max(stages, key=lambda stage: stage.memory_bytes).memory,
            chips=placed.degrees.chips,
            degrees=placed.degrees,
            boundary=staged.solved[0].sharding.boundary,
            blocks=tuple(blocks),
            stages=stages,
            micro_batches=own,
            contributions=contributions(
                blocks,
                stages,
                micro_batches=own,
                overlap=question.choices.overlap,
                idle=placed.degrees.pipeline - 1,
            ),
            limits=limits(
                blocks,
                stages,
                micro_batches=own,
                pipeline=placed.degrees.pipeline,
                least_full=self.least_full,
            ),
            capacity=placed.capacity,
            work=flops * micro_batches,
            peak=2.0 * chip.cores * chip.width * chip.height * chip.clock,
        )

    def violations(self) -> tuple[Violation, ...]:
        """Why there is no plan."""
        if self.best is not None:
            return ()
        if self.bound < inf:
            problem = "no plan was found within the time limit"
            return (Violation(name="time", problem=problem, cures=()),)
        found = self._misfits()
        if self.least_full < inf:
            over = self.least_full_bytes - self.question.chip.dram_capacity
            found.append(
                Violation(
                    name="dram",
                    problem=f"the fullest chip needs at least {show(self.least_full_bytes, BYTES)} of DRAM, "
                    f"{show(over, BYTES)} more than it has",
                    cures=(),
                )
            )
        return tuple(found)

    def _misfits(self) -> list[Violation]:
        """What of a block does not fit the chip, split as far and tiled as finely as may be."""
        widest = max(self.candidates, key=lambda one: one.placed.degrees.tensor)
        found: list[Violation] = []
        for number in range(len(self.question.workload.blocks)):
            asked = widest.block_question(number, self.question.tiles[0], None)
            found += reasons(partition_times_of(asked.problem(asked.likely().sharded)))
        found = [one for one in found if one.name in ("sram", "cores", "pins", "partitions")]
        if len(found) > _NAMED:
            rest = f"; so do {len(found) - _NAMED} more"
            found[_NAMED - 1] = replace(found[_NAMED - 1], problem=found[_NAMED - 1].problem + rest)
        return found[:_NAMED]
