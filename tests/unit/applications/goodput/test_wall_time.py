"""Parts of the wall time, as properties."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle.applications.goodput.wall_time import (
    PARTS,
    WORK,
    Circumstances,
    chance_variance,
    ettr_of,
    flatness,
    wall_time,
)
from volvelle.laws.reliability.checkpoint_interval import renewal_time
from volvelle.quantities import DAY

RUN = Circumstances(work=30 * DAY, rate=1e-4, restart=600.0, stall=5.0)
FAILING = st.builds(
    Circumstances,
    work=st.floats(DAY, 300 * DAY),
    rate=st.floats(1e-7, 1e-3),
    restart=st.floats(1.0, 2000.0),
    stall=st.floats(0.01, 300.0),
    detection=st.floats(0.0, 1.0),
    write=st.floats(0.0, 300.0),
    slowdown=st.floats(0.0, 0.2),
    slow=st.floats(1.0, 1.2),
    replicas=st.sampled_from([1.0, 2.0, 16.0]),
    downtime=st.floats(0.0, 3000.0),
    common=st.sampled_from([0.0, 0.05]),
    waiting=st.floats(0.0, 0.3),
    planned=st.floats(0.0, 0.3),
)


def total(run: Circumstances) -> float:
    return float(sum(wall_time(run).values()))


@given(FAILING)
def test_parts_are_none_below_zero_and_the_ratio_is_at_most_one(run: Circumstances) -> None:
    parts = wall_time(run)
    assert tuple(parts) == PARTS
    assert all(float(part) >= 0.0 for part in parts.values())
    assert 0.0 < float(ettr_of(run)) <= 1.0
    assert float(chance_variance(run)) >= 0.0


@given(FAILING, st.sampled_from(["rate", "restart", "stall", "write", "downtime"]), st.floats(1.01, 5.0))
def test_more_failures_and_longer_restarts_stalls_and_writes_never_shorten_a_run(
    run: Circumstances, what: str, factor: float
) -> None:
    worse = replace(run, **{what: getattr(run, what) * factor})
    assert total(worse) >= total(run) * (1 - 1e-9)


def test_parts_sum_to_the_exact_time() -> None:
    run = replace(RUN, interval=750.0)
    exact = renewal_time(750.0, between=1e4, stall=5.0, restart=600.0)
    assert total(run) == pytest.approx(30 * DAY * float(exact), rel=1e-12)


def test_no_failures_give_the_days_without_failures_exactly() -> None:
    parts = wall_time(replace(RUN, rate=0.0, stall=0.0))
    assert float(sum(parts.values())) == 30 * DAY
    assert float(parts[WORK]) == 30 * DAY


def test_an_interval_longer_than_the_run_is_the_run() -> None:
    short = Circumstances(work=100.0, rate=1e-9, restart=600.0, stall=5.0)
    assert float(np.asarray(short.chosen)) == 100.0
    assert float(np.asarray(replace(short, interval=1e6).chosen)) == 100.0


def test_columns_are_as_one_by_one() -> None:
    rates = np.array([1e-6, 1e-5, 1e-4])
    whole = sum(wall_time(replace(RUN, rate=rates)).values())
    assert whole == pytest.approx([total(replace(RUN, rate=float(rate))) for rate in rates])


def test_the_interval_chosen_is_no_worse_than_others() -> None:
    half, best, double = flatness(RUN)
    assert best >= max(half, double)
    assert best - min(half, double) < 0.02


def test_replicas_that_are_seldom_thrown_back_write_seldom() -> None:
    alone = replace(RUN, replicas=16, common=0.04)
    half, best, double = flatness(alone)
    assert best >= max(half, double)
    assert float(np.asarray(alone.chosen)) == pytest.approx(5 * float(np.asarray(RUN.chosen)), rel=0.05)


@pytest.mark.parametrize("free", ["stall", "storage_stall"])
def test_two_tiers_with_a_checkpoint_that_costs_nothing_have_a_time(free: str) -> None:
    run = Circumstances(
        work=30 * DAY, rate=1 / DAY, restart=300.0, stall=2.0, survived=0.9, storage_stall=60.0, storage_restart=900.0
    )
    found = float(np.asarray(ettr_of(replace(run, **{free: 0.0}))))
    assert float(np.asarray(ettr_of(run))) <= found <= 1.0


@pytest.mark.parametrize("way", [{"replicas": 2.0}, {"survived": 0.9, "storage_stall": 60.0, "storage_restart": 900.0}])
def test_waiting_for_capacity_is_in_the_variance_too(way: dict[str, float]) -> None:
    run = Circumstances(work=30 * DAY, rate=1 / DAY, restart=600.0, stall=2.0, **way)
    waits = replace(run, downtime=7200.0)
    assert float(np.asarray(chance_variance(waits))) > 4.0 * float(np.asarray(chance_variance(run)))
