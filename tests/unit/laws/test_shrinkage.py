"""What a few own runs change: no runs change nothing, many win, and one that is far off counts little."""

import numpy as np
import pytest
from scipy import stats

from volvelle.laws.shrinkage import linear_posterior, shrunk_shift, student_reach

PRIOR = {"centre": 0.02, "between": 0.15, "within": 0.1, "freedom": 4.0}


def test_no_rows_leave_what_was_known() -> None:
    found = shrunk_shift(np.array([]), **PRIOR)
    assert (found.weight, found.shift, found.freedom) == (0.0, 0.02, 4.0)
    assert found.scale == pytest.approx(np.hypot(0.15, 0.1))


def test_perfect_own_rows_converge_to_their_mean() -> None:
    far = [abs(shrunk_shift(np.full(count, 0.3), **PRIOR).shift - 0.3) for count in (1, 3, 10, 1000)]
    assert far == sorted(far, reverse=True)
    assert far[-1] < 1e-3


def test_more_rows_never_widen_beyond_the_prior_by_more_than_their_own_scatter() -> None:
    before = shrunk_shift(np.array([]), **PRIOR).scale
    for count in (1, 2, 5, 20):
        assert shrunk_shift(np.full(count, 0.3), **PRIOR).scale <= before
    scattered = shrunk_shift(np.array([-1.0, 1.0, -1.0, 1.0]), **PRIOR)
    assert before < scattered.scale < 1.2


@pytest.mark.parametrize("freedom", [1.0, 3.0, 4.0, 7.5, 11.0, 200.0])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_reach_is_that_of_students_distribution(freedom: float, level: float) -> None:
    assert student_reach(freedom, level=level) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), rel=1e-6)


def test_one_slope_of_one_is_a_shift() -> None:
    errors = np.array([0.1, 0.12, 0.08])
    found = linear_posterior(np.ones((3, 1)), errors, covariance=np.array([[0.15**2]]), scale=0.1, freedom=1e9)
    # Without tails it is the mean, drawn to zero by the variances.
    assert found.change[0] == pytest.approx(0.1 * 3 * 0.15**2 / (3 * 0.15**2 + 0.1**2))


def test_a_row_that_is_far_off_the_others_counts_little() -> None:
    errors = np.array([0.1, 0.1, 0.1, 1.5])
    found = linear_posterior(np.ones((4, 1)), errors, covariance=np.array([[0.04]]), scale=0.05, freedom=4.0)
    assert found.weights[3] < 0.05
    assert found.weights[0] > 0.5
    assert found.change[0] < 0.15


def test_a_constant_that_rows_do_not_feel_stays() -> None:
    slopes = np.array([[1.0, 0.0], [0.9, 0.0]])
    found = linear_posterior(slopes, np.array([0.2, 0.2]), covariance=np.diag([0.04, 0.09]), scale=0.05, freedom=4.0)
    assert found.change[1] == 0.0
    assert found.covariance[1, 1] == pytest.approx(0.09)
    assert found.covariance[0, 0] < 0.04


def test_left_out_errors_are_those_of_fits_without_the_row() -> None:
    draw = np.random.default_rng(0)
    slopes, errors, spread = draw.normal(size=(5, 3)), draw.normal(0, 0.1, 5), np.diag([0.04, 0.01, 0.09])
    whole = linear_posterior(slopes, errors, covariance=spread, scale=0.1, freedom=1e12)
    for out in range(5):
        kept = np.arange(5) != out
        part = linear_posterior(slopes[kept], errors[kept], covariance=spread, scale=0.1, freedom=1e12)
        assert whole.left_out[out] == pytest.approx(errors[out] - slopes[out] @ part.change)
