"""Limits of a service as values."""

import numpy as np
import pytest

from volvelle.errors import DescriptionError
from volvelle.workload.serving.limits import LatencyLimit


def test_a_limit_is_of_a_percentile_or_of_the_mean() -> None:
    seconds = np.array([1.0, 2.0, 3.0, 10.0])
    assert LatencyLimit(latency="ttft", percentile=50.0, seconds=1.0).of(seconds) == pytest.approx(2.5)
    assert LatencyLimit(latency="ttft", seconds=1.0).of(seconds) == pytest.approx(4.0)
    assert str(LatencyLimit(latency="tpot", percentile=99.0, seconds=0.05)) == "p99 tpot 50 ms"


def test_a_limit_of_something_else_or_of_no_time_is_refused() -> None:
    with pytest.raises(DescriptionError, match="no latency"):
        LatencyLimit(latency="speed", seconds=1.0)
    with pytest.raises(DescriptionError, match="limit: seconds"):
        LatencyLimit(latency="ttft", seconds=0.0)
