"""From a block split over chips to the kernels and tensors of one chip, tile by tile."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod

from volvelle.errors import MappingError
from volvelle.estimators.calibration import FittedConstants
from volvelle.estimators.dataflow.on_chip import ChipKernel, ChipTensor, FusionChoices, FusionProblem, OnChip
from volvelle.mapping.sharding import Conversion, ShardedBlock
from volvelle.system.chip import Chip
from volvelle.workload.elements import element_bytes
from volvelle.workload.graph import Block, Role
from volvelle.workload.operations import Contraction, Lookup, Operation, Unit
from volvelle.workload.tensor_layout import Collective

Exchange = Callable[[Collective, float], float]
"""Seconds of a collective over the group, by the bytes of the whole tensor."""


def on_chip(chip: Chip, element: str, *, fitted: FittedConstants, utilisation: float | None = None) -> OnChip:
    """Return a catalogue chip as one pool of arithmetic with SRAM: its buffer as SRAM, its sustained rates.

    The catalogue states no width and height of a core. Kernels therefore divide the whole peak freely among them, at
    the utilisation that large products reach, and the number of cores has no effect.
    """
    return OnChip(
        cores=1,
        width=1,
        height=1,
        clock=float(chip.matrix_rate(element)) / 2.0,
        sram=float(chip.buffer),
        dram_rate=float(chip.memory.rate * fitted.memory_efficiency),
        dram_capacity=float(chip.memory.capacity),
        utilisation=float(fitted.matrix_efficiency) if utilisation is None else utilisation,
    )


def stream_aliases(block: Block, stream: str | None) -> frozenset[str]:
    """Other names that operations have for the stream of a tensor."""
    return frozenset(
        used
        for op in block.operations
        for name, dims in zip(
            (*op.inputs, *op.outputs), (*op.kind.signature.inputs, *op.kind.signature.outputs), strict=True
        )
        for used, declared in zip(dims, block.tensor_of[name].dims, strict=True)
        if declared == stream
    )


@dataclass(frozen=True, kw_only=True)
class ChipGraph:
    """One chip's share of a block that is split over `degree` chips.

    Each operation is a kernel. The dimension `stream` runs through the kernels in tiles; a product has as columns the
    side that streams, as rows the other, and sums over what it sums over. An operation that has the stream under
    another name (keys are positions) streams that; one that has it under none streams the longest dimension of its
    result. A tensor is handed over as its reader needs it. Collectives belong to the operation whose result they
    change, or to the first reader of what comes from outside.
    """

    sharded: ShardedBlock
    sizes: Mapping[str, float]
    degree: int
    stream: str | None
    exchange: Exchange
    """Over the group that splits the block."""
    replicas: Exchange | None = None
    """Over copies of the group, for gradients of weights: seconds a micro-batch."""
    micro_batches: float = 1.0
    """In a step; gradients of weights change their layout once a step, so each micro-batch bears its share."""
    ends: bool = False
    """What enters and leaves the block passes through DRAM; else it is not charged, as in DFModel."""
    aliases: frozenset[str] | None = None
    """Other names that operations have for the stream, where they are known already."""
    vector_cost: float = 1.0
    """How much dearer a FLOP of the vector units is than one of the matrix units, where cores divide freely."""

    def problem(
        self,
        chip: OnChip,
        *,
        tile: int | None = None,
        choices: FusionChoices | None = None,
        pins: Mapping[str, int] | None = None,
        resident: float = 0.0,
        only: Operation | None = None,
    ) -> FusionProblem:
        """The question of how to fuse it, for one size of tiles; of one operation by itself if that is asked for."""
        length = int(self.sizes[self.stream]) if self.stream else 1
        tiles = ceil(length / tile) if tile else 1
        pins = pins or {}
        unknown = set(pins) - {op.name for op in self.operations}
        if unknown:
            raise MappingError(f"there is no kernel {sorted(unknown)[0]!r} to pin; kernels: {', '.join(self._names())}")
        network = self._network() if only is None else {}
        return FusionProblem(
            kernels=tuple(
                self._kernel(op, tiles, network.get(op.name, 0.0), pins.get(op.name))
                for op in (self.operations if only is None else (only,))
            ),
            tensors=tuple(self._tensors(tiles)) if only is None else (),
            tiles=tiles,
            chip=chip,
            choices=choices or FusionChoices(),
            resident=resident,
        )

    @property
    def block(self) -> Block:
        """What is split."""
        return self.sharded.block

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Those that are kernels: all but what has no work of its own."""
        return self.block.operations

    def _names(self) -> list[str]:
        return [op.name for op in self.operations]

    # -- sizes ---------------------------------------------------------------------------------------------------

    def _points(self, dims: Iterable[str], split: str | None, tiles: int = 1, stream: str | None = None) -> int:
        """Points of the named dimensions on one chip, in one tile."""
        return prod(self._extent(dim, split, tiles if dim == stream else 1) for dim in dims)

    def _extent(self, dim: str, split: str | None, tiles: int) -> int:
        size = float(self.sizes[dim])
        if dim == split:
            size = ceil(size / self.degree)
        return max(ceil(size / tiles), 1)

    def _stream(self, op: Operation) -> str | None:
        """The dimension of an operation that runs through it in tiles."""
        signature = op.kind.signature
        if self.stream is None or self.stream in signature.dims:
            return self.stream
        known_as = [dim for dim in signature.dims if dim in self._aliases]
        if known_as:
            return known_as[0]
        return max(signature.outputs[0], key=lambda dim: self.sizes[dim], default=None)

    @cached_property
    def _aliases(self) -> frozenset[str]:
        return stream_aliases(self.block, self.stream) if self.aliases is None else self.aliases

    def _bytes(self, tensor: str, split: str | None) -> float:
        """Of the whole of a tensor's part on one chip, all tiles together."""
        found = self.block.tensor_of[tensor]
        return self._points(found.dims, split) * element_bytes(found.element)

    # -- kernels -------------------------------------------------------------------------------------------------

    def _kernel(self, op: Operation, tiles: int, network: float, pin: int | None) -> ChipKernel:
        split, stream = self.sharded.dims[op.name], self._stream(op)
        signature, work = op.kind.signature, op.kind.work()
        weights = [name for name in op.inputs if self.block.tensor_of[name].role is Role.WEIGHT]
        looked_up = isinstance(op.kind, Lookup)
        held = 0.0 if looked_up else sum(self._bytes(name, self.sharded.layouts[name].dim) for name in weights)
        extra = self._bytes(op.outputs[0], self.sharded.layouts[op.outputs[0]].dim) if looked_up else 0.0
        if self.ends:
            extra += self._through(op)
        if work.unit is Unit.MATRIX:
            rows, columns = self._sides(op, stream)
            return ChipKernel(
                name=op.name,
                unit=Unit.MATRIX,
                rows=self._points(rows, split, tiles, stream),
                depth=max(self._points(signature.summed, split, tiles, stream), 1)
                if isinstance(op.kind, Contraction)
                else 1,
                columns=self._points(columns, split, tiles, stream),
                flops=0.0
                if isinstance(op.kind, Contraction)
                else self._points(work.dims, split, tiles, stream) * work.per_point,
                weight_bytes=held,
                network_time=network,
                extra_bytes=extra,
                pinned=pin,
                side=op.phase,
            )
        dims = max((signature.outputs[0], *signature.inputs), key=lambda one: self._points(one, split, tiles, stream))
        streamed = [dim for dim in dims if dim == stream]
        flops = self._points(work.dims, split, tiles, stream) * work.per_point * self.vector_cost
        return ChipKernel(
            name=op.name,
            unit=Unit.VECTOR,
            rows=self._points([dim for dim in dims if dim != stream], split, tiles, stream),
            columns=self._points(streamed, split, tiles, stream),
            flops=flops,
            weight_bytes=held,
            network_time=network,
            extra_bytes=extra,
            pinned=pin,
            side=op.phase,
        )

    def _through(self, op: Operation) -> float:
        """Bytes of an operation's inputs from outside the block, and of its outputs that leave it, on one chip."""
        block = self.block
        outside = {name for name in op.inputs if name in block.inputs or block.tensor_of[name].role is Role.INPUT}
        if isinstance(op.kind, Lookup):
            outside = set()
        leaving = {name for name in op.outputs if name in block.outputs}
        return sum(self._bytes(name, self.sharded.layouts[name].dim) for name in (*outside, *leaving))

    def _sides(self, op: Operation, stream: str | None) -> tuple[list[str], list[str]]:
        """Rows and columns of a product: the side that streams is the columns, instances count as rows."""
        signature = op.kind.signature
        if not isinstance(op.kind, Contraction):
            dims = list(signature.outputs[0])
            streamed = [dim for dim in dims if dim == stream]
            return [dim for dim in dims if dim not in streamed], streamed
        shared, summed = list(signature.shared), set(signature.summed)
        first, second = ([dim for dim in dims if dim not in summed and dim not in shared] for dims in signature.inputs)
        if stream in second:
            first, second = second, first
        if stream in first or stream not in shared:
            return [*shared, *second], first
        return [*[dim for dim in shared if dim != stream], *second, *first], [dim for dim in shared if dim == stream]

    # -- tensors and collectives ---------------------------------------------------------------------------------

    def _tensors(self, tiles: int) -> Iterable[ChipTensor]:
        makers = {name: op.name for op in self.operations for name in op.outputs}
        for op in self.operations:
            split = self.sharded.dims[op.name]
            for name, dims in zip(op.inputs, op.kind.signature.inputs, strict=True):
                if name in makers:
                    # The reader may know the dimension it splits by another name than the tensor.
                    held = self.block.tensor_of[name].dims[dims.index(split)] if split in dims else None
                    yield ChipTensor(producer=makers[name], consumer=op.name, bytes=self._bytes(name, held) / tiles)

    def _network(self) -> dict[str, float]:
        """Seconds of collectives by the operation they belong to."""
        makers = {name: op.name for op in self.operations for name in op.outputs}
        found: dict[str, float] = {}
        for one in self.sharded.conversions:
            owner = makers.get(one.tensor) or self._reader(one)
            share = 1.0 / self.micro_batches if one.of_weight else 1.0
            found[owner] = found.get(owner, 0.0) + share * self.exchange(one.collective, self._bytes(one.tensor, None))
        if self.replicas is not None:
            for tensor in self.block.weights():
                maker = makers.get(f"{tensor.name}.grad")
                if maker is not None:
                    size = self._bytes(tensor.name, self.sharded.layouts[tensor.name].dim)
                    found[maker] = found.get(maker, 0.0) + self.replicas(Collective.ALL_REDUCE, size)
        return found

    def _reader(self, one: Conversion) -> str:
        readers = [op.name for op in self.operations if one.tensor in op.inputs and op.phase is one.phase]
        return readers[0] if readers else self.operations[-1].name
