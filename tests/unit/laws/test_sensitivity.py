"""Shares of variance."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle.laws.sensitivity import by_control_variate, chance_of_settling, sobol_index, spread_after


def test_of_two_inputs_that_add_each_brings_its_own_variance_alone_and_in_all() -> None:
    generator = np.random.default_rng(0)
    wide, narrow, other_wide, other_narrow = (scale * generator.normal(size=200_000) for scale in (2.0, 1.0, 2.0, 1.0))
    found = sobol_index(wide + narrow, other_wide + other_narrow, other_wide + narrow)
    assert found == pytest.approx((0.8, 0.8), abs=0.01)
    assert sobol_index(np.ones(8), np.ones(8), np.ones(8)) == (0.0, 0.0)


# -- what a measurement is worth -------------------------------------------------------------------------------

SPREADS = st.floats(0.01, 1.0)


@given(spread=SPREADS, scatter=SPREADS)
def test_what_is_left_is_less_than_either_alone(spread: float, scatter: float) -> None:
    left = float(spread_after(spread, scatter=scatter))
    assert left < min(spread, scatter)
    assert 1.0 / left**2 == pytest.approx(1.0 / spread**2 + 1.0 / scatter**2)


def test_an_exact_measurement_leaves_nothing_and_always_settles() -> None:
    assert float(spread_after(0.2, scatter=0.0)) == 0.0
    assert float(chance_of_settling(0.05, spread=0.2, left=0.0, sure=0.9)) == pytest.approx(1.0)


def test_what_measures_nothing_settles_only_what_is_settled() -> None:
    sure = NormalDist().inv_cdf(0.9) * 0.2
    assert float(chance_of_settling(0.99 * sure, spread=0.2, left=0.2, sure=0.9)) == 0.0
    assert float(chance_of_settling(-1.01 * sure, spread=0.2, left=0.2, sure=0.9)) == 1.0


@given(lead=st.floats(-0.5, 0.5), spread=SPREADS, scatter=SPREADS)
def test_better_measurements_settle_more_and_neither_side_is_favoured(
    lead: float, spread: float, scatter: float
) -> None:
    def chance(lead: float, scatter: float) -> float:
        left = spread_after(spread, scatter=scatter)
        return float(chance_of_settling(lead, spread=spread, left=left, sure=0.9))

    assert chance(lead, scatter) == pytest.approx(chance(-lead, scatter))
    if abs(lead) < NormalDist().inv_cdf(0.9) * spread:  # else it is settled now, and a measurement can only unsettle it
        assert chance(lead, scatter / 2) >= chance(lead, scatter) - 1e-12


def test_the_chance_is_the_share_of_drawn_machines_on_which_it_is_settled() -> None:
    lead, spread, scatter = 0.03, 0.15, 0.05
    rng = np.random.default_rng(1)
    truth = lead + spread * rng.standard_normal(200_000)
    told = truth + scatter * rng.standard_normal(200_000)
    left = float(spread_after(spread, scatter=scatter))
    believed = left**2 * (lead / spread**2 + told / scatter**2)
    settled = np.abs(believed) / left > NormalDist().inv_cdf(0.9)
    promised = float(chance_of_settling(lead, spread=spread, left=left, sure=0.9))
    assert float(settled.mean()) == pytest.approx(promised, abs=0.005)
    assert float(np.mean((believed > 0) == (truth > 0), where=settled)) > 0.9


# -- a cheap answer that carries a dear one on -----------------------------------------------------------------


def test_a_control_variate_keeps_the_mean_and_takes_most_of_its_scatter() -> None:
    generator = np.random.default_rng(4)
    cheap = generator.normal(size=4096)
    dear = 0.3 + 1.1 * cheap + 0.05 * generator.normal(size=4096)
    plain, carried = [], []
    for _ in range(300):
        some = generator.choice(4096, size=32, replace=False)
        found, correlation = by_control_variate(dear[some], cheap[some], cheap)
        assert correlation > 0.98
        plain.append(float(dear[some].mean()))
        carried.append(float(found.mean()))
    assert float(np.mean(carried)) == pytest.approx(float(dear.mean()), abs=0.003)
    assert np.var(carried) < 0.01 * np.var(plain)


def test_a_control_that_does_not_vary_says_nothing_of_the_rest() -> None:
    found, _ = by_control_variate(np.array([1.0, 3.0]), np.ones(2), np.ones(5))
    assert found == pytest.approx(np.full(5, 2.0))
