"""How far off HPL-MxP and stencils are on few held-out systems. The bars may only be lowered; nothing was fitted."""

import pytest

from volvelle.applications.registry import application
from volvelle.applications.validation import validate

BARS = {"hpl-mxp": (25, 0.396, 0.455, 0.153), "stencil": (8, 0.41, 0.47, 0.12)}
"""Held-out rows, their median and mean error, and the median error of calibration rows."""


@pytest.mark.parametrize("word", BARS)
def test_held_out_runs_are_no_further_off_than_when_first_scored(word: str) -> None:
    rows, median, mean, fitted = BARS[word]
    scored = validate(application(word))
    held = scored.overall("heldout")
    assert (held.rows, held.skipped) == (rows, 0)
    assert held.median_abs_error <= median
    assert held.mean_abs_error <= mean
    assert scored.overall("calibration").median_abs_error <= fitted
