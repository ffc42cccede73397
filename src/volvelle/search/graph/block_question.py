"""What is asked of one block on one group of chips, and what is known of it whatever the tile size."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf

from volvelle.estimators.dataflow.chip_graph import ChipGraph, Exchange
from volvelle.estimators.dataflow.on_chip import FusionChoices, FusionProblem, OnChip, Overlap
from volvelle.mapping.sharding import ShardedBlock
from volvelle.search.graph.chip_table import ChipTable
from volvelle.search.graph.sharding import TIES, Objective, Sharder, Sharding
from volvelle.search.graph.sharding_times import ShardingTimes
from volvelle.search.graph.timed_splits import TimedSplits
from volvelle.workload.operations import Operation
from volvelle.workload.tensor_layout import TensorLayout


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
    deadline: float = inf
    """By `time.perf_counter`."""

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
            needs=self.table.needs,
            sram=self.chip.sram * (1.0 + 1e-9),
            sided=self.choices.forward_first,
            exchange=self.exchange,
            replicas=self.replicas,
            micro_batches=self.micro_batches,
            alone=self.table.alone,
            overlapped=self.choices.overlap is Overlap.ALL,
            held=self.held,
            room=self.room,
            deadline=self.deadline,
        )

    @property
    def exact(self) -> bool:
        """Whether a fusion of its problem takes what is said: not whatever the tile size, where cores are whole."""
        return self.table.finest is None or self.chip.utilisation is not None

    def timed(self, *, fits: bool = True, objective: Objective = "time") -> TimedSplits:
        """Every split with its time; without `fits` if everything fitted the chip."""
        return self.sharder.timed(
            self.degree,
            self.costs if fits and self.exact else replace(self.costs, alone=None),
            objective=objective,
            splits=self.splits,
            refused=self.refused,
            uneven=self.uneven,
            boundary=self.boundary,
        )

    def least_sent(self) -> Sharding:
        """The sharding that sends the fewest bytes."""
        return next(self.sharder.in_order(self.timed(objective="bytes"), ties=TIES))

    def likely(self) -> Sharding:
        """The best sharding if everything fitted the chip."""
        timed = replace(self, held=None, room=inf, deadline=inf).timed(fits=False)
        return next(self.sharder.in_order(timed))

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
        problem = graph.problem(self.chip, tile=self.table.tile, choices=self.choices, pins=self.pins)
        return problem if self.table.finest is None else _as_fine_as_can_be(problem, self.table.finest)


def _as_fine_as_can_be(problem: FusionProblem, tiles: int) -> FusionProblem:
    """The work and traffic of one tile, which nothing is rounded up for, with the buffers of many.

    With no tile size does a fusion take less.
    """
    return replace(
        problem,
        tiles=tiles,
        kernels=tuple(replace(one, flops=one.work / tiles) for one in problem.kernels),
        tensors=tuple(replace(one, bytes=one.bytes / tiles) for one in problem.tensors),
    )
