"""Distributions as plans tell them."""

import numpy as np
import pytest

from volvelle.applications.distribution import share_lines, told


def test_shares_of_all_steps_are_all_samples() -> None:
    draw = np.random.default_rng(1)
    places, lines = share_lines({"one": draw.normal(0.0, 1.0, 500), "two": draw.normal(3.0, 0.1, 100)}, steps=30)
    assert len(places) == 30
    for line in lines.values():
        assert sum(line) == pytest.approx(100.0)


def test_quantiles_stand_around_the_mean_of_what_is_even() -> None:
    found = told(np.arange(1001.0))
    assert found["mean"] == 500.0
    assert found["quantiles"] == {"0.05": 50.0, "0.1": 100.0, "0.5": 500.0, "0.9": 900.0, "0.95": 950.0}
