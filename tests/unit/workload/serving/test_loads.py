"""When requests come."""

import numpy as np
import pytest

from volvelle.errors import DescriptionError
from volvelle.workload.serving.lengths import FixedLength, Independent, UniformBelow
from volvelle.workload.serving.loads import AbstractLoad, AtOnce, Closed, Gamma, Poisson, Ramp, Recorded
from volvelle.workload.serving.requests import Requests

SHAPE = Independent(input=UniformBelow(tokens=100, range_ratio=0.5), output=FixedLength(tokens=10))


def test_a_closed_loop_has_all_requests_from_the_beginning_and_so_many_clients() -> None:
    found = Closed(clients=4).requests(SHAPE, count=40)
    assert found.clients == 4
    assert not found.arrival.any()
    assert found.offered_rate == np.inf


def test_random_requests_come_at_the_rate_and_as_bursty_as_asked() -> None:
    even, poisson, bursty = (
        Gamma(rate=5.0, burstiness=shape).requests(SHAPE, count=20_000) for shape in (100.0, 1.0, 0.25)
    )
    for found, spread in ((even, 0.1), (poisson, 1.0), (bursty, 2.0)):
        gaps = np.diff(found.arrival, prepend=0.0)
        assert found.offered_rate == pytest.approx(5.0)
        assert gaps.std() / gaps.mean() == pytest.approx(spread, rel=0.05)
        assert found.stationary


def test_a_ramp_rises_from_one_rate_to_the_other() -> None:
    gaps = np.diff(Ramp(start_rate=1.0, end_rate=9.0).requests(SHAPE, count=20_000).arrival)
    assert 1 / gaps[:1000].mean() == pytest.approx(1.2, rel=0.1)
    assert 1 / gaps[-1000:].mean() == pytest.approx(8.8, rel=0.1)


def test_a_trace_keeps_its_lengths_and_can_be_sent_faster() -> None:
    recorded = Requests(
        arrival=np.array([0.0, 3.0, 6.0]), input_tokens=np.array([5, 6, 7]), output_tokens=np.array([1, 2, 3])
    )
    found = Recorded(recorded=recorded, rate_factor=1.5).requests(count=2)
    assert found.arrival.tolist() == [0.0, 2.0]
    assert found.input_tokens.tolist() == [5, 6]
    assert Recorded(recorded=recorded).requests(SHAPE).output_tokens.tolist() == [10, 10, 10]
    with pytest.raises(DescriptionError, match="has 3 requests, not 4"):
        Recorded(recorded=recorded).requests(count=4)


@pytest.mark.parametrize("load", [Closed(clients=2), AtOnce(), Poisson(rate=2.0), Ramp(start_rate=1, end_rate=2)])
def test_the_same_seed_gives_the_same_requests(load: AbstractLoad) -> None:
    one, same, other = (load.requests(SHAPE, count=50, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.arrival, same.arrival)
    np.testing.assert_array_equal(one.input_tokens, same.input_tokens)
    assert np.any(one.input_tokens != other.input_tokens)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("inf"), float("nan")])
def test_a_rate_that_is_none_is_refused(rate: float) -> None:
    with pytest.raises(DescriptionError, match="rate is"):
        Poisson(rate=rate)


def test_a_load_that_is_no_trace_needs_lengths_and_a_count() -> None:
    with pytest.raises(DescriptionError, match="needs lengths"):
        AtOnce().requests(None, count=3)
    with pytest.raises(DescriptionError, match="requests is 0"):
        AtOnce().requests(SHAPE, count=0)
