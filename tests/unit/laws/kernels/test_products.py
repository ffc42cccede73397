"""Laws of matrix products by themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle.laws.kernels.products import (
    cast_passes_time,
    product_rate,
    product_traffic,
    smooth_maximum,
    sustained_share,
)

SECONDS = st.floats(1e-9, 10.0)


@given(SECONDS, SECONDS)
def test_two_resources_take_at_least_the_longer_and_at_most_both(first: float, second: float) -> None:
    both = smooth_maximum(first, second)
    assert max(first, second) * (1 - 1e-12) <= both <= (first + second) * (1 + 1e-12)


def test_equal_resources_cost_a_third_more_than_one() -> None:
    assert smooth_maximum(1.0, 1.0) == pytest.approx(2 ** (1 / 2.5))


def test_every_operand_is_moved_once() -> None:
    assert product_traffic(2, 3, 5, operand_bytes=1.0, result_bytes=2.0, weight_bytes=1.0) == 10 + 15 + 12
    assert product_traffic(2, 3, 5, operand_bytes=2.0, result_bytes=2.0, weight_bytes=0.5) == 20 + 7.5 + 12


def test_casting_reads_two_bytes_an_element_a_pass() -> None:
    assert cast_passes_time(1e9, passes=1.5, memory_rate=1e12) == pytest.approx(3e-3)


def test_the_clock_falls_with_the_length_of_a_burst_to_what_it_sustains() -> None:
    shares = np.asarray(sustained_share(np.array([0.0, 0.01, 0.1, 1.0, 1e6]), sustained=0.8))
    assert shares[0] == 1.0
    assert np.all(np.diff(shares) < 0)
    assert shares[2] == pytest.approx(0.9)
    assert shares[-1] == pytest.approx(0.8, rel=1e-6)


def test_a_large_product_runs_at_its_share_of_the_peak_and_a_small_one_slower() -> None:
    how = {"peak": 1e15, "matrix_efficiency": 0.8, "units": 132.0, "tile": 1280.0, "half": 60.0}
    large = product_rate(65536.0, 65536.0, 65536.0, 1.0, **how)
    assert large == pytest.approx(0.8e15, rel=0.01)
    assert product_rate(64.0, 1024.0, 1024.0, 1.0, **how) < 0.5 * large
