"""Loads of hours and days, minute by minute."""

import numpy as np
import pytest

from volvelle.errors import DescriptionError
from volvelle.workload.serving.lengths import FixedLength, Independent
from volvelle.workload.serving.offered import HOUR, OfferedLoad
from volvelle.workload.serving.requests import Requests

SHAPE = Independent(input=FixedLength(tokens=100), output=FixedLength(tokens=10))


def trace(arrival: list[float]) -> Requests:
    count = len(arrival)
    return Requests(
        arrival=np.array(arrival), input_tokens=np.arange(1, count + 1), output_tokens=np.arange(2, count + 2)
    )


def test_all_tokens_of_a_trace_are_in_its_minutes() -> None:
    recorded = trace([0.0, 10.0, 59.9, 60.0, 7300.0])
    load = OfferedLoad.of_trace(recorded)
    assert load.counts.sum() == 5
    assert load.input_tokens.sum() == recorded.input_tokens.sum()
    assert load.output_tokens.sum() == recorded.output_tokens.sum()
    assert list(load.counts[:2]) == [3, 1]
    assert load.duration == pytest.approx(7300.0 * 5 / 4)
    assert load.hours[-1] == load.duration // HOUR


def test_a_trace_as_it_was_recorded_comes_back() -> None:
    recorded = trace([0.0, 10.0, 59.9, 60.0, 7300.0])
    load = OfferedLoad.of_trace(recorded)
    whole = load.between(0, load.slots)
    assert whole is not None
    assert np.array_equal(whole.arrival, recorded.arrival)
    assert np.array_equal(whole.input_tokens, recorded.input_tokens)
    assert load.between(2, 3) is None


def test_a_trace_three_times_as_busy_lasts_as_long() -> None:
    recorded = trace([float(second) for second in range(600)])
    once, thrice = OfferedLoad.of_trace(recorded), OfferedLoad.of_trace(recorded, 3.0)
    assert thrice.duration == once.duration
    assert np.allclose(thrice.counts, 3 * once.counts)
    drawn = thrice.between(0, thrice.slots)
    assert drawn is not None
    assert len(drawn) == 1800
    assert np.array_equal(np.bincount((drawn.arrival // 60).astype(int)), np.full(10, 180))


def test_rates_hold_for_their_hours() -> None:
    load = OfferedLoad.of_hours(np.array([1.0, 0.0, 4.0]), SHAPE, factor=2.0)
    assert np.allclose(load.rates, np.repeat([2.0, 0.0, 8.0], 60))
    assert load.input_tokens.sum() == pytest.approx(100 * load.counts.sum())
    drawn = load.between(0, load.slots, seed=3)
    assert drawn is not None
    hours = np.bincount((drawn.arrival // HOUR).astype(int), minlength=3)
    assert hours[1] == 0
    assert hours[0] == pytest.approx(7200, rel=0.05)
    assert hours[2] == pytest.approx(28_800, rel=0.03)


def test_a_thinned_load_has_as_much_less_in_every_minute() -> None:
    load = OfferedLoad.of_hours(np.array([10.0]), SHAPE)
    assert np.allclose(load.thinned(5).counts, load.counts / 5)


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ([], "hours"),
        ([0.0, 0.0], "no requests in any hour"),
        ([1.0, -1.0], "the rate of hour 1"),
        ([float("nan")], "the rate of hour 0"),
        ([float("inf")], "the rate of hour 0"),
        ([1.0] * (367 * 24), "hours"),
    ],
)
def test_rates_that_are_none_are_refused_with_their_hour(rates: list[float], told: str) -> None:
    with pytest.raises(DescriptionError, match=told):
        OfferedLoad.of_hours(np.array(rates), SHAPE)


@pytest.mark.parametrize(("arrival", "told"), [([0.0], "no rate"), ([0.0, 0.0], "no rate"), ([0.0, 3e9], "days long")])
def test_a_trace_without_a_rate_or_of_years_is_refused(arrival: list[float], told: str) -> None:
    with pytest.raises(DescriptionError, match=told):
        OfferedLoad.of_trace(trace(arrival))
