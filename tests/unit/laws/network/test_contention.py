"""Rates fall as a collective grows."""

import pytest

from volvelle.laws.network.contention import contended_rate


def test_each_doubling_beyond_two_units_costs_the_same_share_more() -> None:
    assert contended_rate(100.0, 2.0, contention=0.1) == 100.0
    assert contended_rate(100.0, 1.0, contention=0.1) == 100.0
    assert contended_rate(100.0, 16.0, contention=0.1) == pytest.approx(100 / 1.3)
    assert contended_rate(100.0, 16.0, contention=0.0) == 100.0
