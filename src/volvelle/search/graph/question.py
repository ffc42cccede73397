"""What is asked of the joint search, and what it makes once."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from volvelle.estimators.dataflow.on_chip import FusionChoices, OnChip
from volvelle.search.graph.chip_table import ChipTable
from volvelle.search.graph.guide import Guide
from volvelle.search.graph.memory import OwnBytes
from volvelle.search.graph.sharding import Objective, Sharder
from volvelle.search.graph.stages import Crossing
from volvelle.workload.graph import Block, Workload
from volvelle.workload.operations import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of the joint search, and what it makes once."""

    workload: Workload
    chip: OnChip
    stream: str | None
    choices: FusionChoices
    tiles: tuple[int | None, ...]
    pins: Mapping[str, Mapping[str, int]]
    splits: Mapping[str, Mapping[str, str | None]]
    refused: tuple[str, ...]
    uneven: bool
    objective: Objective
    vector_cost: float
    ends: bool
    sharders: tuple[Sharder, ...]
    cuts: tuple[Crossing, ...]
    """What crosses the cheapest cuts of an unsplit layer; nothing known: none."""
    tables: dict[tuple[int, int, int | None], ChipTable]
    """Made so far: by block, degree and tile."""
    bounds: dict[tuple[int, object, int], Guide]
    """Known so far: by block, network and degree, the bound without replicas and without the limit of DRAM."""
    holdings: dict[tuple[int, int], OwnBytes]
    """Known so far: by block and degree."""
    deadline: float = inf
    """By `time.perf_counter`."""

    def table(self, number: int, degree: int, tile: int | None) -> ChipTable:
        """What operations of a block take on one chip."""
        key = (number, degree, tile)
        if key not in self.tables:
            self.tables[key] = ChipTable(
                self.workload.blocks[number],
                self.workload.sizes,
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
