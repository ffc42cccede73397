"""The exact time, its optimum, and those who came before."""

import csv

import numpy as np
import pytest

from tests.conftest import ROOT
from volvelle.laws.reliability.checkpoint_interval import (
    best_interval,
    checkpoint_bytes,
    copy_stall,
    daly_interval,
    expected_ettr,
    renewal_time,
    rework_time,
    storage_time,
    young_interval,
)

WORKED = [
    (10000.0, 30.0, 600.0, 0.0, 754.73, 774.60, 754.73, 0.870687, 0.870665),
    (11135.4, 60.0, 600.0, 300.0, 1116.3, 1156.0, 1116.3, 0.83019, 0.83014),
    (11135.4, 5.0, 600.0, 0.0, 330.4, 333.7, 330.4, 0.91943, 0.91943),
    (28440.0, 300.0, 600.0, 0.0, 3933.3, 4130.9, 3933.3, 0.84371, 0.84357),
    (1080.0, 30.0, 600.0, 0.0, 235.0, 254.6, 235.0, 0.44893, 0.44861),
]


def published() -> list[dict[str, float]]:
    file = ROOT / "src/volvelle/catalogue/data/measurements/checkpoint_periods.csv"
    rows = csv.DictReader(file.read_text("utf-8").splitlines())
    return [{name: float(cell) for name, cell in row.items() if name != "source"} for row in rows]


@pytest.mark.parametrize("row", WORKED)
def test_worked_numbers(row: tuple[float, ...]) -> None:
    between, stall, restart, down, best, young, daly, at_best, at_young = row
    interval = best_interval(between, stall)
    assert float(interval) == pytest.approx(best, rel=2e-4)
    assert float(young_interval(between, stall)) == pytest.approx(young, rel=2e-4)
    assert float(daly_interval(between, stall)) == pytest.approx(daly, rel=4e-4)
    for work, ettr in ((interval, at_best), (young_interval(between, stall), at_young)):
        wall = renewal_time(work, between=between, stall=stall, restart=restart, downtime=down)
        assert 1 / float(wall) == pytest.approx(ettr, abs=1e-5)


@pytest.mark.parametrize("row", published(), ids=lambda row: f"{row['processors']:.0f}")
def test_the_optimum_is_that_of_published_periods(row: dict[str, float]) -> None:
    period = best_interval(row["mtbf_s"], row["checkpoint_s"]) + row["checkpoint_s"]
    assert float(period) == pytest.approx(row["period_optimal_s"], rel=2e-3)


@pytest.mark.parametrize("ratio", [1e-9, 1e-4, 0.01, 1.0, 10.0])
def test_the_optimum_solves_its_equation_and_nothing_near_is_better(ratio: float) -> None:
    x = float(best_interval(1.0, ratio))
    if x < 1 - 1e-12:
        assert -np.log1p(-x) - x == pytest.approx(ratio, rel=1e-6)
    best = float(renewal_time(x, between=1.0, stall=ratio))
    assert best <= min(float(renewal_time(x * factor, between=1.0, stall=ratio)) for factor in (0.9, 1.1)) * (1 + 1e-12)


def test_the_curve_is_flat() -> None:
    best = best_interval(10000, 30)
    walls = renewal_time(best * np.array([0.5, 1.0, 2.0]), between=10000, stall=30, restart=600)
    assert 1 / walls[1] - 1 / walls[[0, 2]] == pytest.approx([0.016, 0.016], abs=0.002)


def test_without_failures_only_stalls_are_left() -> None:
    assert float(renewal_time(100.0, between=np.inf, stall=1.0, restart=600)) == pytest.approx(1.01)
    assert float(rework_time(100.0, between=np.inf, stall=1.0)) == 0.0


def test_parts_sum_to_the_whole() -> None:
    work, between, stall, restart = 750.0, 10000.0, 30.0, 600.0
    failures = np.expm1((work + stall) / between)
    restarts = failures * between * np.expm1(restart / between)
    parts = 1 + stall / work + rework_time(work, between=between, stall=stall) + restarts / work
    assert float(parts) == pytest.approx(float(renewal_time(work, between=between, stall=stall, restart=restart)))


def test_the_first_order_expression_of_rsc_is_low() -> None:
    between = 24 * 3600 / (2048 * 6.5e-3)
    near = expected_ettr(1800.0, between=between, stall=60.0, restart=300.0)
    exact = 1 / renewal_time(1800.0, between=between, stall=60.0, restart=300.0)
    assert (float(near), float(exact)) == (pytest.approx(0.789, abs=1e-3), pytest.approx(0.798, abs=1e-3))
    far = expected_ettr(3600.0, between=between, stall=300.0, restart=1200.0)
    exact = 1 / renewal_time(3600.0, between=between, stall=300.0, restart=1200.0)
    assert (float(far), float(exact)) == (pytest.approx(0.496, abs=1e-3), pytest.approx(0.560, abs=1e-3))


def test_a_checkpoint_of_405_billion_parameters_takes_seconds_to_copy_and_a_minute_to_write() -> None:
    size = checkpoint_bytes(405e9)
    assert float(size) == pytest.approx(5.67e12)
    assert float(copy_stall(size, 16384, rate=25e9, barrier=0.5)) == pytest.approx(0.514, abs=1e-3)
    assert float(storage_time(size, rate=100e9)) == pytest.approx(56.7)
