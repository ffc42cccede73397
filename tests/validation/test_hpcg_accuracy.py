"""How far off HPCG is. The bars may only be lowered; held-out rows were never fitted to."""

import pytest
from in_place import blocks

from tests.conftest import ROOT
from volvelle.applications.hpcg.application import HPCG
from volvelle.applications.hpcg.constants import hpcg_factors
from volvelle.applications.hpcg.fit import fit_hpcg
from volvelle.applications.hpcg.rows import hpcg_measurements
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.scores import RowValidation
from volvelle.applications.validation import validate
from volvelle.report.applications.scores_text import validation_markdown

HELD_OUT_MEDIAN, HELD_OUT_MEAN = 0.077, 0.151
SECONDARY_MEDIAN = 0.040
CALIBRATION_MEDIAN = 0.012
TARGET, SINGLE_EFFICIENCY = 0.08, 0.125


@pytest.fixture(scope="module")
def scored() -> RowValidation:
    return validate(HPCG)


def test_held_out_runs_are_no_further_off_than_when_first_scored(scored: RowValidation) -> None:
    held = scored.overall("heldout")
    assert held.rows == 68
    assert held.skipped == 0
    assert held.median_abs_error <= HELD_OUT_MEDIAN < TARGET < SINGLE_EFFICIENCY
    assert held.mean_abs_error <= HELD_OUT_MEAN
    assert scored.overall("heldout_secondary").median_abs_error <= SECONDARY_MEDIAN
    assert scored.overall("calibration").median_abs_error <= CALIBRATION_MEDIAN


def test_the_range_holds_about_as_many_held_out_runs_as_it_says(scored: RowValidation) -> None:
    assert 0.70 <= scored.overall("heldout").coverage <= 0.90


@pytest.mark.long
def test_a_fresh_fit_gives_the_constants_of_the_catalogue() -> None:
    fit = fit_hpcg(calibration_rows(hpcg_measurements(), shipped=True))
    for name, found in fit.solver.items():
        family, date = ("ampere", "202106") if name == "ampere-early" else (name, "")
        held = hpcg_factors(family, date=date).solver.value
        assert held == pytest.approx(found, rel=0.01), name
    unseen = hpcg_factors("hopper")
    assert unseen.solver.value == pytest.approx(fit.population, rel=0.01)
    low, high = unseen.solver.bounds(0.8)
    assert (high / low) ** (0.5 / 1.2816) == pytest.approx(fit.population_spread, rel=0.01)
    low, high = hpcg_factors("volta").solver.bounds(0.8)
    assert (high / low) ** (0.5 / 1.2816) == pytest.approx(fit.within, rel=0.01)
    assert unseen.step.value == pytest.approx(fit.step)
    assert unseen.doubling.value == pytest.approx(fit.doubling)
    host = hpcg_factors("zen2")
    assert host.step.value == pytest.approx(fit.host_step)
    assert host.few_ranks.value == pytest.approx(fit.few_ranks)


def test_the_documentation_shows_what_is_printed(scored: RowValidation) -> None:
    page = (ROOT / "docs" / "validation" / "hpcg-fft-dlrm.md").read_text("utf-8")
    assert validation_markdown(HPCG, scored) in blocks(page)["validation-hpcg"]
