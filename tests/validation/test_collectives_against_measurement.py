"""The model of collective communication, held against published timings."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from volvelle import Catalogue
from volvelle.applications.collectives.application import COLLECTIVES
from volvelle.applications.collectives.fit import fit_collectives, stage_losses
from volvelle.applications.collectives.measurements import CollectiveMeasurement, collective_measurements
from volvelle.applications.collectives.stages import STAGES
from volvelle.applications.fitted_constants import FittedConstant
from volvelle.applications.measured_table import MeasuredTable, calibration_rows
from volvelle.applications.scores import RowValidation
from volvelle.applications.validation import validate as validated
from volvelle.cli.validate import validate

# The figure when held-out rows were first scored, after everything was frozen: 21.2 %; 11.9 % since links of MI300X and
# networks of 400 Gb/s are fitted to rows of their own. It may only be lowered.
HELD_OUT_MEDIAN = 0.12
FITTED_MEDIAN, CALIBRATION_MEDIAN = 0.094, 0.098
"""Of publications that links are fitted to, and of all; 9.6 % of all before rows of 2, 4 and 8 nodes of H100 came in,
which nothing is fitted to and which are off by 11 and 14 %."""

PAGE = Path(__file__).parents[2] / "docs" / "validation" / "collectives.md"


def fitted_to(rows: Sequence[CollectiveMeasurement]) -> tuple[FittedConstant, ...]:
    table = MeasuredTable(rows=tuple(rows))
    return fit_collectives(calibration_rows(table, shipped=True), Catalogue()).constants


@pytest.fixture(scope="module")
def rows() -> tuple[CollectiveMeasurement, ...]:
    return collective_measurements().rows


@pytest.fixture(scope="module")
def fitted(rows: tuple[CollectiveMeasurement, ...]) -> tuple[FittedConstant, ...]:
    return fitted_to(rows)


@pytest.fixture(scope="module")
def scored() -> RowValidation:
    return COLLECTIVES.narrowed(validated(COLLECTIVES))


@pytest.mark.long
def test_the_fit_run_again_finds_nothing_better_than_the_catalogue(rows: tuple[CollectiveMeasurement, ...]) -> None:
    """By more than a per mille: the catalogue has three digits, and V100 rows tell set-up and filling only jointly."""
    calibration = calibration_rows(MeasuredTable(rows=rows), shipped=True)
    losses = stage_losses(calibration, Catalogue())
    assert len(losses) == len(STAGES)
    for stage, (fresh, held) in zip(STAGES, losses, strict=True):
        assert held <= fresh + 0.001, stage.groups


@pytest.mark.long
def test_every_fitted_constant_says_in_the_catalogue_that_it_was_fitted(fitted: tuple[FittedConstant, ...]) -> None:
    catalogue = Catalogue()
    for constant in (each for each in fitted if each.of != "NCCL"):
        figure = catalogue.link(constant.of).figures[constant.name]
        assert figure.source == "volvelle-collectives-fit"
        assert figure.spread is not None


@pytest.mark.long
def test_constants_that_nccl_leaves_out_are_those_of_the_fit(fitted: tuple[FittedConstant, ...]) -> None:
    share, fill = (constant for constant in fitted if constant.of == "NCCL")
    assert (share.name, fill.name) == ("rate_reached", "fill")
    for constant in (share, fill):
        assert constant.low <= constant.catalogue <= constant.high
        assert constant.catalogue == pytest.approx(constant.fitted, rel=0.02)


@pytest.mark.long
def test_held_out_rows_do_not_reach_the_fit(
    rows: tuple[CollectiveMeasurement, ...], fitted: tuple[FittedConstant, ...]
) -> None:
    spoilt = [
        replace(row, time=1e3 * row.time) if row.head.split != "calibration" and row.time is not None else row
        for row in rows
    ]
    assert fitted_to(spoilt) == fitted
    assert fitted_to([row for row in rows if row.head.split == "calibration"]) == fitted


def test_no_row_is_held_out_that_measures_again_what_was_fitted(rows: tuple[CollectiveMeasurement, ...]) -> None:
    groups = {group for stage in STAGES for group in stage.groups}
    fitted_to = {(row.head.group, row.accelerator, row.chips) for row in rows if row.head.split == "calibration"}
    held = {
        (row.head.group, row.accelerator, row.chips)
        for row in rows
        if row.head.split == "heldout" and row.head.group in groups
    }
    assert not held & fitted_to


def test_long_held_out_messages_are_no_further_off_than_when_first_scored(scored: RowValidation) -> None:
    assert scored.overall("heldout").median_abs_error <= HELD_OUT_MEDIAN


def test_long_calibration_messages_are_no_further_off_than_when_fitted(scored: RowValidation) -> None:
    told = {group for stage in STAGES for group in stage.groups}
    rows = [row for row in scored.rows if row.head.split == "calibration"]
    errors = [abs(row.predicted / row.measured - 1.0) for row in rows if row.head.group in told]
    assert len(errors) >= 1200
    assert np.median(errors) <= FITTED_MEDIAN
    assert scored.overall("calibration").median_abs_error <= CALIBRATION_MEDIAN


def test_every_row_is_scored_or_says_why_not(rows: tuple[CollectiveMeasurement, ...]) -> None:
    scored = validated(COLLECTIVES)
    found = [*(row.head.row_id for row in scored.rows), *(row.row_id for row in scored.skipped)]
    assert sorted(found) == sorted(row.head.row_id for row in rows)
    assert all(each.reason for each in scored.skipped)
    assert all(np.isfinite(each.predicted) and each.predicted > 0 for each in scored.rows)


def test_groups_come_worst_first(scored: RowValidation) -> None:
    held = [score.median_abs_error for score in scored.groups() if score.split == "heldout" and score.rows]
    assert held == sorted(held, reverse=True)


def test_the_page_shows_what_the_command_prints() -> None:
    printed = CliRunner().invoke(validate, ["collectives", "--markdown"], catch_exceptions=False).output
    assert printed.strip() in PAGE.read_text("utf-8")
