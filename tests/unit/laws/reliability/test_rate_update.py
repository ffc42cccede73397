"""Own events."""

import numpy as np
import pytest

from volvelle.laws.reliability.distributions import gamma_quantile
from volvelle.laws.reliability.rate_update import gamma_shape, updated_rate


def test_twelve_events_move_a_rate_and_narrow_it() -> None:
    mean = updated_rate(3.64, 4.58e-3, events=12, exposure=3584)
    assert mean == pytest.approx(3.57e-3, abs=5e-6)
    low, high = gamma_quantile(3.64 + 12, mean, at=np.array([0.1, 0.9]))
    assert (low, high) == (pytest.approx(2.47e-3, abs=1e-5), pytest.approx(4.77e-3, abs=1e-5))


def test_the_gamma_prior_is_as_wide_as_the_log_normal_one() -> None:
    assert float(gamma_shape(1.64)) == pytest.approx(3.64, abs=0.05)


def test_no_events_are_not_a_rate_of_zero() -> None:
    before = 4.58e-3
    after = updated_rate(3.64, before, events=0, exposure=3584)
    assert 0.1 * before < after < before


def test_many_events_outweigh_what_others_saw() -> None:
    assert updated_rate(3.64, 4.58e-3, events=4190, exposure=1e6) == pytest.approx(4.19e-3, rel=1e-3)
