"""Workloads: graphs of operations and tensors, with blocks that repeat."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import pairwise
from math import ceil, prod

from volvelle.domains import NO_GRAPH_SIZE, check_fields, number
from volvelle.errors import GraphError, UnknownNameError
from volvelle.quantities import numbered
from volvelle.workload.elements import element_bytes
from volvelle.workload.operations import Operation, Phase, Unit


class Role(Enum):
    """What a tensor is to the computation."""

    ACTIVATION = "activation"
    WEIGHT = "weight"
    INPUT = "input"
    """Data from outside, such as token numbers: no gradient."""
    STATE = "state"
    """Kept from step to step, such as a cache of keys and values or a recurrent state: no gradient."""
    GRADIENT = "gradient"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A named array with named dimensions."""

    name: str
    dims: tuple[str, ...]
    element: str = "bf16"
    role: Role = Role.ACTIVATION
    tied_to: str = ""
    """For a weight that is another block's weight: ``"block.tensor"``. It is counted once, there."""
    frozen: bool = False
    """A weight that training leaves as it is: no gradient, no optimiser state."""
    stored: str = ""
    """Element type a frozen weight is kept in where that is not `element`; it is unpacked before each product."""

    def __post_init__(self) -> None:
        check_fields(self, f"tensor {self.name!r}", error=GraphError)

    def elements(self, sizes: Mapping[str, float], *, split: str | None = None, over: int = 1) -> float:
        """How many elements it has; with one dimension `split` over so many chips, those of one chip."""
        return prod(ceil(sizes[dim] / over) if dim == split else sizes[dim] for dim in self.dims)

    def bytes(self, sizes: Mapping[str, float], *, split: str | None = None, over: int = 1) -> float:
        """How many bytes these take."""
        return self.elements(sizes, split=split, over=over) * element_bytes(self.element)

    @property
    def stored_bytes(self) -> float:
        """Bytes that one element of it takes while it is only kept."""
        return element_bytes(self.stored or self.element)


@dataclass(frozen=True, kw_only=True, repr=False)
class Block:
    """A graph of operations that repeats, each time on the outputs of the time before.

    Operations are listed in an order in which they can run.
    """

    name: str
    operations: tuple[Operation, ...]
    tensors: tuple[Tensor, ...]
    inputs: tuple[str, ...]
    """Tensors from the block before (or from outside)."""
    outputs: tuple[str, ...]
    """Tensors handed to the block after (or outside)."""
    repeat: int = 1

    def __post_init__(self) -> None:
        check_fields(self, f"block {self.name!r}", error=GraphError)
        _check_block(self)

    def __repr__(self) -> str:
        return f"Block({self.name!r}: {numbered(len(self.operations), 'operation')}, {self.repeat} times)"

    @cached_property
    def tensor_of(self) -> Mapping[str, Tensor]:
        """Tensors by name."""
        return {tensor.name: tensor for tensor in self.tensors}

    @cached_property
    def operation_of(self) -> Mapping[str, Operation]:
        """Operations by name."""
        return {op.name: op for op in self.operations}

    @property
    def is_layer(self) -> bool:
        """Whether it hands on what it takes, so that it can repeat."""
        taken, handed = ([self.tensor_of[name].dims for name in ends] for ends in (self.inputs, self.outputs))
        return bool(taken) and taken == handed

    def weights(self) -> tuple[Tensor, ...]:
        """The tensors that are learned, now or before."""
        return self._of(Role.WEIGHT)

    def trainable(self) -> tuple[Tensor, ...]:
        """Those of them that this training changes."""
        return tuple(tensor for tensor in self.weights() if not tensor.frozen)

    def states(self) -> tuple[Tensor, ...]:
        """The tensors that are kept from step to step."""
        return self._of(Role.STATE)

    def _of(self, role: Role) -> tuple[Tensor, ...]:
        return tuple(tensor for tensor in self.tensors if tensor.role is role)

    def flops(self, sizes: Mapping[str, float], *, phase: Phase = Phase.FORWARD, unit: Unit = Unit.MATRIX) -> float:
        """FLOP of one repetition, in one phase, on one kind of unit."""
        works = (op.kind.work() for op in self.operations if op.phase is phase)
        return sum(work.flops(sizes) for work in works if work.unit is unit)


