"""What a sharded block holds in the DRAM of one chip, partition by partition."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf

from volvelle.mapping.fusion import Fusion
from volvelle.mapping.sharding import ShardedBlock
from volvelle.workload.graph import Block, Role, Tensor
from volvelle.workload.operations import Operation, Phase
from volvelle.workload.tensor_layout import PARTIAL, TensorLayout


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockMemory:
    """Bytes of one copy of a block on one chip."""

    weights: float
    parameters: float
    saved: float
    """Kept by the forward pass of one micro-batch for its backward pass."""
    weights_of: Mapping[str, float]
    """Operation → bytes of the weights it is the first to read."""
    parameters_of: Mapping[str, float]
    """The same, counted."""
    saved_of: Mapping[str, float]
    """Operation → what is kept of what it makes, or is the first to read."""
    size_of: Mapping[str, float]
    """Tensor → bytes as it is handed on."""

    def parts(self, fusion: Fusion) -> list[tuple[float, float, float]]:
        """Parameters, bytes of weights and saved bytes of every partition."""
        return [
            (
                sum(self.parameters_of.get(name, 0.0) for name in names),
                sum(self.weights_of.get(name, 0.0) for name in names),
                sum(self.saved_of.get(name, 0.0) for name in names),
            )
            for names in fusion.partitions
        ]


def block_memory(sharded: ShardedBlock, sizes: Mapping[str, float], degree: int) -> BlockMemory:
    """What one copy of a block holds."""
    block = sharded.block

    def local(tensor: str, layout: TensorLayout) -> float:
        return block.tensor_of[tensor].bytes(sizes, split=layout.dim, over=degree)

    settled: dict[str, TensorLayout] = {}
    for one in sharded.conversions:
        settled.setdefault(one.tensor, one.wanted)
    home: dict[str, str] = {}
    for op in block.operations:
        for name in op.inputs:
            home.setdefault(name, op.name)
    for op in block.operations:
        home |= dict.fromkeys(op.outputs, op.name)
    weights_of, parameters_of = dict[str, float](), dict[str, float]()
    for tensor in block.weights():
        if tensor.name in home and not tensor.tied_to:
            layout, reader = sharded.layouts[tensor.name], home[tensor.name]
            elements = tensor.elements(sizes, split=layout.dim, over=degree)
            parameters_of[reader] = parameters_of.get(reader, 0.0) + elements
            weights_of[reader] = weights_of.get(reader, 0.0) + local(tensor.name, layout)
    forward = {name for op in block.operations if op.phase is Phase.FORWARD for name in op.outputs} | set(block.inputs)
    kept = {
        name
        for op in block.operations
        if op.phase is not Phase.FORWARD
        for name in op.inputs
        if name in forward and block.tensor_of[name].role is not Role.WEIGHT
    }
    saved_of: dict[str, float] = {}
    for name in sorted(kept):
        saved_of[home[name]] = saved_of.get(home[name], 0.0) + local(name, sharded.layouts[name])
    size_of = {
        name: local(name, settled.get(name, layout) if layout == PARTIAL else layout)
        for name, layout in sharded.layouts.items()
    }
    return BlockMemory(
        weights=sum(weights_of.values()),
        parameters=sum(parameters_of.values()),
        saved=sum(saved_of.values()),
        weights_of=weights_of,
        parameters_of=parameters_of,
        saved_of=saved_of,
        size_of=size_of,
    )


def known_as(tensor: Tensor, dims: tuple[str, ...], dim: str | None) -> str | None:
    """What a tensor calls a dimension that an operation splits which knows its own as `dims`; None: it has none."""
    return tensor.dims[dims.index(dim)] if dim in dims else None


class OwnBytes:
    """What each operation makes a chip hold: weights it is first to read, and what is saved of its results."""

    def __init__(self, block: Block, sizes: Mapping[str, float], degree: int) -> None:
        self.block, self.sizes, self.degree = block, sizes, degree
        maker = {name: op for op in block.operations for name in op.outputs}
        self._first: dict[str, Operation] = {}
        for op in block.operations:
            for name in op.inputs:
                self._first.setdefault(name, op)
        self._kept = {
            name
            for op in block.operations
            if op.phase is not Phase.FORWARD
            for name in op.inputs
            if name in maker and maker[name].phase is Phase.FORWARD
        }
        self.table = {
            op.name: {dim: self._own(op, dim) for dim in dict.fromkeys(choice.dim for choice in op.kind.choices())}
            for op in block.operations
        }
        """Operation → dimension it splits → parameters, bytes of weights, bytes saved."""

    def _own(self, op: Operation, dim: str | None) -> tuple[float, float, float]:
        parameters, weights, saved, signature = 0.0, 0.0, 0.0, op.kind.signature
        for name, dims in zip(op.inputs, signature.inputs, strict=True):
            tensor = self.block.tensor_of[name]
            if tensor.role is Role.WEIGHT and not tensor.tied_to and self._first[name] is op:
                parameters += tensor.elements(self.sizes, split=known_as(tensor, dims, dim), over=self.degree)
                weights += tensor.bytes(self.sizes, split=known_as(tensor, dims, dim), over=self.degree)
        for name, dims in zip(op.outputs, signature.outputs, strict=True):
            if name in self._kept:
                tensor = self.block.tensor_of[name]
                saved += tensor.bytes(self.sizes, split=known_as(tensor, dims, dim), over=self.degree)
        return parameters, weights, saved


class MemoryLowerBound:
    """Bytes of so many copies of a block, by operation."""

    def __init__(self, own: OwnBytes, *, parameter: float, weight: float, saved: float) -> None:
        """From the bytes that a parameter takes, a byte of weights, and a saved byte."""
        self.table = {
            (name, dim): parameter * sizes[0] + weight * sizes[1] + saved * sizes[2]
            for name, by_dim in own.table.items()
            for dim, sizes in by_dim.items()
        }
        self._least = {name: min(self.table[name, dim] for dim in by_dim) for name, by_dim in own.table.items()}
        self.least = sum(self._least.values())
        """Bytes if every operation makes it hold as little as it can."""

    def within(self, room: float) -> Callable[[Operation, str | None], float]:
        """Bytes by operation and dimension; infinite where there is no room even if all others hold their least."""
        spare = (room - self.least) * (1.0 + 1e-9)

        def held(op: Operation, dim: str | None) -> float:
            size = self.table[op.name, dim]
            return inf if size - self._least[op.name] > spare else size

        return held
