"""Slow nodes."""

import numpy as np
import pytest

from volvelle.laws.reliability.stragglers import straggler_slowdown


def test_a_few_slow_nodes_slow_everybody() -> None:
    slowed = straggler_slowdown(np.array([16, 128, 1536]), share=0.005, slower=0.1)
    assert slowed == pytest.approx([1.0077, 1.047, 1.100], abs=6e-4)
