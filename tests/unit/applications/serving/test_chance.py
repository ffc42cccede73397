"""How likely limits are kept."""

from math import log
from statistics import NormalDist

import pytest

from volvelle.applications.serving.chance import chance
from volvelle.applications.serving.goodput import Trial
from volvelle.workload.serving.limits import LatencyLimit

TPOT = LatencyLimit(latency="tpot", percentile=99.0, seconds=0.05)
TTFT = LatencyLimit(latency="ttft", percentile=99.0, seconds=2.0)
ERRORS = {"ttft": 1.6, "tpot": 1.2, "latency": 1.2, "throughput": 1.2}


def alone(slower: float) -> Trial:
    """A service that no queue makes slower: its figures go with its steps."""
    return Trial(share=1.0, figures=(0.04 * slower,), excess=0.8 * slower, throughput=1.0, tpot=0.04 * slower)


def test_without_a_queue_the_chance_is_that_of_the_error_of_tpot() -> None:
    found = chance(alone, (TPOT,), (0.04,), ERRORS)
    expected = NormalDist().cdf(log(0.05 / 0.04) / log(1.2))
    assert found.kept == pytest.approx(expected, abs=0.06)
    (figure,) = found.figures
    assert figure.low == pytest.approx(0.04 / 1.2**1.2816, rel=0.06)
    assert figure.high == pytest.approx(0.04 * 1.2**1.2816, rel=0.06)
    assert found.stable == 1.0


def test_the_error_of_ttft_comes_on_top_of_that_of_steps() -> None:
    def tried(slower: float) -> Trial:
        return Trial(share=1.0, figures=(slower,), excess=slower / 2.0, throughput=1.0, tpot=0.04)

    (figure,) = chance(tried, (TTFT,), (1.0,), ERRORS).figures
    assert figure.high == pytest.approx(1.6**1.2816, rel=0.03)


def test_a_service_that_overflows_when_steps_are_slow_has_no_upper_end() -> None:
    def tried(slower: float) -> Trial:
        if slower > 1.1:
            return Trial(share=1.0, figures=(), excess=1.2, throughput=1.0, tpot=0.04)
        return alone(slower)

    found = chance(tried, (TPOT,), (0.04,), ERRORS)
    assert found.figures[0].high is None
    assert found.stable == pytest.approx(6 / 9)
    assert found.kept <= found.stable
