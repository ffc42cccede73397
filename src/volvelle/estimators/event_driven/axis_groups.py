"""Which ranks exchange along each axis of a layout."""

from volvelle.estimators.event_driven.block_steps import one
from volvelle.estimators.event_driven.moved import Group
from volvelle.estimators.training.blocks import expert_stride
from volvelle.estimators.training.step_time import StepBasis
from volvelle.mapping.axes import EXPERT, PIPELINE, Axis, stride
from volvelle.mapping.parallelism import MappingTable


def axis_groups(basis: StepBasis, table: MappingTable) -> dict[Axis, Group]:
    """Of every axis that cuts blocks and is used, and of the tensor axis."""
    found = {}
    for axis in basis.blocks.axes:
        between = expert_stride(table) if axis is EXPERT else stride(table, axis)
        found[axis] = Group(round(one(getattr(table, axis.name))), round(one(between)))
    return found


def pipeline_group(table: MappingTable) -> Group:
    """The stages of a pipeline."""
    return Group(int(table.pipeline[0]), round(one(stride(table, PIPELINE))))
