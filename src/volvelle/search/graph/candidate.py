"""One way to give chips to axes, and its cells: a tile size and a layout between blocks, each searched by itself."""

from collections.abc import Sequence
from functools import cached_property
from math import inf
from time import perf_counter

from volvelle.estimators.dataflow.chip_graph import Exchange
from volvelle.estimators.dataflow.on_chip import FusionProblem
from volvelle.search.certificate import SearchCounts
from volvelle.search.graph.block_question import BlockQuestion
from volvelle.search.graph.block_search import AT_ONCE, CLOSE, BlockSearch, Solved, Solver, fused
from volvelle.search.graph.graph_stages import TooWideError, cut_graph
from volvelle.search.graph.guide import Guide
from volvelle.search.graph.memory import MemoryLowerBound, block_memory
from volvelle.search.graph.question import Question
from volvelle.search.graph.sharding import Sharding
from volvelle.search.graph.staged_plan import PlacedDegrees, StagedPlan
from volvelle.search.graph.stages import crossing_bytes
from volvelle.workload.operations import Phase
from volvelle.workload.tensor_layout import Collective, TensorLayout


class Candidate:
    """Degrees on the network, with a bound that is made sharper when asked."""

    def __init__(self, question: Question, placed: PlacedDegrees, known: dict[tuple[int, object, int], Guide]) -> None:
        """With the guides that are `known` so far, to share: by block, network and degree, those of less than all."""
        self.question, self.placed, self._known = question, placed, known
        degrees = placed.degrees
        self.stages, self.rounds = degrees.pipeline, placed.micro_batches + degrees.pipeline - 1
        self.hand_over = placed.least_hand_over(question.cuts)
        group = degrees.group("tensor")
        self.exchange = placed.network.exchange(group)
        self.replicas = self._replicas()
        self.level = 0
        self.made: list[Cell] = []
        """Its cells, once they are asked for."""
        self._guides: dict[TensorLayout | None, list[Guide]] = {}
        blocks = question.workload.blocks
        # Where vector units have their own width a FLOP may cost less than a share of the peak: no bound then.
        works = [question.work(block) / question.rate if question.chip.utilisation else 0.0 for block in blocks]
        self.bound = self.step([work / degrees.tensor for work in works])

    def _replicas(self) -> Exchange | None:
        placed = self.placed
        if placed.degrees.data == 1:
            return None
        exchange, count = placed.network.exchange(placed.degrees.group("data")), placed.micro_batches

        def seconds(collective: Collective, size: float) -> float:
            return exchange(collective, size) / count

        return seconds

    def step(self, times: Sequence[float]) -> float:
        """Seconds a step at least, from seconds of one copy of every block."""
        whole = sum(block.repeat * time for block, time in zip(self.question.workload.blocks, times, strict=True))
        return self.rounds * (whole / self.stages + self.hand_over)

    def sharpen(self) -> None:
        """A better bound: the best shardings, first without replicas, then with."""
        self.level += 1
        guides = [self._first(number) for number in self.blocks] if self.level == 1 else self.guides(None)
        self.bound = max(self.bound, self.step([guide.bound for guide in guides]))

    def _first(self, number: int) -> Guide:
        """Of a block without replicas and without the limit of DRAM: the same for all that have its network."""
        group = self.placed.degrees.group("tensor")
        key = (number, group.spans, group.degree)
        if key not in self._known:
            self._known[key] = Guide(self.block_question(number, None, None, whole=False))
        return self._known[key]

    @property
    def blocks(self) -> range:
        """By number."""
        return range(len(self.question.workload.blocks))

    def guides(self, boundary: TensorLayout | None) -> list[Guide]:
        """Of every block, with that layout between blocks; None: any."""
        if boundary not in self._guides:
            self._guides[boundary] = [
                Guide(self.block_question(number, None, boundary), start=self._first(number).weights)
                for number in self.blocks
            ]
        return self._guides[boundary]

    def block_question(
        self, number: int, tile: int | None, boundary: TensorLayout | None, *, whole: bool = True
    ) -> BlockQuestion:
        """What is asked of one block; unless `whole` without replicas and without the limit of DRAM."""
        question, held, room = self.question, None, inf
        if whole:
            room = self.capacity - self.least_held + self._holdings[number].least
            held = self._holdings[number].within(room)
        return BlockQuestion(
            asked=question,
            number=number,
            table=question.table(number, self.placed.degrees.tensor, tile),
            exchange=self.exchange,
            replicas=self.replicas if whole else None,
            micro_batches=self.placed.micro_batches,
            boundary=boundary,
            held=held,
            room=room,
            deadline=question.deadline,
        )

    @property
    def alike(self) -> bool:
        """Whether every stage has as many copies of the one block."""
        blocks = self.question.workload.blocks
        return len(blocks) == 1 and blocks[0].repeat % self.stages == 0

    def held(self, number: int, parameters: float, weights: float, saved: float) -> float:
        """Bytes of a block's copies on a chip: exact if all stages are alike, else as stages hold on average."""
        copies = self.question.workload.blocks[number].repeat / self.stages
        flight = self._flight if self.alike else 1
        return copies * self.placed.held_by(parameters, weights, saved, flight=flight)

    @property
    def _flight(self) -> int:
        """Micro-batches in flight on the first stage."""
        return min(self.placed.micro_batches, self.stages)

    def _least(self, flight: int) -> list[MemoryLowerBound]:
        """Bytes that operations of every block make a chip hold."""
        question, placed = self.question, self.placed
        units = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
        parameter, weight, saved = (placed.held_by(*unit, flight=flight) for unit in units)
        found = []
        for number, block in enumerate(question.workload.blocks):
            copies, own = block.repeat / self.stages, question.own_bytes(number, placed.degrees.tensor)
            found.append(
                MemoryLowerBound(own, parameter=copies * parameter, weight=copies * weight, saved=copies * saved)
            )
        return found

    @cached_property
    def likely_share(self) -> float:
        """What the first stage takes of the DRAM at least if blocks are shared out evenly, as a share of it."""
        held = sum(one.least for one in self._least(self._flight))
        return held / self.capacity if self.capacity > 0.0 else inf

    @cached_property
    def _holdings(self) -> list[MemoryLowerBound]:
        return self._least(self._flight if self.alike else 1)

    @property
    def capacity(self) -> float:
        """Bytes of DRAM that are there for what operations hold."""
        return self.placed.capacity - self.placed.reserved

    @property
    def least_held(self) -> float:
        """Bytes of DRAM that the fullest stage needs at least."""
        return sum(one.least for one in self._holdings)

    @cached_property
    def tiles(self) -> list[int | None]:
        """Tile sizes with which every operation fits the chip."""
        question, degree = self.question, self.placed.degrees.tensor
        return [
            tile for tile in question.tiles if all(question.table(number, degree, tile).fits for number in self.blocks)
        ]

    def cells(self) -> list["Cell"]:
        """One for every tile size and, where blocks differ, for every layout between them."""
        if self.made:
            return self.made
        question, degree = self.question, self.placed.degrees.tensor
        boundaries: Sequence[TensorLayout | None] = (None,)
        if len(question.workload.blocks) > 1:
            sharder = question.sharders[0]
            boundaries = [
                one for one in sharder.tables.boundaries if sharder.able(one.dim or None, degree, question.refused)
            ]
        self.made = [Cell(self, tile, boundary) for tile in self.tiles for boundary in boundaries]
        return self.made


