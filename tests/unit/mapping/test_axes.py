"""Axes and fields of a layout are declared once; the rest follows."""

import pickle
from dataclasses import fields

import pytest

from volvelle import MappingError, MappingTable, ParallelMapping
from volvelle.cli.estimate import estimate
from volvelle.cli.plan import plan
from volvelle.estimators.training.overlaps import OVERLAPS
from volvelle.mapping.axes import AXES, CONTEXT, CUTTING, DATA, EXPERT, PIPELINE, REPLICAS, TAKING, TENSOR, stride
from volvelle.mapping.choices import Choice
from volvelle.mapping.parallelism import CHOICES, Structure
from volvelle.report.documents.layout import layout_fields
from volvelle.search.space import Space
from volvelle.studies.design_space.layout_policy import LAYOUT_FIELDS

LAYOUT = ParallelMapping(tensor=2, context=3, data=5, pipeline=7, expert=15)


def test_ranks_are_numbered_tensor_then_context_then_data_then_pipeline() -> None:
    assert [stride(LAYOUT, axis) for axis in (TENSOR, CONTEXT, DATA, PIPELINE)] == [1, 2, 6, 30]
    assert stride(LAYOUT, EXPERT) == stride(LAYOUT, CONTEXT)


def test_chips_are_the_product_of_axes_that_have_their_own() -> None:
    assert LAYOUT.chips == 2 * 3 * 5 * 7
    assert EXPERT not in TAKING
    assert REPLICAS == (CONTEXT, DATA)


def test_there_is_one_of_each_axis_also_in_another_process() -> None:
    assert all(pickle.loads(pickle.dumps(axis)) is axis for axis in AXES)


def test_an_axis_that_cuts_blocks_runs_behind_something_known() -> None:
    assert all(axis.hides_behind in OVERLAPS for axis in CUTTING)


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.name)
def test_a_field_is_known_everywhere(choice: Choice) -> None:
    assert choice.name in {field.name for field in fields(ParallelMapping)}
    assert choice.name in {field.name for field in fields(MappingTable)}
    assert getattr(Space(), choice.name) == choice.searched
    assert choice.name in LAYOUT_FIELDS
    assert (choice.listed or choice.name) in layout_fields()
    for command in (estimate, plan):
        assert any((choice.listed or choice.name) == option.name for option in command.params)
    column = getattr(MappingTable.columns(), choice.name)
    assert column.dtype == choice.column
    assert getattr(MappingTable.columns().row(0), choice.name) == choice.default


def test_a_structure_has_the_fields_that_change_operations() -> None:
    structural = {choice.name for choice in CHOICES if choice.structural}
    assert {field.name for field in fields(Structure)} == {*structural, "sharding"}
    table = MappingTable.every(ulysses=(0, 1), recompute=(0, 1, 2), fused_attention=(0, 1))
    structures = table.structures()
    assert len(structures) == 12
    assert all(table.row(int(rows[0])).structure == structure for structure, rows in structures)  # type: ignore[index]


def test_a_number_outside_its_bounds_is_refused_by_name() -> None:
    with pytest.raises(MappingError, match="zero is 4; it must be a whole number from 0 to 3"):
        ParallelMapping(zero=4)
    with pytest.raises(MappingError, match="tensor is 0; it must be a whole number from 1 to 100,000,000"):
        ParallelMapping(tensor=0)
