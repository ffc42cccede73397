"""Quantiles."""

from statistics import NormalDist

import numpy as np
import pytest

from volvelle.laws.reliability.distributions import gamma_quantile
from volvelle.spread import standard_normal


@pytest.mark.parametrize("at", [1e-9, 0.01, 0.1, 0.5, 0.7, 0.9, 0.999, 1 - 1e-9])
def test_normal_quantiles_are_those_of_the_standard_library(at: float) -> None:
    assert float(standard_normal(at)) == pytest.approx(NormalDist().inv_cdf(at), abs=1e-7)


@pytest.mark.parametrize("shape", [1.0, 3.6, 20.0])
def test_gamma_quantiles_are_those_of_many_draws(shape: float) -> None:
    drawn = np.random.default_rng(0).gamma(shape, 1 / shape, 400_000)
    low, high = np.quantile(drawn, [0.1, 0.9])
    near = gamma_quantile(shape, 1.0, at=np.array([0.1, 0.9]))
    assert near == pytest.approx([low, high], abs=0.015 * (high - low))