@dataclass(frozen=True, kw_only=True, repr=False)
class Workload:
    """What is computed: blocks one after another, and the sizes of their named dimensions."""

    name: str
    sizes: Mapping[str, float] = number(NO_GRAPH_SIZE)
    blocks: tuple[Block, ...]
    """Each block once, however often it runs."""
    runs: tuple[tuple[str, int], ...] = ()
    """In program order, a block's name and how many of it follow each other; if not said, all of each in turn."""
    unpriced: tuple[str, ...] = ()
    """What it has beside these, which nothing prices."""

    def __post_init__(self) -> None:
        check_fields(self, f"workload {self.name!r}", error=GraphError)
        if not self.runs:
            object.__setattr__(self, "runs", tuple((block.name, block.repeat) for block in self.blocks))
        _check_runs(self)
        _check_workload(self)

    def __repr__(self) -> str:
        blocks = ", ".join(f"{block.name} × {block.repeat}" for block in self.blocks[:8])
        more = f" and {len(self.blocks) - 8} more" if len(self.blocks) > 8 else ""
        return f"Workload({self.name!r}: {blocks}{more})"

    def block(self, name: str) -> Block:
        """The block of that name."""
        for block in self.blocks:
            if block.name == name:
                return block
        raise UnknownNameError.among("block", name, [block.name for block in self.blocks])

    def with_sizes(self, **sizes: float) -> "Workload":
        """The same computation at other sizes."""
        for name in sizes:
            if name not in self.sizes:
                raise UnknownNameError.among("dimension", name, self.sizes)
        return replace(self, sizes={**self.sizes, **sizes})

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Names of blocks as they run, one for each repetition."""
        return tuple(name for name, count in self.runs for _ in range(count))

    @cached_property
    def layer_order(self) -> tuple[str, ...]:
        """Names of those blocks that are layers, as they run: what is dealt out to the stages of a pipeline."""
        layers = {block.name for block in self.blocks if block.is_layer}
        return tuple(name for name in self.order if name in layers)

    @property
    def layers(self) -> int:
        """Layers in all, of whatever kind; at least the repetitions of the block repeated most."""
        repeated = max((block.repeat for block in self.blocks), default=1)
        return max(repeated, sum(block.repeat for block in self.blocks if block.is_layer))

    def parameters(self) -> int:
        """Learned numbers, each counted once."""
        return round(self._counted(Block.weights))

    def trainable_parameters(self) -> int:
        """Those of them that this training changes; all, where nothing is frozen."""
        return round(self._counted(Block.trainable))

    @property
    def is_tuned(self) -> bool:
        """Whether some of its weights are frozen."""
        return any(tensor.frozen for block in self.blocks for tensor in block.tensors)

    @cached_property
    def frozen_bytes(self) -> float:
        """Bytes that all frozen weights take, as they are kept."""
        return sum(
            block.repeat * tensor.elements(self.sizes) * tensor.stored_bytes
            for block in self.blocks
            for tensor in block.weights()
            if tensor.frozen and not tensor.tied_to
        )

    def _counted(self, of: Callable[[Block], Iterable[Tensor]]) -> float:
        return sum(
            block.repeat * tensor.elements(self.sizes)
            for block in self.blocks
            for tensor in of(block)
            if not tensor.tied_to
        )

    def flops(self, *, phase: Phase = Phase.FORWARD, unit: Unit = Unit.MATRIX) -> float:
        """FLOP of the whole computation, in one phase, on one kind of unit."""
        return sum(block.repeat * block.flops(self.sizes, phase=phase, unit=unit) for block in self.blocks)


def _check_block(block: Block) -> None:
    where = f"block {block.name!r}"
    tensors: dict[str, Tensor] = {}
    for tensor in block.tensors:
        if tensor.name in tensors:
            raise GraphError(f"{where} has two tensors named {tensor.name!r}; name each once")
        element_bytes(tensor.element)
        element_bytes(tensor.stored or tensor.element)
        if tensor.frozen and tensor.role is not Role.WEIGHT:
            raise GraphError(f"{where} freezes {tensor.name!r}, which is not a weight; only weights are learned")
        tensors[tensor.name] = tensor
    names = [op.name for op in block.operations]
    for name in names:
        if names.count(name) > 1:
            raise GraphError(f"{where} has two operations named {name!r}; name each once")
    if block.repeat < 1:
        raise GraphError(f"{where} repeats {block.repeat} times; it must repeat at least once")
    for name in (*block.inputs, *block.outputs):
        if name not in tensors:
            raise GraphError(f"{where} hands on {name!r}, which is not one of its tensors")
    free = {name for name, tensor in tensors.items() if tensor.role in (Role.WEIGHT, Role.INPUT, Role.STATE)}
    produced: dict[str, str] = {}
    for op in block.operations:
        _check_ends(op, tensors, where)
        for name in op.inputs:
            if name not in produced and name not in free and name not in block.inputs:
                later = any(name in other.outputs for other in block.operations)
                raise GraphError(
                    f"{where}: operation {op.name!r} reads {name!r}, which "
                    + (
                        "is only produced by an operation that comes later; the graph has a cycle or is out of order"
                        if later
                        else "no operation produces; declare it as an input of the block, a weight or data"
                    )
                )
        for name in op.outputs:
            if name in produced:
                raise GraphError(f"{where}: both {produced[name]!r} and {op.name!r} produce {name!r}")
            produced[name] = op.name


def _check_ends(op: Operation, tensors: Mapping[str, Tensor], where: str) -> None:
    ends = ((op.inputs, op.kind.signature.inputs), (op.outputs, op.kind.signature.outputs))
    for names, dims_of in ends:
        if len(names) != len(dims_of):
            raise GraphError(
                f"{where}: operation {op.name!r} is declared '{op.kind.signature}' but is given "
                f"{numbered(len(names), 'tensor')} where it names {len(dims_of)}"
            )
        for name, dims in zip(names, dims_of, strict=True):
            if name not in tensors:
                raise GraphError(f"{where}: operation {op.name!r} uses {name!r}, which is not declared")
            if len(tensors[name].dims) != len(dims):
                raise GraphError(
                    f"{where}: operation {op.name!r} takes {name!r} as '{' '.join(dims)}', but it is "
                    f"'{' '.join(tensors[name].dims)}'"
                )


def _pairs(block: Block) -> Iterator[tuple[Operation, str, str, str]]:
    for op in block.operations:
        signature = op.kind.signature
        for name, dims in zip((*op.inputs, *op.outputs), (*signature.inputs, *signature.outputs), strict=True):
            for used, declared in zip(dims, block.tensor_of[name].dims, strict=True):
                yield op, name, used, declared


def _check_runs(workload: Workload) -> None:
    where = f"workload {workload.name!r}"
    names = [block.name for block in workload.blocks]
    for name in names:
        if names.count(name) > 1:
            raise GraphError(f"{where} has two blocks named {name!r}; name each once")
    counted = dict.fromkeys(names, 0)
    for name, count in workload.runs:
        if name not in counted:
            raise UnknownNameError.among("block", name, names)
        if count < 1:
            raise GraphError(f"{where} has a run of {count} of block {name!r}; a run has at least one")
        counted[name] += count
    for block in workload.blocks:
        if counted[block.name] != block.repeat:
            raise GraphError(
                f"{where}: block {block.name!r} repeats {block.repeat} times, but its runs have {counted[block.name]}; "
                "make them the same, or give runs=() for all of each in turn"
            )


def _check_workload(workload: Workload) -> None:
    for block in workload.blocks:
        for op, name, used, declared in _pairs(block):
            for dim in (used, declared):
                if dim not in workload.sizes:
                    raise GraphError(
                        f"workload {workload.name!r}: dimension {dim!r} of {name!r} in operation {op.name!r} of "
                        f"block {block.name!r} has no size; give sizes[{dim!r}]"
                    )
            narrowed = used in op.kind.windows() and workload.sizes[used] < workload.sizes[declared]
            if workload.sizes[used] != workload.sizes[declared] and not narrowed:
                raise GraphError(
                    f"workload {workload.name!r}: operation {op.name!r} of block {block.name!r} takes dimension "
                    f"{declared!r} of {name!r} (size {workload.sizes[declared]}) as {used!r} "
                    f"(size {workload.sizes[used]})"
                )
    joints = list(pairwise(name for name, _ in workload.runs))
    joints += [(name, name) for name, count in workload.runs if count > 1]
    for before, after in dict.fromkeys(joints):
        _check_joint(workload.block(before), workload.block(after), workload.name)


def _check_joint(before: Block, after: Block, workload: str) -> None:
    handed = [before.tensor_of[name].dims for name in before.outputs]
    taken = [after.tensor_of[name].dims for name in after.inputs]
    if handed != taken:
        raise GraphError(
            f"workload {workload!r}: block {before.name!r} hands on {handed} but block {after.name!r} takes {taken}"
        )
