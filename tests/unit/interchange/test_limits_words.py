"""Limits in words."""

import pytest

from volvelle.errors import DescriptionError
from volvelle.interchange.limits_words import read_limits
from volvelle.workload.serving.limits import LATENCIES, STATISTICS, PercentileLimit


def test_several_limits_are_read_with_their_units() -> None:
    assert read_limits("p99 ttft 2 s, p95 tpot 50 ms") == (
        PercentileLimit(latency="ttft", percentile=99.0, seconds=2.0),
        PercentileLimit(latency="tpot", percentile=95.0, seconds=0.05),
    )


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("latency", LATENCIES)
def test_every_statistic_of_every_latency_may_be_limited(statistic: str, latency: str) -> None:
    (limit,) = read_limits(f"{statistic.upper()} {latency} <= 300ms")
    assert limit.name == f"{statistic} {latency}"
    assert limit.seconds == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "say nothing"),
        ("p99 ttft", "cannot be read"),
        ("p42 ttft 2 s", "cannot be read"),
        ("p99 latency 2 s", "cannot be read"),
        ("p99 ttft 2", "p99 ttft 2"),
        ("p99 ttft -2 s", "must be"),
        ("p99 ttft nan s", "p99 ttft nan s"),
        ("p99 ttft 2 s, p99 ttft 3 s", "twice"),
    ],
)
def test_what_is_no_limit_is_refused_with_what_to_write(text: str, told: str) -> None:
    with pytest.raises(DescriptionError, match=told):
        read_limits(text)
