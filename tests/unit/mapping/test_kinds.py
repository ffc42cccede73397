"""Every layout is of one kind, told by its rarest part."""

import pytest

from volvelle.mapping.kinds import Kind, kind_of, kinds
from volvelle.mapping.parallelism import MappingTable, ParallelMapping, Schedule

_ZERO_BUBBLE = Schedule.ZERO_BUBBLE


@pytest.mark.parametrize(
    ("layout", "kind"),
    [
        (ParallelMapping(data=8, zero=3), Kind.DATA),
        (ParallelMapping(tensor=8, data=2), Kind.TENSOR),
        (ParallelMapping(tensor=8, pipeline=4), Kind.PIPELINE),
        (ParallelMapping(tensor=8, pipeline=4, schedule=_ZERO_BUBBLE), Kind.NO_BUBBLE),
        (ParallelMapping(tensor=8, schedule=_ZERO_BUBBLE), Kind.TENSOR),
        (ParallelMapping(data=8, expert=8), Kind.EXPERT),
        (ParallelMapping(data=8, expert=8, context=2, pipeline=2), Kind.CONTEXT),
        (ParallelMapping(data=8, offload_optimiser=True), Kind.HOST),
    ],
)
def test_a_layout_is_of_the_kind_of_its_rarest_part(layout: ParallelMapping, kind: Kind) -> None:
    assert kind_of(layout) is kind


def test_a_table_says_of_each_row_what_the_row_says_of_itself() -> None:
    table = MappingTable.every(tensor=(1, 2), pipeline=(1, 4), context=(1, 2), expert=(1, 2), schedule=(0, 2))
    assert [kind_of(table.row(row)) for row in range(len(table))] == list(kinds(table))
