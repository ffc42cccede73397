"""How far models are off on what they were not fitted to."""

import numpy as np
import pytest

from volvelle.catalogue.left_out import CHIP, alone_with_software, left_out_of, publications_left_out
from volvelle.catalogue.model_errors import ENOUGH_ROWS, ENOUGH_SOURCES, axis_error, left_axes, model_error
from volvelle.catalogue.training_errors import training_errors, training_tilt
from volvelle.estimators.step_errors import StepError
from volvelle.laws.model_error import (
    covering_error,
    error_beside_inputs,
    interval_score,
    pooled_deviation,
    tilt_of_sides,
    two_levels,
)
from volvelle.spread import LogNormal, LogStudent, model_reach


def test_a_thin_regime_is_told_by_its_parent_and_reaches_between_its_own_and_the_parents() -> None:
    assert model_error("training", "hopper").regime == "hopper"
    assert model_error("training", "no such chips") == model_error("training")
    thin, parent = model_error("hpl", "a64fx"), model_error("hpl")
    own = [row.residual for row in left_out_of("hpl") if row.regime == "a64fx"]
    assert len(own) < ENOUGH_ROWS
    assert (thin.regime, thin.rows, thin.pooled_rows) == ("a64fx", len(own), parent.rows)
    assert (thin.bias, thin.between, thin.within) == (parent.bias, parent.between, parent.within)
    assert parent.pooled_rows == 0
    assert parent.sources >= ENOUGH_SOURCES
    assert float(np.max(np.abs(own))) < thin.reach < parent.reach


def test_the_more_publications_a_regime_has_the_less_its_parent_counts() -> None:
    found = [pooled_deviation(0.1, groups, 0.4, worth=3.0) for groups in (0.0, 1.0, 3.0, 30.0)]
    assert found[0] == pytest.approx(0.4)
    assert found == sorted(found, reverse=True)
    assert found[2] == pytest.approx(0.2)
    assert found[3] == pytest.approx(0.1, rel=0.15)
    assert pooled_deviation(0.0, 1.0, 0.4, worth=3.0) == pytest.approx(pooled_deviation(0.01, 1.0, 0.4, worth=3.0))


def test_ranges_tilt_to_the_side_that_left_out_rows_lie_on() -> None:
    even = np.linspace(-1.2, 1.2, 401)
    weights = np.ones(even.size)
    assert tilt_of_sides(even, weights, level=0.8) == pytest.approx(0.0, abs=0.01)
    skew = np.where(even < 0, even, 2.0 * even)
    assert tilt_of_sides(skew, weights, level=0.8) == pytest.approx(0.5 * np.log(2.0), abs=0.02)
    assert tilt_of_sides(-skew, weights, level=0.8) == pytest.approx(-0.5 * np.log(2.0), abs=0.02)
    told = model_error("hpl", "hopper")
    low, high = told.sides
    assert -low > told.reach > high, "machines fall far below their peers, and rise little above"
    assert -low * high == pytest.approx(told.reach**2)


def test_a_tilted_error_has_half_its_cases_on_either_side() -> None:
    plain, tilted = LogStudent(2.0, 1.3), LogStudent(2.0, 1.3, 0.2)
    shares = np.linspace(0.0005, 0.9995, 1000)
    assert float(np.median(tilted.at(shares))) == pytest.approx(2.0, rel=1e-3)
    low, high = tilted.bounds(0.8)
    assert low > plain.bounds(0.8)[0]
    assert high > plain.bounds(0.8)[1]
    assert np.quantile(tilted.at(shares), [0.1, 0.9]) == pytest.approx([low, high], rel=1e-3)


def test_steps_take_longer_than_is_said_by_more_than_they_take_less() -> None:
    tilt = training_errors().tilt
    assert tilt == pytest.approx(training_tilt(), rel=1e-3)
    assert 0.05 < tilt < 0.3
    assert StepError(factor=1.1, of=training_errors()).tilt == tilt
    assert StepError(factor=1.1, of=training_errors(), own=True).tilt == 0.0


@pytest.mark.parametrize("word", ["training", "hpl", "hpcg", "fft", "dlrm", "collectives"])
def test_leaving_what_was_fitted_never_makes_surer(word: str) -> None:
    inside = model_error(word)
    for axis in left_axes(word):
        assert model_error(word, axes=(axis,)).reach >= inside.reach
    assert model_error(word, axes=tuple(sorted(left_axes(word)))).reach >= inside.reach


def test_publications_count_once_whatever_their_rows() -> None:
    own = [row for row in publications_left_out("training") if row.axis != CHIP]
    largest = max({row.source for row in own}, key=lambda name: sum(row.source == name for row in own))
    by_rows = float(np.quantile(np.abs([row.residual for row in own]), 0.8))
    assert sum(row.source == largest for row in own) > len(own) / 2
    assert model_error("training").reach != pytest.approx(by_rows, rel=1e-3)
    counted = {row.source: 1.0 / sum(other.source == row.source for other in own) for row in own}
    within = sum(counted[row.source] for row in own if abs(row.residual) <= model_error("training").reach)
    assert within / len(counted) == pytest.approx(0.8, abs=0.02)


