"""What the fit leaves of measured runs, and which of them are like a run that is asked about."""

import numpy as np
import pytest

import volvelle
from volvelle import Catalogue
from volvelle.applications.training.measurements import training_measurements
from volvelle.applications.training.rows import training_question
from volvelle.catalogue.residuals import residuals, runs_like
from volvelle.estimators.training.closed_form import ClosedForm


def test_no_held_out_row_is_among_them() -> None:
    splits = {row.head.row_id: row.head.split for row in training_measurements().rows}
    assert {splits[run.row_id] for run in residuals()} == {"calibration"}


def test_they_are_what_the_package_predicts_now() -> None:
    rows = {row.head.row_id: row for row in training_measurements().rows}
    catalogue = Catalogue()
    for run in residuals()[::60]:
        row = rows[run.row_id]
        asked = training_question(row, catalogue)
        assert not isinstance(asked, str)
        assert row.seconds is not None
        time = ClosedForm().estimate(asked.work, asked.system, asked.decision).time
        assert np.log(row.seconds / time) == pytest.approx(run.fitted, abs=2e-3), run.row_id


def test_runs_left_out_are_further_off_than_those_fitted() -> None:
    fitted, rows, sources = (
        np.mean([abs(getattr(run, name)) for run in residuals()]) for name in ("fitted", "new_row", "new_source")
    )
    assert fitted <= rows <= sources


def test_the_nearest_runs_are_of_such_chips_and_such_models() -> None:
    answer = volvelle.estimate("llama3-70b", on="dgx-h100/64", batch=256, tensor=4, pipeline=4)
    near = answer.nearest_runs
    assert len(near) == 3
    assert {run.family for run in near} == {"hopper"}
    assert near[0].model == "llama3-70b"
    assert len({(run.source, run.model) for run in near}) == 3


def test_nothing_is_near_what_nobody_ran() -> None:
    like = {"family": "dojo", "element": "fp32", "stack": "", "mixture": True, "parameters": 1e15, "chips": 10**6}
    assert runs_like(**like) == []  # type: ignore[arg-type]
