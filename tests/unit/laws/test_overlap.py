"""What runs beside what, and what it costs."""

import numpy as np
import pytest

from volvelle.laws.overlap import (
    hidden_time,
    host_bound_time,
    overlap_slowdown_time,
    streamed_time,
    trailing_exchange_time,
)


def test_no_more_hides_than_there_is_or_than_the_window_holds() -> None:
    assert list(hidden_time(np.array([1.0, 5.0]), 3.0, overlap=0.5)) == [1.0, 1.5]


def test_computation_loses_the_units_that_communication_takes() -> None:
    """DeepSeek-V3 sets 20 of 132 processors aside: ten seconds of traffic cost one and a half of computation."""
    assert overlap_slowdown_time(10.0, share=20 / 132) == pytest.approx(200 / 132)


def test_only_what_does_not_fit_beside_computation_is_added() -> None:
    assert list(streamed_time(np.array([10.0, 40.0]), 5.0, rate=4.0)) == [0.0, 5.0]
    assert list(host_bound_time(np.array([1.0, 3.0]), 2.0)) == [1.0, 0.0]


def test_of_an_exchange_that_is_shorter_than_the_work_only_the_last_layer_trails() -> None:
    found = trailing_exchange_time(4.0, 8.0, layers=4.0, pieces=1.0, stages=1.0, last=0.5)
    assert found == pytest.approx(0.5 + 1.0)


def test_of_a_longer_exchange_all_trails_that_the_layers_behind_the_first_do_not_hide() -> None:
    """Four layers of 2 s, each with 3 s to send: the first is ready after 2 s, and 12 s later all are sent."""
    assert trailing_exchange_time(12.0, 8.0, layers=4.0, pieces=1.0, stages=1.0, last=0.0) == pytest.approx(2 + 12 - 8)


def test_pieces_of_an_interleaved_stage_leave_time_for_what_is_ready_early() -> None:
    whole, cut = (
        trailing_exchange_time(12.0, 8.0, layers=4.0, pieces=pieces, stages=4.0, last=0.0) for pieces in (1.0, 2.0)
    )
    assert cut < whole
    assert cut == pytest.approx((12.0 - 8.0) / 2 + 2.0)
