"""Memory of a peer, and storage."""

import numpy as np
import pytest

from volvelle.laws.reliability.checkpoint_interval import best_interval, renewal_time
from volvelle.laws.reliability.two_tier import best_two_tier, two_tier_time

POLICY = {"memory_stall": 1.0, "storage_stall": 20.0, "memory_restart": 120.0, "storage_restart": 600.0}


def test_where_peers_survive_all_it_is_one_tier() -> None:
    wall = two_tier_time(
        300.0,
        1e6,
        between=1e4,
        survived=1.0,
        memory_stall=1.0,
        storage_stall=0.0,
        memory_restart=120.0,
        storage_restart=0.0,
    )
    assert float(wall) == pytest.approx(float(renewal_time(300.0, between=1e4, stall=1.0, restart=120.0)), rel=1e-9)


def test_where_peers_survive_nothing_the_period_is_that_of_storage() -> None:
    wall = two_tier_time(300.0, 4, between=1e4, survived=0.0, **POLICY)
    plain = renewal_time(1200.0, between=1e4, stall=24.0, restart=600.0)
    assert float(wall) == pytest.approx(float(plain), rel=1e-9)


def test_more_survived_never_takes_longer() -> None:
    walls = two_tier_time(300.0, 10, between=1e4, survived=np.linspace(0, 1, 11), **POLICY)
    assert np.all(np.diff(walls) < 0)


@pytest.mark.parametrize("survived", [0.3, 0.9, 0.99])
@pytest.mark.parametrize("between", [5000.0, 40000.0])
def test_intervals_by_tier_are_as_good_as_the_best_of_both(survived: float, between: float) -> None:
    stalls = {"memory_stall": 1.5, "storage_stall": 20.0}
    policy = {"between": between, "survived": survived, "memory_restart": 300.0, "storage_restart": 700.0, **stalls}
    memory, storage = best_two_tier(between, survived=survived, **stalls)
    chosen = float(two_tier_time(memory, np.maximum(np.round(storage / memory), 1.0), **policy))
    work, segments = np.meshgrid(np.geomspace(20.0, 4000.0, 160), np.arange(1.0, 200.0))
    assert chosen <= 1.001 * float(np.min(two_tier_time(work, segments, **policy)))


def test_a_tier_that_no_failure_goes_back_to_is_not_written() -> None:
    memory, storage = best_two_tier(1e4, survived=1.0, memory_stall=1.0, storage_stall=10.0)
    assert np.isinf(storage)
    assert memory == best_interval(1e4, 1.0)


def test_without_failures_only_stalls_are_lost() -> None:
    known = {"memory_stall": 1.0, "storage_stall": 10.0, "memory_restart": 100.0, "storage_restart": 900.0}
    assert two_tier_time(100.0, 5, between=np.inf, survived=0.5, **known) == pytest.approx(1 + 0.01 + 0.02)
