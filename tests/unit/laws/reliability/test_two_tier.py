"""Memory of a peer, and storage."""

import numpy as np
import pytest

from volvelle.laws.reliability.checkpoint_interval import renewal_time
from volvelle.laws.reliability.two_tier import two_tier_time

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
