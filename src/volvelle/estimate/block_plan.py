"""What a block costs, as terms: everything that can be worked out before any number of chips is known.

For one structure (which operations run, how they are split) a block becomes a list of kernels, collectives and
saved tensors. Each size is a `Term`, a coefficient times powers of the micro-batch and of the tensor-parallel
share, so that pricing a million mappings costs a few array operations a kernel.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Mapping as Map
from dataclasses import dataclass, replace
from math import prod

from volvelle.mapping.parallelism import Recompute, Structure
from volvelle.mapping.sharding import Conversion, ShardedBlock, by_dimension, shard
from volvelle.workload.elements import element_bytes
from volvelle.workload.graph import Block, Role, Workload
from volvelle.workload.layout import REPLICATED, Collective, split
from volvelle.workload.operations import Contraction, Lookup, Operation, Phase, Unit

__all__ = ["BlockPlan", "Exchange", "Kernel", "Term", "plan_block"]

TENSOR_DIMS = ("kv_heads", "ffn", "vocab")
"""What tensor parallelism splits."""
SEQUENCE_DIM = "position"
"""What sequence parallelism splits where the tensor dimensions do not occur."""


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """coefficient · batch^b · (1/tensor)^s."""

    coefficient: float
    batch: int = 0
    share: int = 0

    @property
    def powers(self) -> tuple[int, int]:
        """(b, s)."""
        return self.batch, self.share

    def __mul__(self, other: "Term") -> "Term":
        return Term(self.coefficient * other.coefficient, self.batch + other.batch, self.share + other.share)

    def __truediv__(self, other: "Term") -> "Term":
        return Term(self.coefficient / other.coefficient, self.batch - other.batch, self.share - other.share)


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
    instances: Term = Term(1.0)
    traffic: tuple[Term, ...] = ()
    """Bytes moved, where they do not depend on the buffer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A collective over the tensor-parallel chips."""

    collective: Collective
    size: Term
    phase: Phase
    again: bool
    """Repeated in the backward pass, behind the weight gradients."""
    once: bool
    """Once a step, not once a micro-batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlan:
    """One repetition of a block, priced in terms."""

    name: str
    repeat: int
    kernels: tuple[Kernel, ...]
    exchanges: tuple[Exchange, ...]
    saved: tuple[Term, ...]
    """Bytes kept for the backward pass."""
    working: tuple[Term, ...]
    """Bytes that live again while one repetition is recomputed."""
    weights: tuple[Term, ...]
    """Parameters."""
    tied: tuple[Term, ...]
    """Parameters that are another block's, held again if that block is on another chip."""
    handed: tuple[Term, ...]
    """Bytes handed to the next block."""
    split_dims: frozenset[str]
    """Dimensions that the tensor-parallel chips share."""


def plan_block(workload: Workload, block: Block, structure: Structure) -> BlockPlan:
    """Work a block (with its backward operations) out for one structure."""
    sequence = structure.sequence_parallel and SEQUENCE_DIM in workload.sizes
    sharded = shard(
        block,
        by_dimension(block, TENSOR_DIMS, otherwise=SEQUENCE_DIM if sequence else None),
        boundary=split(SEQUENCE_DIM) if sequence else REPLICATED,
    )
    return _Planner(workload.sizes, sharded, structure).plan()


