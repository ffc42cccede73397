"""Energy of a run."""

import pytest

from volvelle.laws.energy import node_power, run_energy


def test_energy_of_a_day_of_a_thousand_chips() -> None:
    day = 86400.0
    assert run_energy(day, 1000, chip_power=400.0, host_power=100.0, pue=1.2) == pytest.approx(day * 1000 * 500 * 1.2)


def test_a_node_of_eight_h100_takes_what_was_measured_and_not_its_rating() -> None:
    rated = {"chip_power": 700.0, "host_power": 575.0}
    assert 8 * node_power(**rated) == 10_200.0
    assert 8 * node_power(**rated, load=0.85, host_load=0.65) == pytest.approx(7752, rel=1e-3)
