"""What is asked of the joint search, and what it makes once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from volvelle.estimators.dataflow.on_chip import FusionChoices, OnChip
from volvelle.mapping.sharding import Objective
from volvelle.search.graph.chip_table import ChipTable
from volvelle.search.graph.memory import OwnBytes
from volvelle.search.graph.sharding import Sharder
from volvelle.search.graph.split_tables import handed_layouts
from volvelle.search.graph.stages import Crossing, handed_bytes, least_crossings
from volvelle.workload.graph import Block, Workload
from volvelle.workload.operations import Unit


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of the joint search, and what it makes once."""

    workload: Workload
    chip: OnChip
    stream: str | None
    choices: FusionChoices
    tiles: tuple[int | None, ...]
    pins: Mapping[str, Mapping[str, int]]
    refused: tuple[str, ...]
    """Dimensions that are not split."""
    objective: Objective
    vector_cost: float
    ends: bool
    """What enters and leaves a block passes through DRAM."""
    deadline: float
    """By `time.perf_counter`."""
    tables: dict[tuple[int, int, int | None], ChipTable] = field(default_factory=dict)
    """Made so far: by block, degree and tile."""
    holdings: dict[tuple[int, int], OwnBytes] = field(default_factory=dict)
    """Known so far: by block and degree."""

    @cached_property
    def sharders(self) -> tuple[Sharder, ...]:
        """Of every block; where there are several, with the layouts that any of them may hand on."""
        blocks, boundaries = self.workload.blocks, None
        if len(blocks) > 1:
            boundaries = tuple(dict.fromkeys(one for block in blocks for one in handed_layouts(block)))
        return tuple(Sharder(block, self.workload.sizes, boundaries=boundaries) for block in blocks)

    @cached_property
    def cuts(self) -> tuple[Crossing, ...]:
        """What crosses the cheapest cuts of a workload that is one layer, repeated; else nothing is known."""
        block, sizes = self.workload.blocks[0], self.workload.sizes
        if len(self.workload.blocks) > 1 or block.repeat == 1 or not block.is_layer:
            return ()
        between = handed_bytes(block, sizes)
        return least_crossings(block, lambda name: block.tensor_of[name].bytes(sizes), between=between)

    def table(self, number: int, degree: int, tile: int | None) -> ChipTable:
        """What operations of a block take on one chip."""
        key = (number, degree, tile)
        if key not in self.tables:
            self.tables[key] = ChipTable(
                block=self.workload.blocks[number],
                sizes=self.workload.sizes,
                degree=degree,
                stream=self.stream,
                tile=tile,
                chip=self.chip,
                choices=self.choices,
                vector_cost=self.vector_cost,
                ends=self.ends,
            )
        return self.tables[key]

    def own_bytes(self, number: int, degree: int) -> OwnBytes:
        """What operations of a block make a chip hold."""
        if (number, degree) not in self.holdings:
            self.holdings[number, degree] = OwnBytes(self.workload.blocks[number], self.workload.sizes, degree)
        return self.holdings[number, degree]

    def work(self, block: Block) -> float:
        """FLOP of one copy, those of vector units counted at what they cost."""
        works = [op.kind.work() for op in block.operations]
        return sum(
            work.flops(self.workload.sizes) * (self.vector_cost if work.unit is Unit.VECTOR else 1.0) for work in works
        )

    @property
    def rate(self) -> float:
        """FLOP/s of a chip at its best."""
        chip = self.chip
        return 2.0 * chip.cores * chip.width * chip.height * chip.clock * (chip.utilisation or 1.0)
