"""What runs beside what, and what it costs."""

import numpy as np
import pytest

from volvelle.laws.overlap import hidden_time, host_bound_time, overlap_slowdown_time, streamed_time


def test_no_more_hides_than_there_is_or_than_the_window_holds() -> None:
    assert list(hidden_time(np.array([1.0, 5.0]), 3.0, overlap=0.5)) == [1.0, 1.5]


def test_computation_loses_the_units_that_communication_takes() -> None:
    """DeepSeek-V3 sets 20 of 132 processors aside: ten seconds of traffic cost one and a half of computation."""
    assert overlap_slowdown_time(10.0, share=20 / 132) == pytest.approx(200 / 132)


def test_only_what_does_not_fit_beside_computation_is_added() -> None:
    assert list(streamed_time(np.array([10.0, 40.0]), 5.0, rate=4.0)) == [0.0, 5.0]
    assert list(host_bound_time(np.array([1.0, 3.0]), 2.0)) == [1.0, 0.0]
