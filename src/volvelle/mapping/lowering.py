"""What a block costs, as terms: everything that can be worked out before any number of chips is known.

For one structure (which operations run, how they are split) a block becomes a list of kernels, collectives and
saved tensors. Each size is a `Term`, a coefficient times powers of the micro-batch and of the shares that the axes of
chips leave to one, so that pricing a million mappings costs a few array operations a kernel.

Three axes cut a block, each by dimensions that its operations name: tensor parallelism by heads, inner widths and
vocabulary (and positions in between), context parallelism by positions, expert parallelism by experts (and batch in
between). What each has to exchange follows from the declarations.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from volvelle.mapping.parallelism import Recompute, Structure
from volvelle.mapping.sharding import Conversion, ShardedBlock, by_dimension, shard
from volvelle.mapping.symbols import ONE, Axis, Term, merged
from volvelle.workload.elements import element_bytes
from volvelle.workload.graph import Block, Role, Workload
from volvelle.workload.operations import Contraction, Lookup, Normalisation, Operation, Phase, Unit
from volvelle.workload.tensor_layout import PARTIAL, REPLICATED, Collective, split

__all__ = ["BlockLowering", "Exchange", "Kernel", "LoweredBlock", "axis_shardings", "lower"]

TENSOR_DIMS = ("kv_heads", "ffn", "shared_ffn", "expert_ffn", "vocab", "inner", "state_groups")
"""What tensor parallelism splits."""
SEQUENCE_DIM = "position"
"""What sequence parallelism splits where tensor dimensions do not occur, and context parallelism everywhere."""
CONTEXT_DIMS = (SEQUENCE_DIM, "slots")
EXPERT_DIM = "experts"
EXPERT_WIDTH = "expert_ffn"
HEADS_DIM = "kv_heads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """Something that runs on one chip: arithmetic and memory traffic."""

    name: str
    part: str
    phase: Phase
    matrix_work: Term | None
    vector_work: Term | None
    product: tuple[Term, Term, Term] | None = None
    """Operands and result of one instance of a matrix product, whose traffic depends on the buffer."""
    instances: Term = ONE
    traffic: tuple[Term, ...] = ()
    """Bytes moved, where they do not depend on the buffer."""
    rows: Term = ONE
    """Rows, columns and depth of one instance of a matrix product."""
    columns: Term = ONE
    depth: Term = ONE
    of_weight: bool = False
    """Makes a weight's gradient, which nothing waits for before the step's end."""
    attention_core: bool = False
    """Belongs to a region between projections, behind which context exchanges hide."""
    keep_16bit: bool = False
    """Stays in 16 bits where other products are narrower: attention cores, and blocks that do not repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A collective over the chips of one axis."""

    axis: Axis
    collective: Collective
    size: Term
    phase: Phase
    repeated_in_backward: bool
    """Repeated in the backward pass, behind the weight gradients."""
    per_step: bool
    """Once a step, not once a micro-batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweredBlock:
    """One repetition of a block, timed in terms."""

    name: str
    repeat: int
    kernels: tuple[Kernel, ...]
    exchanges: tuple[Exchange, ...]
    saved: tuple[Term, ...]
    """Bytes kept for the backward pass."""
    working: tuple[Term, ...]
    """Bytes that live again while one repetition is recomputed."""
    weights: tuple[Term, ...]
    """Parameters that all replicas hold."""
    expert_weights: tuple[Term, ...]
    """Parameters that replicas share out among them."""
    tied: tuple[Term, ...]
    """Parameters that are another block's, held again if that block is on another chip."""
    output_bytes: tuple[Term, ...]
    """Bytes handed to the next block."""
    split_dims: frozenset[str]
    """Dimensions that the tensor-parallel chips share."""
    is_layer: bool
    """Hands on what it takes."""
    copies: float
    """Experts that each token is sent to."""


def axis_shardings(workload: Workload, block: Block, structure: Structure) -> dict[Axis, ShardedBlock]:
    """A block split along every axis that cuts blocks, as a structure says."""
    sequence = structure.sequence_parallel and SEQUENCE_DIM in workload.sizes
    has_positions = SEQUENCE_DIM in workload.sizes
    tensor_dims: tuple[str, ...] = TENSOR_DIMS
    if not structure.expert_tensor_parallel:  # tokens stay where their positions are, as over any other replica
        tensor_dims = (*(dim for dim in TENSOR_DIMS if dim != EXPERT_WIDTH), "slots")
    dims = by_dimension(block, tensor_dims, otherwise=SEQUENCE_DIM if sequence else None)
    boundary = split(SEQUENCE_DIM) if sequence else REPLICATED
    if structure.sharding is not None:
        dims, boundary = structure.sharding.dims(block), structure.sharding.boundary
    return {
        Axis.TENSOR: shard(block, dims, boundary=boundary),
        Axis.CONTEXT: shard(
            block,
            _context_dims(block, structure),
            boundary=split(SEQUENCE_DIM) if has_positions else REPLICATED,
        ),
        Axis.EXPERT: shard(block, by_dimension(block, (EXPERT_DIM,), otherwise="batch"), boundary=split("batch")),
    }


