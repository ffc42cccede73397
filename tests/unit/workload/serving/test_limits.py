"""Limits of a service as values."""

import numpy as np
import pytest

from volvelle.errors import DescriptionError
from volvelle.simulation.batching.metrics import Latency
from volvelle.workload.serving.limits import LatencyLimit

SPREAD = {
    "ttft": Latency(mean=1.0, median=0.9, std=0.1, percentiles={50.0: 0.9, 90.0: 1.2, 95.0: 1.5, 99.0: 2.0}, tail=2.4)
}


@pytest.mark.parametrize(("percentile", "found"), [(None, 1.0), (50.0, 0.9), (99.0, 2.0)])
def test_a_limit_finds_what_it_limits(percentile: float | None, found: float) -> None:
    limit = LatencyLimit(latency="ttft", percentile=percentile, seconds=found)
    assert limit.found_in(SPREAD) == found
    assert limit.kept_by(SPREAD)
    assert not LatencyLimit(latency="ttft", percentile=percentile, seconds=0.99 * found).kept_by(SPREAD)


def test_what_no_request_has_is_within_any_limit() -> None:
    assert LatencyLimit(latency="tpot", percentile=99.0, seconds=1e-3).kept_by(SPREAD)


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


def test_a_percentile_that_is_not_kept_is_told_with_those_that_are() -> None:
    with pytest.raises(DescriptionError, match="take p50, p90, p95, p99 or mean"):
        LatencyLimit(latency="ttft", percentile=42.0, seconds=1.0).found_in(SPREAD)