class _Planner:
    def __init__(self, sizes: Map[str, int], sharded: ShardedBlock, structure: Structure) -> None:
        self.sizes = sizes
        self.sharded = sharded
        self.block = sharded.block
        self.forward = [op for op in self.block.operations if op.phase is Phase.FORWARD]
        self.backward = [op for op in self.block.operations if op.phase is Phase.BACKWARD]
        self.fused_regions = {op.region for op in self.forward if op.region} if structure.fused_attention else set()
        self.recomputed = self._recomputed(structure)

    def _recomputed(self, structure: Structure) -> list[Operation]:
        """Forward operations that run again: a whole repeated block, or the regions that are not fused."""
        if structure.recompute is Recompute.FULL and self.block.repeat > 1:
            return self.forward
        if structure.recompute is Recompute.SELECTIVE:
            return [op for op in self.forward if op.region and op.region not in self.fused_regions]
        return []

    def plan(self) -> BlockPlan:
        block = self.block
        kernels = [
            *self._kernels(self.forward, Phase.FORWARD),
            *self._kernels(self.backward, Phase.BACKWARD),
            *(replace(kernel, phase=Phase.RECOMPUTE) for kernel in self._kernels(self.recomputed, Phase.FORWARD)),
        ]
        everything = self.recomputed == self.forward
        interior = self._interior()
        needed = [name for name in self._read_backward() if name not in interior]
        weights = [tensor for tensor in block.tensors if tensor.role is Role.WEIGHT]
        return BlockPlan(
            name=block.name,
            repeat=block.repeat,
            kernels=tuple(kernels),
            exchanges=tuple(self._exchanges(repeat_forward=everything)),
            saved=self._grouped(block.inputs if everything else needed),
            working=self._grouped(name for name in needed if name not in block.inputs) if everything else (),
            weights=_merged([self._elements(t.name) for t in weights if not t.tied_to]),
            tied=_merged([self._elements(t.name) for t in weights if t.tied_to]),
            handed=self._grouped(block.outputs),
            split_dims=frozenset(
                dim
                for op, dim in self.sharded.dims.items()
                if dim and dim in self.block.operation_of[op].kind.signature.dims
            ),
        )

    # -- sizes ---------------------------------------------------------------------------------------------

    def _dims(self, dims: Sequence[str], divided: str | None) -> Term:
        """Points of the named dimensions on one chip."""
        fixed = prod(self.sizes[dim] for dim in dims if dim != "batch")
        return Term(float(fixed), int("batch" in dims), int(divided in dims))

    def _elements(self, tensor: str) -> Term:
        return self._dims(self.block.tensor_of[tensor].dims, self.sharded.layouts[tensor].dim)

    def _bytes(self, tensor: str) -> Term:
        return self._elements(tensor) * Term(element_bytes(self.block.tensor_of[tensor].element))

    def _grouped(self, names: Iterable[str]) -> tuple[Term, ...]:
        return _merged([self._bytes(name) for name in names])

    def _local(self, op: Operation, name: str, dims: Sequence[str]) -> Term:
        """Bytes of a tensor as this operation sees it on one chip."""
        each = element_bytes(self.block.tensor_of[name].element)
        return self._dims(dims, self.sharded.dims[op.name]) * Term(each)

    # -- what is kept --------------------------------------------------------------------------------------

    def _read_backward(self) -> list[str]:
        """Activations of the forward pass that some backward operation reads."""
        made = {name for op in self.forward for name in op.outputs} | set(self.block.inputs)
        read = dict.fromkeys(name for op in self.backward for name in op.inputs)
        return [name for name in read if name in made]

    def _interior(self) -> set[str]:
        """Tensors made inside a region that is fused or recomputed by itself, and needed nowhere else forward."""
        alone = set() if self.recomputed == self.forward else {op.region for op in self.recomputed if op.region}
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
                    kernels.append(self._fused(op.region, operations, phase))
            elif not op.fused:
                kernels.append(self._kernel(op, phase))
        return kernels

    def _work(self, op: Operation, unit: Unit) -> Term | None:
        work = op.kind.work()
        if work.unit is not unit or work.per_point == 0:
            return None
        return self._dims(work.dims, self.sharded.dims[op.name]) * Term(work.per_point)

    def _kernel(self, op: Operation, phase: Phase) -> Kernel:
        signature = op.kind.signature
        ends = zip((*op.inputs, *op.outputs), (*signature.inputs, *signature.outputs), strict=True)
        moved = [self._local(op, name, dims) for name, dims in ends]
        base = Kernel(
            name=op.of or op.name,
            part=op.part,
            phase=phase,
            matrix_work=self._work(op, Unit.MATRIX),
            vector_work=self._work(op, Unit.VECTOR),
        )
        if isinstance(op.kind, Contraction):
            instances = self._dims(signature.shared, self.sharded.dims[op.name])
            first, second, result = (size / instances for size in moved)
            return replace(base, product=(first, second, result), instances=instances)
        if isinstance(op.kind, Lookup) and not op.kind.scatter:
            moved[1] = moved[2]  # only the rows that are looked up are read
        return replace(base, traffic=_merged(moved))

    def _fused(self, region: str, operations: Sequence[Operation], phase: Phase) -> Kernel:
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
        matrix, vector = (_merged(terms) for terms in works.values())
        assert max(len(matrix), len(vector)) <= 1, f"region {region} mixes splits"
        return Kernel(
            name=region,
            part=inside[0].part,
            phase=phase,
            matrix_work=matrix[0] if matrix else None,
            vector_work=vector[0] if vector else None,
            traffic=self._grouped([*read, *left]),
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
        for found in self.sharded.conversions:
            exchanges.append(self._exchange(found))
            if repeat_forward and found.phase is Phase.FORWARD:
                exchanges.append(replace(self._exchange(found), phase=Phase.RECOMPUTE))
        return exchanges

    def _exchange(self, found: Conversion) -> Exchange:
        tensor = self.block.tensor_of[found.tensor]
        return Exchange(
            collective=found.collective,
            size=self._dims(tensor.dims, None) * Term(element_bytes(tensor.element)),
            phase=found.phase,
            again=found.again,
            once=found.of_weight,
        )


def _merged(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Terms with equal powers, added."""
    found: dict[tuple[int, int], float] = {}
    for term in terms:
        key = (term.batch, term.share)
        found[key] = found.get(key, 0.0) + term.coefficient
    return tuple(Term(coefficient, *key) for key, coefficient in found.items())
