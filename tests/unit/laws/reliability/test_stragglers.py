"""Slow nodes."""

import numpy as np
import pytest

from volvelle.laws.reliability.stragglers import jitter_slowdown, straggler_slowdown


def test_a_few_slow_nodes_slow_everybody() -> None:
    slowed = straggler_slowdown(np.array([16, 128, 1536]), share=0.005, slower=0.1)
    assert slowed == pytest.approx([1.0077, 1.047, 1.100], abs=6e-4)


def test_the_slowest_of_many_is_some_deviations_slower() -> None:
    near = float(jitter_slowdown(2048, deviation=0.01))
    assert near == pytest.approx(1.0335, abs=2e-4)
    drawn = np.exp(0.01 * np.random.default_rng(0).standard_normal((2000, 2048)).max(axis=1)).mean()
    assert near == pytest.approx(drawn, abs=2.5e-3)
