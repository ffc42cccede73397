"""Hours followed request by request."""

import numpy as np
import pytest

from tests.unit.applications.serving.fleet.test_capacity import SHAPE, replica
from volvelle.applications.serving.fleet import replay
from volvelle.applications.serving.fleet.replay import replayed_hour
from volvelle.applications.serving.fleet.scaling import Schedule
from volvelle.interchange.limit_words import read_limits
from volvelle.workload.serving.offered import OfferedLoad

LIMITS = read_limits("p99 ttft 1 s")


def load(rate: float, hours: int = 1) -> OfferedLoad:
    return OfferedLoad.of_hours(np.full(hours, rate), SHAPE)


def replicas(counts: list[int], each: int = 60) -> Schedule:
    column = np.repeat(counts, each)
    return Schedule(ordered=column, ready=column)


def test_every_token_that_goes_in_comes_out() -> None:
    offered = load(4.0)
    check = replayed_hour(replica(), offered, replicas([3]), 0, LIMITS)
    drawn = offered.between(0, 60)
    assert check is not None
    assert drawn is not None
    assert check.requests == len(drawn)
    assert check.served_tokens == int(drawn.output_tokens.sum())
    assert (check.ranks, check.minutes, check.held) == (3, 60, True)


def test_more_replicas_never_make_it_slower() -> None:
    checks = [replayed_hour(replica(), load(30.0), replicas([count]), 0, LIMITS) for count in (2, 3, 6)]
    p99 = [check.latencies["ttft"].percentiles[99.0] for check in checks if check is not None]
    assert p99 == sorted(p99, reverse=True)


def test_requests_wait_for_the_first_replica_that_is_ready() -> None:
    plan = Schedule(ordered=np.full(60, 1), ready=np.concatenate((np.zeros(5, int), np.ones(55, int))))
    check = replayed_hour(replica(), load(0.5), plan, 0, LIMITS)
    assert check is not None
    assert check.missed == ("p99 ttft",)
    # Those of the first five of sixty minutes wait up to 300 s: 88 % of that is the 99th percentile of all.
    assert check.latencies["ttft"].percentiles[99.0] == pytest.approx(0.88 * 300.0, rel=0.05)
    assert check.latencies["ttft"].percentiles[50.0] < 1.0


def test_an_hour_without_requests_has_nothing_to_follow() -> None:
    quiet = OfferedLoad.of_hours(np.array([5.0, 0.0]), SHAPE)
    check = replayed_hour(replica(), quiet, replicas([1, 1]), 1, LIMITS)
    assert check is None


def test_of_a_large_fleet_whole_ranks_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    everyone = replayed_hour(replica(), load(10.0), replicas([8]), 0, LIMITS)
    monkeypatch.setattr(replay, "MOST_FOLLOWED", 20_000)
    some = replayed_hour(replica(), load(10.0), replicas([8]), 0, LIMITS)
    monkeypatch.setattr(replay, "_MOST_DRAWN", 20_000)
    part = replayed_hour(replica(), load(10.0), replicas([8]), 0, LIMITS)
    assert everyone is not None
    assert some is not None
    assert part is not None
    assert (everyone.ranks, some.ranks) == (8, 4)
    p99 = everyone.latencies["ttft"].percentiles[99.0]
    assert some.latencies["ttft"].percentiles[99.0] == pytest.approx(p99, rel=0.1)
    assert part.latencies["ttft"].percentiles[99.0] == pytest.approx(p99, rel=0.25)


def test_of_a_minute_with_too_many_requests_for_a_rank_the_first_are_followed() -> None:
    flood = OfferedLoad.of_hours(np.array([1.0, 2000.0, 1.0]), SHAPE)
    check = replayed_hour(replica(), flood, replicas([1, 1, 1]), 1, LIMITS)
    assert check is not None
    assert check.requests == replay.MOST_FOLLOWED
    assert (check.ranks, check.minutes, check.held) == (1, 1, False)
