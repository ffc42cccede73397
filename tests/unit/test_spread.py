import numpy as np
import pytest

from volvelle import DescriptionError, Evidence, Exact, Figure, Interval, LogNormal, Normal


def test_a_figure_without_spread_is_only_its_value() -> None:
    figure = Figure(value=3.0, evidence=Evidence.VENDOR, source="sheet")
    assert figure.bounds(0.9) == (3.0, 3.0)
    assert set(figure.sample(np.random.default_rng(0), 5)) == {3.0}


def test_a_value_outside_its_own_spread_is_refused() -> None:
    with pytest.raises(DescriptionError, match="outside its own spread"):
        Figure(value=5.0, evidence=Evidence.MEASURED, source="x", spread=Interval(1.0, 2.0))


def test_an_interval_that_runs_backwards_is_refused() -> None:
    with pytest.raises(DescriptionError, match="backwards"):
        Interval(2.0, 1.0)


@pytest.mark.parametrize("spread", [Exact(2.0), Interval(1.0, 3.0), Normal(2.0, 0.5), LogNormal(2.0, 1.3)])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_bounds_hold_their_share_of_samples(spread: Interval, level: float) -> None:
    low, high = spread.bounds(level)
    drawn = spread.sample(np.random.default_rng(1), 20_000)
    inside = np.mean((drawn >= low - 1e-12) & (drawn <= high + 1e-12))
    assert inside == pytest.approx(1.0 if isinstance(spread, Exact) else level, abs=0.02)


def test_a_result_is_as_weak_as_its_weakest_figure() -> None:
    figures = [Figure(value=1.0, evidence=grade, source="x") for grade in (Evidence.MEASURED, Evidence.ASSUMED)]
    assert Figure.weakest(*figures) is Evidence.ASSUMED
