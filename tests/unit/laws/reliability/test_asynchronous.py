"""Background writes."""

import pytest

from volvelle.laws.reliability.asynchronous import asynchronous_time, best_asynchronous_interval
from volvelle.laws.reliability.checkpoint_interval import renewal_time


@pytest.mark.parametrize(
    ("stall", "write", "slowdown", "interval", "ettr"),
    [
        (1, 60, 0, 140.7, 0.9230),
        (1, 60, 0.05, 281.1, 0.9099),
        (0.6, 51, 0.02, 178.1, 0.9202),
        (5, 300, 0.05, 618.7, 0.8573),
    ],
)
def test_worked_numbers(stall: float, write: float, slowdown: float, interval: float, ettr: float) -> None:
    work = best_asynchronous_interval(10000, stall=stall, write=write, slowdown=slowdown)
    assert float(work) == pytest.approx(interval, rel=5e-3)
    wall = asynchronous_time(work, between=10000, stall=stall, write=write, slowdown=slowdown, restart=600)
    assert 1 / float(wall) == pytest.approx(ettr, abs=2e-4)


def test_a_write_of_no_time_is_a_plain_checkpoint() -> None:
    plain = renewal_time(500.0, between=1e4, stall=2.0, restart=600.0)
    assert float(asynchronous_time(500.0, between=1e4, stall=2.0, write=0.0, restart=600.0)) == pytest.approx(
        float(plain)
    )


def test_a_write_longer_than_the_best_interval_sets_it() -> None:
    assert float(best_asynchronous_interval(1e4, stall=0.1, write=900.0)) == 900.0
