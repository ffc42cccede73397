"""How likely memory suffices, against sums over many draws and against what must hold of any chance."""

import numpy as np
import pytest

from volvelle.laws.model_error import chance_to_fit, chance_to_fit_too, fastest_of_several, likelihood_of_alike
from volvelle.spread import LogStudent, model_nodes, model_reach, model_share


def _even(count: int) -> np.ndarray:
    return (np.arange(count) + 0.5) / count


@pytest.mark.parametrize(
    ("error", "spike"), [(1.17, 1.15), (1.5, 1.1), (1.3, 1.3), (1.02, 1.6), (1.12, 1.5), (1.3, 1.6)]
)
def test_the_chance_is_that_of_every_error_with_every_spike(error: float, spike: float) -> None:
    errors = LogStudent(1.0, error).at(_even(2000))
    spikes = LogStudent(1.0, spike).at((1.0 + _even(2000)) / 2.0)
    needed = np.sort(np.outer(60.0 * errors + 2.0, spikes).ravel())
    rooms = np.array([20.0, 40.0, 55.0, 62.0, 70.0, 90.0, 200.0])
    counted = np.searchsorted(needed, rooms) / len(needed)
    assert chance_to_fit(rooms, 60.0, kept=2.0, error=error, spike=spike) == pytest.approx(counted, abs=6e-4)


def test_with_an_error_alone_the_chance_is_its_own_share() -> None:
    low, high = LogStudent(60.0, 1.4).bounds(0.6)
    found = chance_to_fit(np.array([low, 60.0, high]), 60.0, error=1.4, spike=1.0)
    assert found == pytest.approx([0.2, 0.5, 0.8], abs=1e-9)


def test_a_spike_takes_more_and_never_less() -> None:
    _, high = LogStudent(60.0, 1.4).bounds(0.6)
    found = chance_to_fit(np.array([59.9, 60.0, high]), 60.0, error=1.0, spike=1.4)
    assert found == pytest.approx([0.0, 0.0, 0.6], abs=1e-9)
    with_both, with_error = (chance_to_fit(60.0, 60.0, error=1.2, spike=spike) for spike in (1.2, 1.0))
    assert with_both < with_error == pytest.approx(0.5)


def test_what_is_certain_fits_or_does_not() -> None:
    assert list(chance_to_fit(np.array([61.9, 62.0]), 60.0, kept=2.0, error=1.0, spike=1.0)) == [0.0, 1.0]


@pytest.mark.parametrize(("error", "spike"), [(1.17, 1.15), (1.05, 1.5)])
def test_more_room_never_makes_a_fit_less_likely(error: float, spike: float) -> None:
    found = chance_to_fit(np.geomspace(0.5, 100.0, 400), 1.0, error=error, spike=spike)
    assert np.all(np.diff(found) >= 0.0)
    assert found[0] < 0.01
    assert found[-1] > 0.999


def test_memory_kept_beside_is_not_off_by_the_error() -> None:
    some = {"error": 1.3, "spike": 1.2}
    assert chance_to_fit(10.0, 4.0, kept=4.0, **some) > chance_to_fit(10.0, 8.0, **some)


def test_a_run_that_fitted_says_what_draws_of_both_say() -> None:
    generator = np.random.default_rng(3)
    errors = LogStudent(1.0, 1.2).at(generator.random(400_000))
    spikes, others = (LogStudent(1.0, 1.15).at((1.0 + generator.random(400_000)) / 2.0) for _ in range(2))
    fits = (60.0 * errors + 2.0) * spikes <= 70.0
    ran = (64.0 * errors + 2.0) * others <= 70.0
    given = np.mean(fits & ran) / np.mean(ran)
    found = chance_to_fit_too(70.0, 60.0, ran=64.0, kept=2.0, error=1.2, spike=1.15, alike=0.4)
    assert found == pytest.approx(0.6 * np.mean(fits) + 0.4 * given, abs=3e-3)


@pytest.mark.parametrize(("error", "spike"), [(1.17, 1.15), (1.05, 1.5), (1.2, 1.0), (1.0, 1.2)])
def test_the_more_a_run_needed_that_fitted_the_likelier_is_a_fit(error: float, spike: float) -> None:
    factors = {"error": error, "spike": spike}
    found = chance_to_fit_too(70.0, 68.0, ran=np.linspace(1.0, 90.0, 200), alike=0.5, **factors)
    assert np.all(np.diff(found) >= -2e-3)
    assert found[0] == pytest.approx(float(chance_to_fit(70.0, 68.0, **factors)), abs=5e-3)


def test_a_run_whose_errors_are_of_another_kind_says_nothing() -> None:
    factors = {"error": 1.2, "spike": 1.2}
    assert chance_to_fit_too(70.0, 68.0, ran=75.0, alike=0.0, **factors) == chance_to_fit(70.0, 68.0, **factors)


def test_shares_of_a_model_s_error_are_the_inverse_of_its_reach() -> None:
    for level in (0.05, 0.5, 0.8, 0.99):
        assert model_share(np.array([model_reach(level)]))[0] == pytest.approx((1.0 + level) / 2.0)


def test_weights_of_a_model_s_error_make_means_of_it() -> None:
    deviations, weights = model_nodes(24)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights * model_share(deviations)).sum() == pytest.approx(0.5)
    sizes, weights = model_nodes(24, upper=True)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights * model_share(sizes)).sum() == pytest.approx(0.75)


def test_errors_of_one_source_are_likeliest_by_the_share_that_they_have_alike() -> None:
    """The density of normal errors with that correlation, but for what does not depend on it."""
    errors, error = np.array([0.1, 0.25, 0.18, -0.05]), 1.2

    def dense(alike: float) -> float:
        table = np.log(error) ** 2 * ((1.0 - alike) * np.eye(4) + alike)
        return float(-0.5 * (np.linalg.slogdet(table)[1] + errors @ np.linalg.solve(table, errors)))

    for alike in (0.2, 0.5, 0.9):
        apart = likelihood_of_alike(errors, error=error, alike=alike) - likelihood_of_alike(
            errors, error=error, alike=0.0
        )
        assert apart == pytest.approx(dense(alike) - dense(0.0))


def test_chances_of_being_the_fastest_are_those_of_drawn_races() -> None:
    random = np.random.default_rng(1)
    spread, drawn = 0.12, 200_000
    logarithms, runs = random.normal(0.0, 0.1, (6, 2)), random.uniform(0.2, 1.0, (6, 2))
    runs[0], runs[1] = 1.0, 0.0
    wins, lags = np.zeros(6), np.zeros(6)
    for sample in range(2):
        logs = logarithms[:, sample, None] + spread * random.standard_normal((6, drawn))
        logs = np.where(random.random(logs.shape) < runs[:, sample, None], logs, np.inf)
        wins += np.bincount(logs.argmin(axis=0), minlength=6) / drawn / 2
        lags += np.nansum(np.where(np.isfinite(logs), np.exp(logs - logs.min(axis=0)), 0.0), axis=1) / drawn
    chances, regrets = fastest_of_several(logarithms, runs, spread=spread)
    assert chances == pytest.approx(wins, abs=5e-3)
    able = [0, 2, 3, 4, 5]
    assert regrets[able] == pytest.approx(lags[able] / runs[able].sum(axis=1) - 1.0, abs=5e-3)
    assert np.isnan(regrets[1])
