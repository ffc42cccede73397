"""Reported runs; bars are those that were asked for, or what was reached where they were missed."""

from dataclasses import replace

import pytest

from volvelle.applications.goodput.validation import predicted, reported_runs, validate_goodput

VALIDATION = validate_goodput()


def test_intervals_from_other_systems_hold_what_was_reported() -> None:
    assert len(VALIDATION.runs) == 9
    assert VALIDATION.held >= 7
    assert VALIDATION.width < 0.26


def test_a_run_on_chips_that_nobody_watched_is_predicted_as_widely_as_a_job_on_them() -> None:
    widths = {family: _predicted_width(family) for family in ("hopper", "tpu", None)}
    assert widths["tpu"] > widths["hopper"] == widths[None]
    assert [row.name for row in reported_runs() if row.family == "tpu"] == ["Gemini 1, before", "Gemini 1, after"]


def _predicted_width(family: str | None) -> float:
    return predicted(replace(reported_runs()[0], family=family), 0).prior.width


def test_what_sources_state_of_recovery_narrows_intervals_which_still_hold() -> None:
    assert VALIDATION.held_by(lambda run: run.recovery) >= 7
    assert VALIDATION.width_by(lambda run: run.recovery) <= 0.2
    assert VALIDATION.width_by(lambda run: run.stated) < VALIDATION.width_by(lambda run: run.recovery)


def test_failures_are_what_most_of_the_width_comes_from() -> None:
    alone = VALIDATION.width_alone
    assert alone["failures"] == max(alone.values())
    assert all(width < VALIDATION.width for width in alone.values())
    for run in VALIDATION.runs:
        assert (run.alone["accelerators"] == 0.0) == (run.row.accelerators is not None)


def test_writes_behind_the_work_are_in_doubt_where_no_interval_is_stated() -> None:
    for run in VALIDATION.runs:
        in_flight = run.row.way == "asynchronous" and run.row.interval is None
        assert (run.alone["write"] > 0.0) == in_flight, run.row.name
    assert 0.0 < VALIDATION.width_alone["write"] < 0.01


def test_with_their_own_rates_runs_are_within_four_points() -> None:
    assert VALIDATION.own_distance <= 0.04


def test_more_than_and_up_to_are_bounds() -> None:
    row = reported_runs()[0]
    more = replace(row, least=0.9, most=None)
    assert (more.distance(0.95), more.distance(0.88)) == (0.0, pytest.approx(0.02))
    assert more.within(0.8, 0.92)
    assert not more.within(0.8, 0.89)
    up_to = replace(row, least=None, most=0.97)
    assert (up_to.distance(0.95), up_to.distance(0.99)) == (0.0, pytest.approx(0.02))
    assert not up_to.within(0.98, 0.99)
    point = replace(row, least=0.44, most=0.44)
    assert not point.within(0.45, 0.9)
    assert replace(row, least=None, most=None).within(0.0, 1.0) is None