def test_two_levels_find_the_spreads_that_errors_were_drawn_with() -> None:
    generator = np.random.default_rng(3)
    groups = [str(group) for group in range(400) for _ in range(6)]
    shifts = np.repeat(generator.normal(0.05, 0.2, 400), 6)
    bias, between, within = two_levels(shifts + generator.normal(0.0, 0.1, 2400), groups)
    assert (bias, between, within) == pytest.approx((0.05, 0.2, 0.1), abs=0.02)
    assert two_levels(np.array([0.1, 0.3]), ["one", "one"])[:2] == pytest.approx((0.2, 0.0))


def test_spreads_around_a_centre_that_is_known_are_found_again() -> None:
    draw = np.random.default_rng(3)
    errors = np.concatenate([draw.normal(0.2 * draw.normal(), 0.1, 30) for _ in range(400)])
    groups = [str(place // 30) for place in range(len(errors))]
    centre, between, within = two_levels(errors, groups, centre=0.0)
    assert (centre, between) == pytest.approx((0.0, 0.2), rel=0.1)
    assert within == pytest.approx(0.1, rel=0.02)


def test_inputs_in_no_more_doubt_than_those_of_calibration_add_nothing() -> None:
    for inputs in (0.0, 0.02, 0.06):
        assert float(error_beside_inputs(0.15, inputs, known=0.06)) ** 2 + inputs**2 == pytest.approx(0.15**2)
    more = float(error_beside_inputs(0.15, 0.3, known=0.06)) ** 2 + 0.3**2
    assert more == pytest.approx(0.15**2 + 0.3**2 - 0.06**2)
    assert float(error_beside_inputs(0.0, 0.3, known=0.06)) == 0.0


def test_the_error_of_a_model_is_as_wide_as_a_normal_one_for_four_fifths_and_has_longer_tails() -> None:
    from scipy.stats import t  # noqa: PLC0415

    for level in (0.5, 0.8, 0.95):
        assert model_reach(level) == pytest.approx(t(4).ppf((1 + level) / 2) / t(4).ppf(0.9) * 1.2815515655)
    student, normal = LogStudent(2.0, 1.3), LogNormal(2.0, 1.3)
    assert student.bounds(0.8) == pytest.approx(normal.bounds(0.8))
    assert student.bounds(0.95)[1] > normal.bounds(0.95)[1] > student.bounds(0.8)[1] > student.bounds(0.5)[1] > 2.0
    assert np.quantile(student.at(np.linspace(0.0005, 0.9995, 1000)), 0.9) == pytest.approx(
        student.bounds(0.8)[1], rel=1e-3
    )


def test_publications_to_come_are_covered_as_promised() -> None:
    """Drawn publications of very different sizes: four fifths of rows of a new one lie within what the others tell."""
    draw = np.random.default_rng(5)
    inside = []
    for _ in range(400):
        sizes = draw.integers(1, 60, 15)
        errors = np.concatenate([draw.normal(draw.normal(0.0, 0.1), 0.1, size) for size in sizes])
        weights = np.repeat(len(errors) / len(sizes) / sizes, sizes)
        reach = covering_error(errors, weights, level=0.8)
        inside.append(np.mean(np.abs(draw.normal(draw.normal(0.0, 0.1), 0.1, 30)) <= reach))
    assert float(np.mean(inside)) == pytest.approx(0.8, abs=0.03)


def test_training_rows_leave_by_software_only_where_their_publication_is_alone_with_it() -> None:
    rows = [("one", "hopper", "nemo"), ("two", "hopper", "nemo"), ("two", "hopper", "fsdp"), ("one", "ampere", "nemo")]
    assert alone_with_software(rows) == [False, False, True, True]
    axes = set(left_axes("training"))
    assert axes == {"chip", "software", "precision", "kind of model", "size"}
    assert all(axis_error("training", axis).axes == (axis,) for axis in axes)


def test_a_range_that_misses_pays_ten_times_what_it_misses_by() -> None:
    found = interval_score(np.array([0.1, -0.3]), np.array([0.2, 0.2]), level=0.8)
    assert found == pytest.approx([0.4, 0.4 + 10 * 0.1])


def test_no_other_reach_scores_better_than_the_true_quantile() -> None:
    errors = np.random.default_rng(0).standard_normal(200_000)
    scores = {
        reach: float(np.mean(interval_score(errors, np.full(errors.shape, reach), level=0.8)))
        for reach in (1.0, 1.15, 1.2816, 1.4, 1.6)
    }
    assert min(scores, key=lambda reach: scores[reach]) == 1.2816
