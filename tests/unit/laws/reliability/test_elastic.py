"""Replicas that restart alone."""

import numpy as np
import pytest

from volvelle.laws.reliability.elastic import elastic_ettr
from volvelle.simulation.failures.gaps import ExponentialGaps
from volvelle.simulation.failures.runs import Recovery, simulate_runs


def test_a_replica_alone_costs_less_than_all() -> None:
    ettr = elastic_ettr(60.0, between=1080.0, checkpoint=1.0, stall=180.0, catch_up=0.0, replicas=100)
    assert ettr == pytest.approx(60 / 61 * np.exp(-180 / 1080))
    assert ettr == pytest.approx(60 / 61 * (1 - 180 / 1080), abs=0.015)


def test_standing_still_is_that_of_simulated_runs() -> None:
    # Nothing is lost but the time that all stand still: a checkpoint after every step, none of which takes anything.
    found = simulate_runs(
        1e6, Recovery(work=1.0, stall=0.0, restart=180.0), ExponentialGaps(mean=1080.0), runs=200, seed=0
    )
    ettr = elastic_ettr(1e6, between=1080.0, checkpoint=0.0, stall=180.0, catch_up=0.0, replicas=100)
    assert 1e6 / found.mean == pytest.approx(float(ettr), rel=0.005)


def test_more_common_failures_and_longer_stalls_never_help() -> None:
    known = {"between": 1080.0, "checkpoint": 1.0, "catch_up": 60.0, "replicas": 24.0, "restart": 600.0}
    assert np.all(np.diff(elastic_ettr(60.0, stall=180.0, common=np.linspace(0, 1, 5), **known)) <= 0)
    assert np.all(np.diff(elastic_ettr(60.0, stall=np.linspace(0, 5000, 9), **known)) <= 0)
