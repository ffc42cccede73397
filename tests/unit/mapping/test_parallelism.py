"""Tables of mappings: rows that are alike."""

import numpy as np
import pytest

from volvelle.mapping.parallelism import MappingTable, numbered


def test_rows_alike_in_the_named_columns_are_kept_once_and_found_again() -> None:
    table = MappingTable.every(tensor=[1, 2, 4], data=[1, 8], micro_batch=[1, 3], sequence_parallel=[False, True])
    few, rows = table.alike(["tensor", "micro_batch"])
    assert len(few) == 3 * 2 * 2
    for name in ("tensor", "micro_batch", "sequence_parallel"):
        assert np.array_equal(getattr(few, name)[rows], getattr(table, name))


def test_columns_in_which_rows_were_not_told_apart_are_no_numbers() -> None:
    few, _ = MappingTable.every(tensor=[1, 2], data=[1, 8]).alike(["tensor"])
    assert np.isnan(few.data).all()
    assert np.isnan(few.zero).all()


@pytest.mark.parametrize("values", [[3, 1, 3, 0], [10**9, 5, 10**9], [7]])
def test_values_are_numbered_in_their_order_small_or_large(values: list[int]) -> None:
    different, numbers = np.unique(values, return_inverse=True)
    found, count = numbered(np.array(values, dtype=np.intp))
    assert count == len(different)
    assert np.array_equal(found, numbers)
