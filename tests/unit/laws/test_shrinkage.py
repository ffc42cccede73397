"""What a few own runs change: no runs change nothing, many win, and one that is far off counts little."""

import numpy as np
import pytest
from scipy import stats

from volvelle.laws.shrinkage import (
    kriged,
    likeness,
    linear_posterior,
    shrunk_shift,
    student_reach,
    student_tails,
    student_weights,
    told_inflation,
)

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
    found = linear_posterior(
        np.ones((3, 1)), errors, covariance=np.array([[0.15**2]]), noise=np.full(3, 0.1), freedom=1e9
    )
    # Without tails it is the mean, drawn to zero by the variances.
    assert found.change[0] == pytest.approx(0.1 * 3 * 0.15**2 / (3 * 0.15**2 + 0.1**2))


def test_a_row_that_is_far_off_the_others_counts_little() -> None:
    errors = np.array([0.1, 0.1, 0.1, 1.5])
    found = linear_posterior(
        np.ones((4, 1)), errors, covariance=np.array([[0.04]]), noise=np.full(4, 0.05), freedom=4.0
    )
    assert found.weights[3] < 0.05
    assert found.weights[0] > 0.5
    assert found.change[0] < 0.15


def test_a_constant_that_rows_do_not_feel_stays() -> None:
    slopes = np.array([[1.0, 0.0], [0.9, 0.0]])
    found = linear_posterior(
        slopes, np.array([0.2, 0.2]), covariance=np.diag([0.04, 0.09]), noise=np.full(2, 0.05), freedom=4.0
    )
    assert found.change[1] == 0.0
    assert found.covariance[1, 1] == pytest.approx(0.09 * found.inflation)
    assert found.covariance[0, 0] < 0.04 * found.inflation


def test_left_out_errors_are_those_of_fits_without_the_row() -> None:
    draw = np.random.default_rng(0)
    slopes, errors, spread = draw.normal(size=(5, 3)), draw.normal(0, 0.1, 5), np.diag([0.04, 0.01, 0.09])
    noise, together = np.full(5, 0.1), 0.03**2 * likeness(slopes, slopes, reach=1.0)
    whole = linear_posterior(slopes, errors, covariance=spread, noise=noise, freedom=1e12, alike=together)
    for out in range(5):
        kept = np.arange(5) != out
        own = together[np.ix_(kept, kept)]
        part = linear_posterior(
            slopes[kept], errors[kept], covariance=spread, noise=noise[kept], freedom=1e12, alike=own
        )
        near = kriged(together[[out]][:, kept], own, part.left, slopes[kept], noise=part.noise)
        assert whole.left_out[out] == pytest.approx(errors[out] - slopes[out] @ part.change - near.shift[0])


def test_constants_and_shapes_together_are_one_gaussian_process() -> None:
    draw = np.random.default_rng(1)
    slopes, errors, spread = draw.normal(size=(6, 2)), draw.normal(0, 0.1, 6), np.diag([0.04, 0.01])
    new, shapes = draw.normal(size=(3, 2)), draw.normal(size=(9, 3))
    together = 0.08**2 * likeness(shapes, shapes, reach=2.0)
    own, near, noise = together[:6, :6], together[6:, :6], np.full(6, 0.05)
    found = linear_posterior(slopes, errors, covariance=spread, noise=noise, freedom=1e12, alike=own)
    told = kriged(near, own, found.left, slopes, noise=found.noise)
    whole = slopes @ spread @ slopes.T + own + np.diag(noise**2)
    with_own = new @ spread @ slopes.T + near
    assert new @ found.change + told.shift == pytest.approx(with_own @ np.linalg.solve(whole, errors))
    felt = new - told.carried
    left = np.einsum("nc,cd,nd->n", felt, found.covariance, felt) / found.inflation + 0.08**2 - told.told
    exact = np.einsum("nc,cd,nd->n", new, spread, new) + 0.08**2
    assert left == pytest.approx(exact - np.einsum("no,on->n", with_own, np.linalg.solve(whole, with_own.T)))


def test_a_run_tells_wholly_of_its_own_shape_and_nothing_of_one_far_away() -> None:
    own, far = np.zeros((1, 3)), np.full((1, 3), 40.0)
    at = [0.04 * likeness(where, own, reach=1.0) for where in (own, far)]
    found = [kriged(each, np.array([[0.04]]), np.array([0.3]), np.ones((1, 1)), noise=np.array([1e-6])) for each in at]
    assert found[0].shift[0] == pytest.approx(0.3)
    assert found[0].told[0] == pytest.approx(0.04)
    assert abs(found[1].shift[0]) + found[1].told[0] < 1e-12


def test_runs_as_far_off_as_was_believed_leave_variances_and_wilder_ones_widen_them() -> None:
    assert told_inflation(5.0, 5, freedom=2.0) == 1.0
    assert told_inflation(0.0, 5, freedom=2.0) == pytest.approx(2.0 / 7.0)
    assert told_inflation(50.0, 5, freedom=2.0) > 7.0


@pytest.mark.parametrize("freedom", [1.0, 2.0, 4.0, 30.0])
def test_tails_are_those_of_students_distribution_of_many_numbers(freedom: float) -> None:
    rows = np.array([0.3, -1.2, 2.5])
    density = stats.multivariate_t(shape=np.eye(3), df=freedom).logpdf(rows)
    # A constant of the number of rows alone is left out.
    assert student_tails(float(rows @ rows), 3, freedom=freedom) == pytest.approx(-density - 1.5 * np.log(2.0 * np.pi))


def test_rows_are_believed_as_long_tails_have_it() -> None:
    weights = student_weights(np.array([0.0, 0.1, -0.1, 1.0]), scale=np.full(4, 0.1), freedom=4.0)
    assert weights == pytest.approx([1.25, 1.0, 1.0, 5.0 / 104.0])