def lower(workload: Workload, block: Block, structure: Structure) -> LoweredBlock:
    """Work a block (with its backward operations) out for one structure."""
    return BlockLowering(workload.sizes, block, axis_shardings(workload, block, structure), structure).lowered()


def _context_dims(block: Block, structure: Structure) -> dict[str, str | None]:
    """Positions everywhere, but heads between projections where those are swapped for positions."""
    dims = by_dimension(block, CONTEXT_DIMS)
    if structure.ulysses:
        heads = by_dimension(block, (HEADS_DIM,))
        dims |= {op.name: HEADS_DIM for op in block.operations if op.region and heads.get(op.name)}
    return dims


class BlockLowering:
    """A block under one split of every operation along every axis, lowered piece by piece."""

    def __init__(
        self, sizes: Mapping[str, float], block: Block, sharded: Mapping[Axis, ShardedBlock], structure: Structure
    ) -> None:
        self.sizes = sizes
        self.sharded = sharded
        self.block = block
        gradients = {f"{tensor.name}.grad" for tensor in block.weights()}
        self.weight_gradients = {name for op in block.operations for name in op.inputs if op.name in gradients}
        self.forward = [op for op in self.block.operations if op.phase is Phase.FORWARD]
        self.backward = [op for op in self.block.operations if op.phase is Phase.BACKWARD]
        self.fused_regions = {op.region for op in self.forward if op.region} if structure.fused_attention else set()
        self.recomputed = self._recomputed(structure)

    def _recomputed(self, structure: Structure) -> list[Operation]:
        """Forward operations that run again: a whole repeated block, or the regions that are not fused."""
        if not self.backward:
            return []
        if structure.recompute is Recompute.FULL and self.block.repeat > 1:
            return self.forward
        if structure.recompute is Recompute.SELECTIVE:
            return [op for op in self.forward if op.region and op.region not in self.fused_regions]
        return []

    def lowered(self) -> LoweredBlock:
        """The whole block."""
        block = self.block
        kernels = [
            *self._kernels(self.forward, Phase.FORWARD),
            *self._kernels(self.backward, Phase.BACKWARD),
            *(replace(kernel, phase=Phase.RECOMPUTE) for kernel in self._kernels(self.recomputed, Phase.FORWARD)),
        ]
        everything = bool(self.backward) and self.recomputed == self.forward
        interior = self._interior()
        needed = [name for name in self._read_backward() if name not in interior]
        weights = [tensor for tensor in block.tensors if tensor.role is Role.WEIGHT]
        return LoweredBlock(
            name=block.name,
            repeat=block.repeat,
            kernels=tuple(kernels),
            exchanges=tuple(self._exchanges(repeat_forward=everything)),
            saved=self._grouped(block.inputs if everything else needed),
            working=self._working(needed, recomputed=everything),
            weights=merged([self._elements(t.name) for t in weights if not t.tied_to and EXPERT_DIM not in t.dims]),
            expert_weights=merged([self._elements(t.name) for t in weights if EXPERT_DIM in t.dims]),
            tied=merged([self._elements(t.name) for t in weights if t.tied_to]),
            output_bytes=self._grouped(block.outputs),
            split_dims=frozenset(dim for dim in self.sharded[Axis.TENSOR].dims.values() if dim),
            is_layer=block.is_layer,
            copies=self.sizes["slots"] * self.sizes[EXPERT_DIM] / self.sizes[SEQUENCE_DIM]
            if EXPERT_DIM in self.sizes
            else 1.0,
        )

    def _working(self, needed: Sequence[str], *, recomputed: bool) -> tuple[Term, ...]:
        """Bytes alive while one repetition runs: all that is recomputed; without a backward pass its largest step."""
        if not self.backward:
            ends = [self._grouped([*op.inputs, *op.outputs]) for op in self.forward]
            return max(ends, key=lambda terms: sum(term.coefficient for term in terms), default=())
        return self._grouped(name for name in needed if name not in self.block.inputs) if recomputed else ()

    # -- sizes ---------------------------------------------------------------------------------------------

    def _dims(self, dims: Sequence[str], divided: Mapping[Axis, str | None]) -> Term:
        """Points of the named dimensions on one chip, when each axis divides one of them.

        Experts are dealt out among replicas that bring their batches along: an expert's chip has fewer experts and
        as many more sequences, so only what has no batch (weights) gets smaller.
        """
        fixed = prod(self.sizes[dim] for dim in dims if dim != "batch")
        batched = "batch" in dims
        expert = int(divided.get(Axis.EXPERT) == EXPERT_DIM and EXPERT_DIM in dims and not batched)
        tensor, context = (int(divided.get(axis) in dims) for axis in (Axis.TENSOR, Axis.CONTEXT))
        return Term(float(fixed), (int(batched), tensor, context, expert))

    def _laid(self, tensor: str) -> dict[Axis, str | None]:
        return {axis: sharded.layouts[tensor].dim for axis, sharded in self.sharded.items()}

    def _split(self, op: Operation) -> dict[Axis, str | None]:
        return {axis: sharded.dims[op.name] for axis, sharded in self.sharded.items()}

    def _elements(self, tensor: str) -> Term:
        return self._dims(self.block.tensor_of[tensor].dims, self._laid(tensor))

    def _bytes(self, tensor: str) -> Term:
        return self._elements(tensor) * Term(element_bytes(self.block.tensor_of[tensor].element))

    def _grouped(self, names: Iterable[str]) -> tuple[Term, ...]:
        return merged([self._bytes(name) for name in names])

    def _local(self, op: Operation, name: str, dims: Sequence[str]) -> Term:
        """Bytes of a tensor as this operation sees it on one chip."""
        each = element_bytes(self.block.tensor_of[name].element)
        return self._dims(dims, self._split(op)) * Term(each)

    # -- what is kept --------------------------------------------------------------------------------------

    def _read_backward(self) -> list[str]:
        """Activations of the forward pass that some backward operation reads."""
        made = {name for op in self.forward for name in op.outputs} | set(self.block.inputs)
        read = dict.fromkeys(name for op in self.backward for name in op.inputs)
        return [name for name in read if name in made]

    def _interior(self) -> set[str]:
        """Tensors made inside a region that is fused or recomputed by itself, and needed nowhere else forward."""
        whole = bool(self.recomputed) and self.recomputed == self.forward
        alone = set() if whole else {op.region for op in self.recomputed if op.region}
        inside = alone | self.fused_regions
        made = {name for op in self.forward if op.region in inside for name in op.outputs}
        used_outside = {name for op in self.forward if op.region not in inside for name in op.inputs}
        return made - used_outside

    # -- kernels -------------------------------------------------------------------------------------------

    def _kernels(self, operations: Sequence[Operation], phase: Phase) -> list[Kernel]:
        kernels = []
        done: set[str] = set()
        for op in operations:
            if op.region in self.fused_regions:
                if op.region not in done:
                    done.add(op.region)
                    kernels.append(self.fused(op.region, operations, phase))
            elif not op.fused:
                kernels.append(self.kernel(op, phase))
        return kernels

    def _work(self, op: Operation, unit: Unit) -> Term | None:
        work = op.kind.work()
        if work.unit is not unit or work.per_point == 0:
            return None
        return self._dims(work.dims, self._split(op)) * Term(work.per_point)

    def kernel(self, op: Operation, phase: Phase) -> Kernel:
        """One operation by itself."""
        signature = op.kind.signature
        ends = zip((*op.inputs, *op.outputs), (*signature.inputs, *signature.outputs), strict=True)
        moved = [self._local(op, name, dims) for name, dims in ends]
        base = Kernel(
            name=op.of or op.name,
            part=op.part,
            phase=phase,
            matrix_work=self._work(op, Unit.MATRIX),
            vector_work=self._work(op, Unit.VECTOR),
            of_weight=bool(self.weight_gradients & set(op.outputs)),
            attention_core=bool(op.region),
            keep_16bit=bool(op.region) or self.block.repeat == 1,
        )
        if isinstance(op.kind, Contraction):
            divided = self._split(op)
            instances = self._dims(signature.shared, divided)
            first, second, result = (size / instances for size in moved)
            left, right = (set(dims) - set(signature.shared) - set(signature.summed) for dims in signature.inputs)
            return replace(
                base,
                product=(first, second, result),
                instances=instances,
                rows=self._dims(_ordered(signature.dims, left), divided),
                columns=self._dims(_ordered(signature.dims, right), divided),
                depth=self._dims(signature.summed, divided),
            )
        if isinstance(op.kind, Lookup) and not op.kind.scatter:
            moved[1] = moved[2]  # only the rows that are looked up are read
        return replace(base, traffic=merged(moved))

    def fused(self, region: str, operations: Sequence[Operation], phase: Phase) -> Kernel:
        """One kernel for a region: only what enters and leaves it is moved, what it needs it makes again."""
        inside = [op for op in operations if op.region == region]
        again = self._remade(region) if phase is Phase.BACKWARD else []
        made = {name for op in (*inside, *again) for name in op.outputs}
        read = dict.fromkeys(name for op in (*inside, *again) for name in op.inputs if name not in made)
        others = {name for op in self.block.operations if op.region != region for name in op.inputs}
        left = dict.fromkeys(name for op in inside for name in op.outputs if name in others)
        works: dict[Unit, list[Term]] = {Unit.MATRIX: [], Unit.VECTOR: []}
        for op in (*inside, *again):
            for unit, terms in works.items():
                work = self._work(op, unit)
                if work is not None:
                    terms.append(work)
        matrix, vector = (merged(terms) for terms in works.values())
        assert max(len(matrix), len(vector)) <= 1, f"region {region} mixes splits"
        return Kernel(
            name=region,
            part=inside[0].part,
            phase=phase,
            matrix_work=matrix[0] if matrix else None,
            vector_work=vector[0] if vector else None,
            depth=self._dims([op.kind.along for op in inside if isinstance(op.kind, Normalisation)][:1], {}),
            traffic=self._grouped([*read, *left]),
            attention_core=True,
            keep_16bit=True,
        )

    def _remade(self, region: str) -> list[Operation]:
        """Forward operations of a fused region whose results its backward operations read."""
        wanted = {name for op in self.backward if op.region == region for name in op.inputs}
        found: list[Operation] = []
        for op in reversed(self.forward):
            if op.region == region and wanted & set(op.outputs):
                found.append(op)
                wanted |= set(op.inputs)
        return found[::-1]

    # -- collectives ---------------------------------------------------------------------------------------

    def _exchanges(self, *, repeat_forward: bool) -> list[Exchange]:
        exchanges = []
        for axis, sharded in self.sharded.items():
            for found in sharded.conversions:
                whole = found.of_weight and EXPERT_DIM in self.block.tensor_of[found.tensor].dims
                if (axis is not Axis.TENSOR and found.of_weight) or whole:
                    continue  # replicas' gradients are exchanged with all the others, once a step
                exchange = self.exchange(axis, found)
                exchanges.append(exchange)
                if repeat_forward and found.phase is Phase.FORWARD:
                    exchanges.append(replace(exchange, phase=Phase.RECOMPUTE))
        return exchanges

    def _settled(self, axis: Axis, tensor: str) -> str | None:
        """The dimension an axis divides a tensor by when others exchange it, partial sums added up."""
        sharded = self.sharded[axis]
        layouts = [sharded.layouts[tensor], *(one.wanted for one in sharded.conversions if one.tensor == tensor)]
        return next((layout.dim for layout in layouts if layout != PARTIAL), None)

    def exchange(self, axis: Axis, found: Conversion) -> Exchange:
        """A collective; its size is the whole tensor along its own axis, and one chip's part along the others."""
        tensor = self.block.tensor_of[found.tensor]
        others = {other: self._settled(other, found.tensor) for other in self.sharded if other is not axis}
        own = ONE
        if found.collective is Collective.ALL_TO_ALL and axis is not Axis.EXPERT:
            own = _share(axis)  # each chip sends what it has; chips that share experts bring batches of their own
        return Exchange(
            axis=axis,
            collective=found.collective,
            size=self._dims(tensor.dims, others) * Term(element_bytes(tensor.element)) * own,
            phase=found.phase,
            repeated_in_backward=found.repeated_in_backward,
            per_step=found.of_weight,
        )


def _ordered(dims: Sequence[str], chosen: set[str]) -> tuple[str, ...]:
    return tuple(dim for dim in dims if dim in chosen)


def _share(axis: Axis) -> Term:
    """One chip's share along an axis."""
    powers = [0, 0, 0, 0]
    powers[axis.value] = 1
    return Term(1.0, (powers[0], powers[1], powers[2], powers[3]))
