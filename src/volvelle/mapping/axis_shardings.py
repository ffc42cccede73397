"""How each axis of chips splits a block's operations, as its declaration and a structure say."""

from collections.abc import Mapping

from volvelle.mapping.axes import CONTEXT, CUTTING, TENSOR, Axis
from volvelle.mapping.parallelism import Structure
from volvelle.mapping.sharding import ShardedBlock, by_dimension, shard
from volvelle.workload.graph import Block, Workload
from volvelle.workload.tensor_layout import REPLICATED, TensorLayout, split

SEQUENCE_DIM = "position"
"""What sequence parallelism splits where tensor dimensions do not occur."""
EXPERT_DIM = "experts"
EXPERT_WIDTH = "expert_ffn"
HEADS_DIM = "kv_heads"


def axis_shardings(workload: Workload, block: Block, structure: Structure) -> dict[Axis, ShardedBlock]:
    """A block split along every axis that cuts blocks, as its declaration and a structure say."""
    shardings = {}
    for axis in CUTTING:
        dims: Mapping[str, str | None] = by_dimension(block, axis.splits, otherwise=axis.otherwise)
        boundary = split(axis.boundary) if axis.boundary else REPLICATED
        if axis is TENSOR:
            dims, boundary = _tensor_dims(workload, block, structure)
        elif axis is CONTEXT and structure.ulysses:
            dims = {**dims, **_swapped_dims(block)}
        shardings[axis] = shard(block, dims, boundary=boundary)
    return shardings


def _tensor_dims(
    workload: Workload, block: Block, structure: Structure
) -> tuple[Mapping[str, str | None], TensorLayout]:
    """What operations split over the tensor-parallel chips, with positions in between where a structure says so."""
    if structure.sharding is not None:
        return structure.sharding.dims(block), structure.sharding.boundary
    sequence = structure.sequence_parallel and SEQUENCE_DIM in workload.sizes
    dims = TENSOR.splits
    if not structure.expert_tensor_parallel:  # tokens stay where their positions are, as over any other replica
        dims = (*(dim for dim in TENSOR.splits if dim != EXPERT_WIDTH), "slots")
    chosen = by_dimension(block, dims, otherwise=SEQUENCE_DIM if sequence else None)
    return chosen, split(SEQUENCE_DIM) if sequence else REPLICATED


def _swapped_dims(block: Block) -> dict[str, str | None]:
    """Heads between projections, where those are swapped for positions."""
    heads = by_dimension(block, (HEADS_DIM,))
    return {op.name: HEADS_DIM for op in block.operations if op.region and heads.get(op.name)}
