"""Limits of a service."""

import pytest

from volvelle.errors import DescriptionError
from volvelle.simulation.batching.metrics import Latency
from volvelle.workload.serving.limits import PercentileLimit

SPREAD = {"ttft": Latency(mean=1.0, median=0.9, std=0.1, percentiles={50.0: 0.9, 90.0: 1.2, 95.0: 1.5, 99.0: 2.0})}


@pytest.mark.parametrize(("percentile", "found"), [(None, 1.0), (50.0, 0.9), (99.0, 2.0)])
def test_a_limit_finds_what_it_limits(percentile: float | None, found: float) -> None:
    limit = PercentileLimit(latency="ttft", percentile=percentile, seconds=found)
    assert limit.found_in(SPREAD) == found
    assert limit.kept_by(SPREAD)
    assert not PercentileLimit(latency="ttft", percentile=percentile, seconds=0.99 * found).kept_by(SPREAD)


def test_what_no_request_has_is_within_any_limit() -> None:
    assert PercentileLimit(latency="tpot", percentile=99.0, seconds=1e-3).kept_by(SPREAD)


@pytest.mark.parametrize("changed", [{"latency": "speed"}, {"percentile": 42.0}, {"seconds": 0.0}])
def test_a_limit_of_something_else_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(DescriptionError):
        PercentileLimit(**({"latency": "ttft", "percentile": 99.0, "seconds": 1.0} | changed))  # type: ignore[arg-type]
