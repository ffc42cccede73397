"""The exact time of a run that fails at random, and the interval that makes it least."""

import csv

import numpy as np
import pytest

from tests.conftest import ROOT
from volvelle.laws.reliability.checkpoint_interval import best_interval, renewal_time

WORKED = [
    (10000.0, 30.0, 600.0, 0.0, 754.73, 0.870687),
    (11135.4, 60.0, 600.0, 300.0, 1116.3, 0.83019),
    (11135.4, 5.0, 600.0, 0.0, 330.4, 0.91943),
    (28440.0, 300.0, 600.0, 0.0, 3933.3, 0.84371),
    (1080.0, 30.0, 600.0, 0.0, 235.0, 0.44893),
]


def published() -> list[dict[str, float]]:
    file = ROOT / "src/volvelle/catalogue/data/measurements/checkpoint_periods.csv"
    rows = csv.DictReader(file.read_text("utf-8").splitlines())
    return [{name: float(cell) for name, cell in row.items() if name != "source"} for row in rows]


@pytest.mark.parametrize("row", WORKED)
def test_worked_numbers(row: tuple[float, ...]) -> None:
    between, stall, restart, down, best, ettr = row
    interval = best_interval(between, stall)
    assert float(interval) == pytest.approx(best, rel=2e-4)
    wall = renewal_time(interval, between=between, stall=stall, restart=restart, downtime=down)
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
