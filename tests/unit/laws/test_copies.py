"""Copies are read and written: narrower or wider, unpacked, out of what was gathered, into what is reduced."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle.laws.copies import (
    added_gradients_time,
    cast_traffic,
    dequantisation_traffic,
    listed_parts_time,
    unit_copies_time,
)
from volvelle.workload.elements import element_bytes

COUNTS = st.floats(0.0, 1e6)


def test_a_layer_of_a_billion_parameters_copied_out_twice_and_in_once() -> None:
    """16 bits out of two gathers and into one reduction in 32 bits: 4 + 4 + 6 bytes a parameter."""
    found = unit_copies_time(2e9, 1e9, gathers=2.0, gathered=2.0, reductions=1.0, reduced=6.0, memory_rate=2e12)
    assert found == pytest.approx(14e9 / 2e12)


@given(COUNTS, COUNTS, st.floats(0.0, 8.0), st.floats(0.0, 32.0), st.floats(1.0, 1e3))
def test_copies_grow_with_what_is_copied_and_take_no_time_of_software_that_copies_nothing(
    gathers: float, reductions: float, gathered: float, reduced: float, more: float
) -> None:
    def time(times: float, moved: float) -> float:
        return float(
            unit_copies_time(
                2e6,
                1e6,
                gathers=times * gathers,
                gathered=moved * gathered,
                reductions=times * reductions,
                reduced=moved * reduced,
                memory_rate=1e12,
            )
        )

    assert time(1.0, 0.0) == 0.0
    assert time(more, 1.0) == pytest.approx(more * time(1.0, 1.0))


def test_columns_are_priced_as_points_are() -> None:
    counts = np.array([0.0, 1.0, 8.0])
    together = unit_copies_time(2.0, 1.0, gathers=counts, gathered=2.0, reductions=counts, reduced=6.0, memory_rate=5.0)
    alone = [
        unit_copies_time(2.0, 1.0, gathers=one, gathered=2.0, reductions=one, reduced=6.0, memory_rate=5.0)
        for one in counts.tolist()
    ]
    assert together.tolist() == alone


def test_gradients_of_a_billion_parameters_are_added_after_each_of_a_hundred_passes() -> None:
    assert added_gradients_time(1e9, passes=100.0, moved=18.0, memory_rate=1.8e12) == pytest.approx(1.0)


def test_lists_of_parts_take_as_much_longer_as_there_are_more_ranks_however_small_the_parts() -> None:
    assert listed_parts_time(96.0, 1536.0, times=3.0, each=22e-6) == pytest.approx(9.732, abs=1e-3)
    few, many = (listed_parts_time(96.0, ranks, times=1.0, each=1e-6) for ranks in (384.0, 768.0))
    assert many == pytest.approx(2.0 * few)


def test_a_cast_reads_the_wide_copy_and_writes_the_narrow_one() -> None:
    assert cast_traffic(100.0, wide_each=2.0, narrow_each=1.0) == 100 + 50
    assert cast_traffic(100.0, wide_each=2.0, narrow_each=0.5) == 100 + 25


def test_unpacking_reads_what_is_kept_and_writes_a_copy() -> None:
    assert dequantisation_traffic(4.0, 16.0) == 20.0


def test_a_normal_float_with_double_quantisation_takes_4127_thousandths_of_a_bit() -> None:
    """Dettmers et al. 2023, section 3: 0.5 bits of scales a parameter become 0.127."""
    assert 8 * element_bytes("nf4") == pytest.approx(4.127, abs=5e-4)
    assert 8 * element_bytes("nf4-single") == 4.5
