"""What layouts hold at least, however their operations are split: every tensor in as many parts as there are chips."""

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.step_time import step_time
from volvelle.mapping.axes import TENSOR
from volvelle.mapping.axis_shardings import axis_shardings
from volvelle.mapping.lowered_model import LoweredModel
from volvelle.mapping.lowering import BlockLowering
from volvelle.mapping.parallelism import MappingTable, Structure
from volvelle.mapping.sharding import ShardedBlock
from volvelle.workload.graph import Block, Workload
from volvelle.workload.tensor_layout import REPLICATED, split
from volvelle.workload.training import TrainingStep


def any_layout(block: Block, dims: dict[str, str | None]) -> ShardedBlock:
    """A block whose tensors all lie split over the tensor-parallel chips, whatever its operations split."""
    layouts = {tensor.name: split(tensor.dims[0]) if tensor.dims else REPLICATED for tensor in block.tensors}
    return ShardedBlock(block=block, dims=dims, layouts=layouts, conversions=())


def least_memory(
    step: TrainingStep, whole: Workload, structure: Structure, machine: SustainedRates, table: MappingTable
) -> NDArray[np.float64]:
    """Bytes on the fullest rank of rows that share a structure, below which no split of operations gets."""
    blocks = tuple(
        BlockLowering(
            whole.sizes,
            block,
            axis_shardings(whole, block, structure)
            | {TENSOR: any_layout(block, dict.fromkeys((op.name for op in block.operations), None))},
            structure,
        ).lowered()
        for block in whole.blocks
    )
    model = LoweredModel(blocks=blocks, runs=whole.runs)
    return np.asarray(step_time(model, step, machine, table).memory_bytes)
