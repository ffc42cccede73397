"""How far off recommendation steps are. The bars may only be lowered; held-out rows were never fitted to."""

import pytest
from in_place import blocks

from tests.conftest import ROOT
from volvelle import Catalogue
from volvelle.applications.dlrm.application import DLRM
from volvelle.applications.dlrm.constants import dlrm_model, dlrm_model_error
from volvelle.applications.dlrm.fit import fit_stack
from volvelle.applications.dlrm.rows import dlrm_measurements
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.scores import RowValidation
from volvelle.applications.validation import validate
from volvelle.report.applications.scores_text import validation_markdown

HELD_OUT_MEDIAN, HELD_OUT_MEAN = 0.097, 0.210
SECONDARY_MEDIAN = 0.097
CALIBRATION_MEDIAN = 0.059
TARGET = 0.20
BARS = {
    "mlperf-v5.0": 0.063,
    "mlperf-v4.1": 0.083,
    "mlperf-v5.1": 0.101,
    "mlperf-v4.0": 0.109,
    "torchrec-dlrm": 0.137,
    "mlperf-v3.0": 0.245,
    "mlperf-v3.1": 0.869,
}
"""Median error by publication when first scored; the last two are one run each, on 16 and 8 nodes."""


@pytest.fixture(scope="module")
def scored() -> RowValidation:
    return validate(DLRM)


def test_held_out_steps_are_no_further_off_than_when_first_scored(scored: RowValidation) -> None:
    held = scored.overall("heldout")
    assert (held.rows, held.skipped) == (46, 0)
    assert held.median_abs_error <= HELD_OUT_MEDIAN < TARGET
    assert held.mean_abs_error <= HELD_OUT_MEAN
    assert scored.overall("heldout_secondary").median_abs_error <= SECONDARY_MEDIAN
    assert scored.overall("calibration").median_abs_error <= CALIBRATION_MEDIAN
    groups = {score.group: score for score in scored.groups() if score.split == "heldout"}
    assert set(groups) == set(BARS)
    for name, bar in BARS.items():
        assert groups[name].median_abs_error <= bar, name


def test_a_fresh_fit_gives_the_constants_of_the_catalogue(catalogue: Catalogue) -> None:
    rows = calibration_rows(dlrm_measurements(), shipped=True)
    fit = fit_stack("hugectr", rows, catalogue)
    held = dlrm_model("hugectr")
    assert held.gather == pytest.approx(fit.gather)
    assert held.fixed == pytest.approx(fit.fixed)
    other = fit_stack("other", rows, catalogue)
    assert dlrm_model("other").fixed == pytest.approx(other.fixed)
    for name, found in (("hugectr", fit.model_error), ("other", other.model_error)):
        stated = dlrm_model_error(name)
        assert stated.inside == pytest.approx(found.inside, rel=0.01)
        assert stated.chip == pytest.approx(found.chip, rel=0.01)
        assert (stated.chips, stated.counts) == (found.chips, found.counts)
    assert dlrm_model_error("hugectr").doubling == pytest.approx(fit.model_error.doubling, rel=0.01)
    assert dlrm_model_error("hugectr").link == pytest.approx(fit.model_error.link, rel=0.01)


def test_the_range_holds_about_as_many_held_out_steps_as_it_says(scored: RowValidation) -> None:
    assert 0.70 <= scored.overall("heldout").coverage <= 0.90


def test_the_documentation_shows_what_is_printed(scored: RowValidation) -> None:
    page = (ROOT / "docs" / "validation" / "hpcg-fft-dlrm.md").read_text("utf-8")
    assert validation_markdown(DLRM, scored) in blocks(page)["validation-dlrm"]