class Cell:
    """A tile size and a layout between blocks: every block searched for its best sharding and fusion."""

    def __init__(self, candidate: Candidate, tile: int | None, boundary: TensorLayout | None) -> None:
        self.candidate, self.tile, self.boundary = candidate, tile, boundary
        self.searches: list[BlockSearch] = []
        self.bound = max(candidate.bound, candidate.step([guide.bound for guide in candidate.guides(boundary)]))
        self.glanced = candidate.likely_share > 1.0
        """A short look was taken, or would show nothing that DRAM can hold."""
        self.seen: float | None = None
        """Seconds of the plan that came of it."""
        self.least_full = inf
        """Bytes of the sharding that was nearest to fit the DRAM and did not."""

    def open(self, counts: SearchCounts) -> None:
        """Bound every block's shardings for this tile size."""
        for number, guide in enumerate(self.candidate.guides(self.boundary)):
            question = self.candidate.block_question(number, self.tile, self.boundary)
            solver = self._cutter() if self._uncut(number) else fused
            search = BlockSearch(question, counts, hints=guide.hints, start=guide.weights, solver=solver)
            self.searches.append(search)
        self._settle()

    def glance(self, counts: SearchCounts) -> StagedPlan | None:
        """A plan of shardings that look good whatever the tile size, each quickly fused."""
        self.glanced, solved, deadline = True, list[Solved](), self.candidate.question.deadline
        for number, guide in enumerate(self.candidate.guides(self.boundary)):
            question = self.candidate.block_question(number, self.tile, self.boundary)
            solver, best = self._cutter() if self._uncut(number) else fused, None
            for sharding in (*([guide.best.sharding] if guide.best else ()), *guide.shardings):
                if perf_counter() > deadline:
                    break
                if self._fits(number, sharding):
                    counts.fusions += 1
                    limit = inf if best is None else best.time
                    found = solver(sharding, question.problem(sharding.sharded), limit, deadline, True)
                    best = found if isinstance(found, Solved) else best
            if best is None:
                return None
            solved.append(best)
        return self._plan(tuple(solved))

    def _plan(self, solved: tuple[Solved, ...]) -> StagedPlan | None:
        """The plan of solved blocks, if DRAM can hold it."""
        plan = StagedPlan(placed=self.candidate.placed, solved=solved)
        if plan.memory_bytes <= self.candidate.placed.capacity * (1.0 + CLOSE):
            return plan
        self.least_full = min(self.least_full, plan.memory_bytes)
        return None

    def _settle(self) -> None:
        self.bound = max(self.bound, self.candidate.step(self._bounds()))

    def _bounds(self) -> list[float]:
        """Of every block, from what is known of it here and whatever the tile size."""
        bounds = [guide.bound for guide in self.candidate.guides(self.boundary)]
        if self.searches:
            bounds = [max(one, search.bound) for one, search in zip(bounds, self.searches, strict=True)]
        return bounds

    def unguided(self, incumbent: float) -> list[int]:
        """Blocks whose bound whatever the tile size can be made sharper, the one that may bring most first."""
        blocks, guides = self.candidate.question.workload.blocks, self.candidate.guides(self.boundary)
        cutoffs = [self._cutoff(number, incumbent) for number in range(len(guides))]
        left = [number for number, guide in enumerate(guides) if not guide.closed(cutoffs[number])]
        return sorted(left, key=lambda one: -blocks[one].repeat * (cutoffs[one] - guides[one].bound))

    def sharpen(self, number: int, *, incumbent: float, deadline: float, counts: SearchCounts) -> None:
        """A sharper bound of a block whatever the tile size, for every cell of the same layout between blocks."""
        candidate, guides = self.candidate, self.candidate.guides(self.boundary)
        guides[number].sharpen(
            enough=self._cutoff(number, incumbent),
            deadline=deadline,
            counts=counts,
            fits=lambda sharding: self._fits(number, sharding),
        )
        for cell in candidate.made:
            if cell.boundary == self.boundary:
                cell._settle()

    @property
    def promise(self) -> float:
        """Seconds a step of what was found whatever the tile size: it may be so with one of them."""
        return self.candidate.step([guide.time for guide in self.candidate.guides(self.boundary)])

    def advance(self, *, incumbent: float, deadline: float, looks: int = AT_ONCE) -> StagedPlan | None:
        """Look at more shardings of the block that is furthest from settled; gives a plan if one got better."""
        blocks = self.candidate.question.workload.blocks
        open_ones = [
            number for number, search in enumerate(self.searches) if not search.closed(self._cutoff(number, incumbent))
        ]
        if not open_ones:
            return None
        number = max(
            open_ones, key=lambda one: blocks[one].repeat * (self.searches[one].time - self.searches[one].bound)
        )
        search = self.searches[number]
        found = search.advance(
            cutoff=self._cutoff(number, incumbent),
            deadline=deadline,
            looks=looks,
            fits=lambda sharding: self._fits(number, sharding),
        )
        plan = None
        solved = [one.best for one in self.searches if one.best is not None]
        if found is not None and len(solved) == len(self.searches):
            plan = self._plan(tuple(solved))
            if plan is None:
                search.refuse(found)
        self._settle()
        return plan

    def closed(self, incumbent: float) -> bool:
        """Whether nothing here can still beat the incumbent or what was found here."""
        return all(search.closed(self._cutoff(number, incumbent)) for number, search in enumerate(self.searches))

    def _cutoff(self, number: int, incumbent: float) -> float:
        """Seconds of one copy of a block, above which a step cannot beat the incumbent."""
        if incumbent == inf:
            return inf
        blocks, candidate = self.candidate.question.workload.blocks, self.candidate
        bounds = self._bounds()
        others = sum(
            block.repeat * bound
            for place, (block, bound) in enumerate(zip(blocks, bounds, strict=True))
            if place != number
        )
        left = (incumbent / candidate.rounds - candidate.hand_over) * candidate.stages - others
        return max(0.0, left / blocks[number].repeat)

    def _fits(self, number: int, sharding: Sharding) -> bool:
        """Whether DRAM can hold it at all; exact where every stage has as many copies."""
        candidate = self.candidate
        block = block_memory(sharding.sharded, candidate.placed.workload.sizes, candidate.placed.degrees.tensor)
        need = candidate.held(number, block.parameters, block.weights, block.saved)
        if need > candidate.capacity * (1.0 + CLOSE):
            self.least_full = min(self.least_full, need + candidate.placed.reserved)
            return False
        return True

    # -- graphs that do not repeat -------------------------------------------------------------------------------

    def _uncut(self, number: int) -> bool:
        """Whether stages are to be cut out of the graph together with its fusion."""
        question = self.candidate.question
        block = question.workload.blocks[number]
        return (
            self.candidate.stages > 1
            and len(question.workload.blocks) == 1
            and block.repeat == 1
            and not question.pins.get(block.name)
            and question.choices.partitions is None
            and all(op.phase is Phase.FORWARD for op in block.operations)
        )

    def _cutter(self) -> Solver:
        placed, stages = self.candidate.placed, self.candidate.stages

        def cut(
            sharding: Sharding, problem: FusionProblem, cutoff: float, deadline: float, quick: bool
        ) -> Solved | float:
            size = block_memory(sharding.sharded, placed.workload.sizes, placed.degrees.tensor).size_of

            def hand_over(done: frozenset[str]) -> float:
                return placed.hand_over(crossing_bytes(sharding.sharded.block, size.__getitem__, done))

            try:
                found = cut_graph(problem, stages, hand_over, upper=cutoff / stages, deadline=deadline)
            except TooWideError:
                return fused(sharding, problem, cutoff, deadline, quick)
            if found is None:
                return cutoff
            return Solved(
                sharding=sharding,
                problem=problem,
                fusion=found.fusion,
                time=stages * found.slowest,
                bound=stages * found.bound,
                starts=found.starts,
            )

        return cut
