"""What is asked of one block on one group of chips, and what is known of it whatever the tile size."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

from volvelle.estimators.dataflow.chip_graph import ChipGraph, Exchange
from volvelle.estimators.dataflow.on_chip import FusionProblem
from volvelle.mapping.sharding import Objective, ShardedBlock
from volvelle.search.graph.chip_table import ChipTable
from volvelle.search.graph.question import Question
from volvelle.search.graph.sharding import TIES, Sharder, Sharding
from volvelle.search.graph.sharding_times import ShardingTimes
from volvelle.search.graph.timed_splits import TimedSplits
from volvelle.workload.operations import Operation
from volvelle.workload.tensor_layout import TensorLayout


@dataclass(frozen=True, kw_only=True)
class BlockQuestion:
    """A block on a group of chips."""

    asked: Question
    number: int
    """Of the block."""
    table: ChipTable
    exchange: Exchange
    replicas: Exchange | None
    micro_batches: int
    boundary: TensorLayout | None
    """The layout between blocks; None: any."""
    held: Callable[[Operation, str | None], float] | None
    """Bytes that an operation makes a chip hold, by the dimension it splits."""
    room: float
    """Bytes that a chip may hold."""
    deadline: float
    """By `time.perf_counter`."""

    @property
    def sharder(self) -> Sharder:
        """Of the block."""
        return self.asked.sharders[self.number]

    @property
    def costs(self) -> ShardingTimes:
        """The bound on what a sharding takes."""
        return ShardingTimes(
            work=self.table.work,
            memory=self.table.memory,
            moved=self.table.moved,
            needs=self.table.needs,
            sram=self.asked.chip.sram * (1.0 + 1e-9),
            sided=self.asked.choices.forward_first,
            exchange=self.exchange,
            replicas=self.replicas,
            micro_batches=self.micro_batches,
            alone=self.table.alone,
            overlap=self.asked.choices.overlap,
            held=self.held,
            room=self.room,
            deadline=self.deadline,
        )

    @property
    def exact(self) -> bool:
        """Whether a fusion of its problem takes what is said: not whatever the tile size, where cores are whole."""
        return self.table.finest is None or self.asked.chip.utilisation is not None

    def timed(self, *, fits: bool = True, objective: Objective = "time") -> TimedSplits:
        """Every split with its time; without `fits` if everything fitted the chip."""
        return self.sharder.timed(
            self.table.degree,
            self.costs if fits and self.exact else replace(self.costs, alone=None),
            objective=objective,
            refused=self.asked.refused,
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
        """The fusion problem of a sharding; where the tile size is open, one that takes no more than with any."""
        asked = self.asked
        graph = ChipGraph(
            sharded=sharded,
            sizes=asked.workload.sizes,
            degree=self.table.degree,
            stream=asked.stream,
            exchange=self.exchange,
            replicas=self.replicas if replicas else None,
            micro_batches=self.micro_batches,
            vector_cost=asked.vector_cost,
            ends=asked.ends,
        )
        # What DRAM holds is not the fusion's business: the stage counts it.
        chip, pins = replace(asked.chip, dram_capacity=inf), asked.pins.get(sharded.block.name, {})
        problem = graph.problem(chip, tile=self.table.tile, choices=asked.choices, pins=pins)
        return problem if self.table.finest is None else problem.in_tiles(self.table.finest)
