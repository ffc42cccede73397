"""Factors of software stacks, fitted to calibration runs."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import ROOT
from volvelle import Catalogue
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.training.measurements import training_measurements
from volvelle.applications.training.stack_fit import Run, factors_of, fit_stacks, stack_runs


@pytest.fixture(scope="module")
def every(catalogue: Catalogue) -> tuple[Run, ...]:
    return stack_runs(calibration_rows(training_measurements(), shipped=True), catalogue)


@pytest.fixture(scope="module")
def runs(every: tuple[Run, ...]) -> tuple[Run, ...]:
    """Of two stacks on one family, few enough to be quick."""
    return tuple(run for run in every if run.source in ("moe-folding-t3", "nemo-24.07", "torchtitan"))


def test_factors_bring_predictions_nearer_to_what_was_measured(runs: tuple[Run, ...]) -> None:
    before, after = fit_stacks(runs, rounds=0), fit_stacks(runs, rounds=3)
    assert np.mean(np.abs(after.errors)) < 0.7 * np.mean(np.abs(before.errors))
    assert np.mean(np.abs(after.new_sources)) >= np.mean(np.abs(after.errors))


@pytest.mark.long
def test_runs_that_are_all_slower_are_put_down_to_their_stack_and_not_to_others(runs: tuple[Run, ...]) -> None:
    slower = [replace(run, seconds=1.3 * run.seconds) if run.stack == "torchtitan" else run for run in runs]
    plain, slowed = fit_stacks(runs, rounds=4), fit_stacks(slower, rounds=4)
    # Of what was predicted: measured less errors.
    longer = np.log([new.seconds / old.seconds for new, old in zip(slower, runs, strict=True)])
    moved = longer - slowed.errors + plain.errors
    theirs = np.array([run.stack == "torchtitan" for run in runs])
    assert np.mean(moved[theirs]) > 0.6 * np.log(1.3)
    assert abs(np.mean(moved[~theirs])) < 0.1 * np.log(1.3)


def test_shipped_factors_name_the_runs_behind_them(every: tuple[Run, ...]) -> None:
    file = ROOT / "src" / "volvelle" / "catalogue" / "data" / "stacks.csv"
    shipped = list(csv.DictReader(file.read_text("utf-8").splitlines()))
    for row in shipped:
        alike = [run for run in every if (run.stack, run.family) == (row["stack"], row["family"])]
        alike = [run for run in alike if run.element == row["element"]]
        assert int(row["runs"]) == len(alike), row


def test_what_is_written_holds_for_every_stack_and_family(runs: tuple[Run, ...]) -> None:
    fit = fit_stacks(runs, rounds=1)
    rows = factors_of(fit)
    assert {(row[1], row[2]) for row in rows} == {("", ""), ("hopper", "bf16"), ("hopper", "fp8")}
    assert all(row[4] > 0.0 for row in rows)
