"""Shares of rows within ranges."""

import numpy as np
import pytest

from volvelle.applications.intervals import RangedRow, coverage_of, interval_report
from volvelle.spread import model_reach, standard_normal


def test_ranges_of_the_width_of_their_errors_hold_what_they_promise() -> None:
    errors = 0.1 * standard_normal((np.arange(2000) + 0.5) / 2000)
    found = coverage_of("drawn", [RangedRow(error=error, low=-0.12816, high=0.12816) for error in errors])
    assert found.covered[1] == pytest.approx(0.8, abs=0.01)
    assert found.covered[0] < found.covered[1] < found.covered[2]
    assert found.bias == pytest.approx(0.0, abs=1e-3)


def test_ranges_that_follow_errors_are_narrower_than_a_plain_one_at_its_coverage() -> None:
    rows = [
        RangedRow(error=sign * share * scale, low=-scale, high=scale)
        for scale in (0.05, 0.8)
        for share in np.linspace(0.01, 1.2, 200)
        for sign in (-1, 1)
    ]
    told = coverage_of("two kinds", rows)
    same = coverage_of("one width", [RangedRow(error=row.error, low=-0.4, high=0.4) for row in rows])
    assert told.narrower > same.narrower


def test_wider_levels_hold_no_fewer_rows() -> None:
    report = interval_report(("hpcg",))
    assert report.overall.rows == report.applications[0].rows >= 60
    assert 0.72 <= report.applications[0].covered[1] <= 0.88
    for one in (*report.applications, *report.splits):
        assert one.covered[0] <= one.covered[1] <= one.covered[2]
    assert model_reach(0.5) < model_reach(0.8) < model_reach(0.95)
