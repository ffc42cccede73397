"""Runs that ran, by the chance that they fit."""

from dataclasses import replace

import pytest

from volvelle import Catalogue
from volvelle.applications.training.application import TRAINING
from volvelle.applications.training.fits_findings import fits_findings
from volvelle.applications.validation import validate


def test_runs_are_counted_by_their_chance_and_unlikely_ones_named(catalogue: Catalogue) -> None:
    validation = validate(TRAINING, TRAINING.rows().only(["jubench-megatron"]), catalogue=catalogue)
    (found,) = fits_findings(validation)
    assert isinstance(found.value, dict)
    assert sum(found.value["calibration"]) == len(validation.rows) == found.value["rows"]
    first = validation.rows[0]
    assert first.estimate is not None
    full = replace(first, estimate=replace(first.estimate, fits=0.01))
    (told,) = fits_findings(replace(validation, rows=(full, *validation.rows[1:])))
    assert isinstance(told.value, dict)
    assert [one["row_id"] for one in told.value["unlikely"]] == [first.head.row_id]
    assert "1 of jubench-megatron" in told.lines[0]
    assert sum(told.value["calibration"]) == pytest.approx(len(validation.rows))
