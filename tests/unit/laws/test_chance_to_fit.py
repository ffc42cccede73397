"""How likely memory suffices, against sums over many draws and against what must hold of any chance."""

import numpy as np
import pytest

from volvelle.laws.chance_to_fit import chance_to_fit
from volvelle.spread import LogStudent, model_nodes, model_reach, model_share


def _even(count: int) -> np.ndarray:
    return (np.arange(count) + 0.5) / count


@pytest.mark.parametrize(("error", "spike"), [(1.27, 1.54), (1.5, 1.2), (1.3, 1.3), (1.02, 1.6)])
def test_the_chance_is_that_of_every_error_with_every_spike(error: float, spike: float) -> None:
    errors, spikes = (LogStudent(1.0, factor).at(_even(2000)) for factor in (error, spike))
    needed = np.sort(np.outer(60.0 * errors + 2.0, spikes).ravel())
    rooms = np.array([20.0, 40.0, 55.0, 62.0, 70.0, 90.0, 200.0])
    counted = np.searchsorted(needed, rooms) / len(needed)
    assert chance_to_fit(rooms, 60.0, kept=2.0, error=error, spike=spike) == pytest.approx(counted, abs=3e-4)


def test_with_one_factor_alone_the_chance_is_its_own_share() -> None:
    low, high = LogStudent(60.0, 1.4).bounds(0.6)
    for factors in ({"error": 1.4, "spike": 1.0}, {"error": 1.0, "spike": 1.4}):
        found = chance_to_fit(np.array([low, 60.0, high]), 60.0, **factors)
        assert found == pytest.approx([0.2, 0.5, 0.8], abs=1e-9)


def test_what_is_certain_fits_or_does_not() -> None:
    assert list(chance_to_fit(np.array([61.9, 62.0]), 60.0, kept=2.0, error=1.0, spike=1.0)) == [0.0, 1.0]


def test_more_room_never_makes_a_fit_less_likely_and_halves_meet_at_the_middle() -> None:
    rooms = np.geomspace(0.01, 100.0, 400)
    found = chance_to_fit(rooms, 1.0, error=1.27, spike=1.54)
    assert np.all(np.diff(found) > 0.0)
    assert found + found[::-1] == pytest.approx(np.ones(400))


def test_memory_kept_beside_is_off_by_the_spike_alone() -> None:
    assert chance_to_fit(2.4, 0.0, kept=2.0, error=1.1, spike=1.2) == pytest.approx(
        model_share(np.array([1.0]))[0], abs=1e-9
    )


def test_shares_of_a_model_s_error_are_the_inverse_of_its_reach() -> None:
    for level in (0.05, 0.5, 0.8, 0.99):
        assert model_share(np.array([model_reach(level)]))[0] == pytest.approx((1.0 + level) / 2.0)


def test_weights_of_a_model_s_error_make_means_of_it() -> None:
    deviations, weights = model_nodes(24)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights * model_share(deviations)).sum() == pytest.approx(0.5)
