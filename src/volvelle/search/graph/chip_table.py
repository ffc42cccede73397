"""What every operation takes on one chip by the dimension it splits, whatever the others do: bounds for sharding."""

from collections.abc import Mapping
from math import ceil, inf, prod

from volvelle.estimators.dataflow.chip_graph import ChipGraph
from volvelle.estimators.dataflow.on_chip import FusionChoices, OnChip, Overlap
from volvelle.estimators.dataflow.partition_time import Ledger
from volvelle.laws.onchip_dataflow import partition_traffic, sram_demand, traffic_time
from volvelle.mapping.sharding import ShardedBlock
from volvelle.workload.elements import element_bytes
from volvelle.workload.graph import Block
from volvelle.workload.operations import Operation
from volvelle.workload.tensor_layout import REPLICATED, Layout, split

__all__ = ["ChipTable"]


class ChipTable:
    """Seconds of a block's operations on one of `degree` chips, for one tile size."""

    def __init__(
        self,
        block: Block,
        sizes: Mapping[str, float],
        *,
        degree: int,
        stream: str | None,
        tile: int | None,
        chip: OnChip,
        choices: FusionChoices,
        vector_cost: float = 1.0,
    ) -> None:
        self.block, self.sizes, self.degree = block, sizes, degree
        self.stream, self.tile, self.chip, self.choices = stream, tile, chip, choices
        self.vector_cost = vector_cost
        self._ledgers: dict[str | None, Ledger] = {}
        self._work: dict[tuple[str, str | None], float] = {}
        self._alone: dict[tuple[str, str | None], float | None] = {}
        self.handed = {
            op.name: sum(self._bytes(name) for name in op.outputs for other in block.operations if name in other.inputs)
            for op in block.operations
        }
        """Operation → bytes it hands to others, unsplit, counted for each reader."""

    def work(self, op: Operation, dim: str | None) -> float:
        """Seconds an operation adds to compute time at the very least."""
        key = (op.name, dim)
        if key not in self._work:
            ledger = self._ledger(dim)
            self._work[key] = ledger.balanced[ledger.index[op.name]]
        return self._work[key]

    def memory(self, op: Operation, dim: str | None) -> float:
        """Seconds of DRAM traffic that an operation causes however it is fused."""
        ledger = self._ledger(dim)
        number = ledger.index[op.name]
        if op.of and dim is None:
            # Its weights may be split though it does not split anything itself.
            return 0.0
        return float(traffic_time(ledger.extra[number] + ledger.streamed[number], rate=self.chip.dram_rate))

    def alone(self, op: Operation, dim: str | None) -> float | None:
        """Seconds at least of one that cannot share the chip; infinite if it does not fit; None: it may share."""
        key = (op.name, dim)
        if key not in self._alone:
            # Where it does not split what its forward operation splits, its weights may be split all the same.
            self._alone[key] = None if op.of and dim is None and self.choices.fuse else self._by_itself(op, dim)
        return self._alone[key]

    def _by_itself(self, op: Operation, dim: str | None) -> float | None:
        ledger, choices = self._ledger(dim), self.choices
        number, tiles = ledger.index[op.name], float(ledger.problem.tiles)
        written = self.handed[op.name] / self.degree / tiles
        read = sum(size for _, size, *_ in ledger.inputs[number])
        buffers = sum(edge[3] for edge in ledger.inputs[number]) + float(sram_demand(0.0, 0.0, written))
        weights, pieces = ledger.weights[number], 1
        if weights + buffers > ledger.limit:
            if not choices.tile_weights or not weights or buffers >= ledger.limit:
                return inf
            pieces = max(2, ceil(weights / (ledger.limit - buffers) * (1.0 - 1e-12)))
            if pieces > ledger.kernels[number].rows:
                return inf
        elif choices.fuse:
            return None
        traffic = partition_traffic(
            read + written,
            ledger.extra[number],
            ledger.streamed[number],
            tiles=tiles,
            weight_tiles=float(pieces),
        )
        memory = float(traffic_time(traffic, rate=self.chip.dram_rate))
        compute = ledger.price([number], weight_tiles=1).compute
        return compute + memory if choices.overlap is Overlap.NONE else max(compute, memory)

    def _bytes(self, tensor: str) -> float:
        found = self.block.tensor_of[tensor]
        return prod(self.sizes[dim] for dim in found.dims) * element_bytes(found.element)

    def _ledger(self, dim: str | None) -> Ledger:
        """Of the block with that dimension split wherever it can be."""
        if dim not in self._ledgers:
            graph = ChipGraph(
                sharded=self._uniform(dim),
                sizes=self.sizes,
                degree=self.degree,
                stream=self.stream,
                exchange=lambda collective, size: 0.0,
                vector_cost=self.vector_cost,
            )
            self._ledgers[dim] = Ledger(graph.problem(self.chip, tile=self.tile, choices=self.choices))
        return self._ledgers[dim]

    def _uniform(self, dim: str | None) -> ShardedBlock:
        dims: dict[str, str | None] = {}
        layouts: dict[str, Layout] = {}
        for op in self.block.operations:
            dims[op.name] = dim if any(choice.dim == dim for choice in op.kind.choices()) else None
            ends = zip((*op.inputs, *op.outputs), (*op.kind.signature.inputs, *op.kind.signature.outputs), strict=True)
            for name, known_as in ends:
                if name in layouts:
                    continue
                declared = self.block.tensor_of[name].dims
                found = declared[known_as.index(dim)] if dims[op.name] is not None and dim in known_as else None
                layouts[name] = split(found) if found else REPLICATED
        return ShardedBlock(block=self.block, dims=dims, layouts=layouts, conversions=())
