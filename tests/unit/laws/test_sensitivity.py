"""Shares of variance."""

import numpy as np
import pytest

from volvelle.laws.sensitivity import sobol_index


def test_of_two_inputs_that_add_each_brings_its_own_variance_alone_and_in_all() -> None:
    generator = np.random.default_rng(0)
    wide, narrow, other_wide, other_narrow = (scale * generator.normal(size=200_000) for scale in (2.0, 1.0, 2.0, 1.0))
    found = sobol_index(wide + narrow, other_wide + other_narrow, other_wide + narrow)
    assert found == pytest.approx((0.8, 0.8), abs=0.01)
    assert sobol_index(np.ones(8), np.ones(8), np.ones(8)) == (0.0, 0.0)
