"""What every operation takes on one chip by the dimension it splits, whatever the others do: bounds for sharding."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf

from volvelle.estimators.dataflow.chip_graph import ChipGraph, stream_aliases
from volvelle.estimators.dataflow.on_chip import FusionChoices, OnChip, Overlap
from volvelle.estimators.dataflow.partition_time import PartitionTimes
from volvelle.laws.onchip_dataflow import partition_traffic, sram_demand, traffic_time
from volvelle.mapping.sharding import ShardedBlock
from volvelle.search.graph.memory import known_as
from volvelle.workload.graph import Block, Role
from volvelle.workload.operations import Lookup, Operation
from volvelle.workload.tensor_layout import REPLICATED, TensorLayout, split


@dataclass(kw_only=True, eq=False)
class ChipTable:
    """Seconds of a block's operations on one of `degree` chips, for one tile size."""

    block: Block
    sizes: Mapping[str, float]
    degree: int
    stream: str | None
    tile: int | None
    chip: OnChip
    choices: FusionChoices
    vector_cost: float
    ends: bool

    def __post_init__(self) -> None:
        block, stream = self.block, self.stream
        self.finest = int(self.sizes[stream]) if stream is not None and self.tile is None else None
        """Whatever the tile size: tiles at most, so buffers at least; else None."""
        self._first: dict[str, tuple[Operation, tuple[str, ...]]] = {}
        """Tensor → the operation that decides its layout, and how that one knows its dimensions."""
        for op in block.operations:
            signature = op.kind.signature
            dims = (*signature.inputs, *signature.outputs)
            for name, known in zip((*op.inputs, *op.outputs), dims, strict=True):
                self._first.setdefault(name, (op, known))
        self._made = {name for op in block.operations for name in op.outputs}
        self._aliases = stream_aliases(block, stream)
        self._offered = {op.name: {choice.dim for choice in op.kind.choices()} for op in block.operations}
        self._times: dict[tuple[str, str | None], PartitionTimes] = {}
        self._work: dict[tuple[str, str | None], float] = {}
        self._alone: dict[tuple[str, str | None], float | None] = {}
        self.handed = {
            op.name: sum(
                block.tensor_of[name].bytes(self.sizes)
                for name in op.outputs
                for other in block.operations
                if name in other.inputs
            )
            for op in block.operations
        }
        """Operation → bytes it hands to others, unsplit, counted for each reader."""

    def work(self, op: Operation, dim: str | None) -> float:
        """Seconds an operation adds to compute time at the very least."""
        key = (op.name, dim)
        if key not in self._work:
            self._work[key] = self._kernel_times(op, dim).balanced[0]
        return self._work[key]

    def memory(self, op: Operation, dim: str | None) -> float:
        """Seconds of DRAM traffic that an operation causes however it is fused."""
        times_of = self._kernel_times(op, dim)
        traffic = times_of.extra[0] + times_of.streamed[0]
        if op.of and dim is None:
            # Its weights may be split though it does not split anything itself.
            traffic = 0.0
        return float(traffic_time(traffic + self._through(op, dim), rate=self.chip.dram_rate))

    def weights(self, op: Operation, dim: str | None) -> float:
        """Bytes of SRAM at least that the weights of an operation take, unless they come in pieces."""
        weights = self._kernel_times(op, dim).weights[0]
        # Where it does not split what its forward operation splits, its weights may be split all the same.
        return weights / self.degree if op.of and dim is None else weights

    def needs(self, op: Operation, dim: str | None) -> float:
        """Bytes of SRAM at least that an operation adds to a partition: its weights, and what it reads, buffered."""
        tiles = self.finest or self._kernel_times(op, dim).problem.tiles
        read = sum(self._read_bytes(op, name, dim) for name in op.inputs if name in self._made) / tiles
        return float(sram_demand(self.weights(op, dim), 0.0, read))

    def moved(self, op: Operation, tensor: str, dim: str | None) -> float:
        """Seconds of DRAM traffic of one end of a tensor that an operation reads."""
        return float(traffic_time(self._read_bytes(op, tensor, dim), rate=self.chip.dram_rate))

    def _read_bytes(self, op: Operation, tensor: str, dim: str | None) -> float:
        """Bytes of a tensor as an operation reads it."""
        return self._own_bytes(tensor, op.kind.signature.inputs[op.inputs.index(tensor)], dim)

    def _through(self, op: Operation, dim: str | None) -> float:
        """Bytes at least that enter and leave the block at an operation."""
        if not self.ends:
            return 0.0
        block, found = self.block, 0.0
        if not isinstance(op.kind, Lookup):
            outside = {name for name in op.inputs if name in block.inputs or block.tensor_of[name].role is Role.INPUT}
            found += sum(block.tensor_of[name].bytes(self.sizes) / self.degree for name in outside)
        for name, dims in zip(op.outputs, op.kind.signature.outputs, strict=True):
            if name in block.outputs:
                found += self._own_bytes(name, dims, dim)
        return found

    def _own_bytes(self, name: str, dims: tuple[str, ...], dim: str | None) -> float:
        tensor = self.block.tensor_of[name]
        return tensor.bytes(self.sizes, split=known_as(tensor, dims, dim), over=self.degree)

    def alone(self, op: Operation, dim: str | None) -> float | None:
        """Seconds at least of one that cannot share the chip; infinite if it does not fit; None: it may share."""
        key = (op.name, dim)
        if key not in self._alone:
            self._alone[key] = self._by_itself(op, dim)
        return self._alone[key]

    @cached_property
    def fits(self) -> bool:
        """Whether every operation fits the chip in some split."""
        return all(any(self.alone(op, dim) != inf for dim in self._offered[op.name]) for op in self.block.operations)

    def _by_itself(self, op: Operation, dim: str | None) -> float | None:
        times_of, choices = self._kernel_times(op, dim), self.choices
        tiles = float(self.finest or times_of.problem.tiles)
        written = self.handed[op.name] / self.degree / tiles
        read = sum(self._read_bytes(op, name, dim) for name in op.inputs if name in self._made) / tiles
        buffers = float(sram_demand(0.0, 0.0, read)) + float(sram_demand(0.0, 0.0, written))
        weights, pieces, streamed = times_of.weights[0], 1, times_of.streamed[0]
        if choices.fuse:
            weights, streamed = self.weights(op, dim), min(streamed, self.weights(op, dim))
        if weights + buffers > times_of.limit:
            if not choices.tile_weights or not weights or buffers >= times_of.limit:
                return inf
            pieces = max(2, ceil(weights / (times_of.limit - buffers) * (1.0 - 1e-12)))
            if pieces > times_of.kernels[0].rows:
                return inf
        elif choices.fuse:
            return None
        traffic = partition_traffic(
            read + written,
            times_of.extra[0] + self._through(op, dim),
            streamed,
            tiles=tiles,
            weight_tiles=float(pieces),
        )
        memory = float(traffic_time(traffic, rate=self.chip.dram_rate))
        compute = times_of.time_of([0], weight_tiles=1).compute
        return compute + memory if choices.overlap is Overlap.NONE else max(compute, memory)

    def _kernel_times(self, op: Operation, dim: str | None) -> PartitionTimes:
        """Of the operation by itself, with that dimension split wherever it can be."""
        key = (op.name, dim)
        if key not in self._times:
            names = (*op.inputs, *op.outputs)
            sharded = ShardedBlock(
                block=self.block,
                dims={op.name: dim if dim in self._offered[op.name] else None},
                layouts={name: self._layout(name, dim) for name in names},
                conversions=(),
            )
            graph = ChipGraph(
                sharded=sharded,
                sizes=self.sizes,
                degree=self.degree,
                stream=self.stream,
                exchange=lambda collective, size: 0.0,
                vector_cost=self.vector_cost,
                aliases=self._aliases,
            )
            self._times[key] = PartitionTimes(graph.problem(self.chip, tile=self.tile, choices=self.choices, only=op))
        return self._times[key]

    def _layout(self, tensor: str, dim: str | None) -> TensorLayout:
        op, dims = self._first[tensor]
        held = known_as(self.block.tensor_of[tensor], dims, dim)
        return split(held) if held is not None and dim in self._offered[op.name] else REPLICATED
