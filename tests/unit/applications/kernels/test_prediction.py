"""Which measured kernels are held against a law."""

from dataclasses import replace

from volvelle.applications.kernels.measurements import kernel_measurements
from volvelle.applications.kernels.prediction import why_unusable


def test_a_row_whose_parts_are_more_than_the_whole_is_left_out_with_the_reason() -> None:
    row = next(row for row in kernel_measurements().rows if row.operation == "moe")
    assert why_unusable(replace(row, ep=(row.experts or 0) + 1)) == "it has more ep than experts"
    assert why_unusable(replace(row, topk=1e25)) == "it has more topk than experts"
