"""Wrong results."""

import pytest

from volvelle.laws.reliability.silent_corruption import corruption_loss, replay_latency
from volvelle.quantities import DAY


def test_replaying_a_quarter_of_a_per_cent_finds_it_in_four_hundred_steps() -> None:
    found = replay_latency(6.0, replayed=0.0025)
    assert found == pytest.approx(2400.0)
    loss = corruption_loss(rate=1 / (10.5 * DAY), found_after=found, searched=0.0, restart=600.0, replayed=0.0025)
    assert loss == pytest.approx(3000 / (10.5 * DAY) + 0.0025)


def test_a_stress_test_of_eight_hours_costs_more_than_replay() -> None:
    slow = corruption_loss(rate=1 / (10.5 * DAY), found_after=DAY, searched=28800.0, restart=600.0)
    assert slow > corruption_loss(
        rate=1 / (10.5 * DAY), found_after=2400.0, searched=0.0, restart=600.0, replayed=0.0025
    )
