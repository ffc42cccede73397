"""How far off transforms are. The bars may only be lowered; held-out rows were never fitted to."""

import pytest
from in_place import blocks

from tests.conftest import ROOT
from volvelle import Catalogue
from volvelle.applications.fft.application import FFT
from volvelle.applications.fft.constants import fft_model_error
from volvelle.applications.fft.fit import fit_model_error, fit_transport
from volvelle.applications.fft.rows import fft_measurements
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.scores import RowValidation
from volvelle.applications.validation import validate
from volvelle.report.applications.scores_text import validation_markdown

HELD_OUT_MEDIAN, HELD_OUT_MEAN = 0.108, 0.210
CALIBRATION_MEDIAN = 0.028
TARGET = 0.20
BARS = {
    "dtfft-v3-strong": 0.029,
    "dtfft-v2.2-weak": 0.086,
    "dtfft-v2.2-strong": 0.120,
    "dtfft-v3-bricks": 0.149,
    "cufftmp-blog": 0.334,
    "cufftmp-jax": 0.573,
    "2decomp-hector": 0.849,
}
"""Median error by publication when first scored."""


@pytest.fixture(scope="module")
def scored() -> RowValidation:
    return validate(FFT)


def test_held_out_transforms_are_no_further_off_than_when_first_scored(scored: RowValidation) -> None:
    held = scored.overall("heldout")
    assert (held.rows, held.skipped) == (58, 2)
    assert held.median_abs_error <= HELD_OUT_MEDIAN < TARGET
    assert held.mean_abs_error <= HELD_OUT_MEAN
    assert scored.overall("calibration").median_abs_error <= CALIBRATION_MEDIAN
    groups = {score.group: score for score in scored.groups() if score.split == "heldout" and score.rows}
    assert set(groups) == set(BARS)
    for name, bar in BARS.items():
        assert groups[name].median_abs_error <= bar, name


def test_the_range_holds_about_as_many_held_out_transforms_as_it_says(scored: RowValidation) -> None:
    assert 0.70 <= scored.overall("heldout").coverage <= 0.90


@pytest.mark.parametrize(
    ("transport", "cluster"),
    [
        pytest.param("nccl", "v100-pcie-nccl/8", marks=pytest.mark.long),
        pytest.param("host-staged", "v100-pcie-staged/8", marks=pytest.mark.long),
        ("cuda-aware-mpi", "v100-pcie-mpi/8"),
    ],
)
def test_a_fresh_fit_finds_nothing_much_different(catalogue: Catalogue, transport: str, cluster: str) -> None:
    rows = calibration_rows(fft_measurements(), shipped=True)
    fit, _ = fit_transport(transport, rows, catalogue, rounds=2)
    inner, outer = catalogue.cluster(cluster).dimensions
    assert fit["inside"] == pytest.approx(float(inner.link.rate), rel=0.1)
    assert fit["between"] == pytest.approx(float(outer.link.rate), rel=0.05)


@pytest.mark.long
def test_the_stated_doubt_is_that_of_rows_left_out_of_the_fit(catalogue: Catalogue) -> None:
    rows = calibration_rows(fft_measurements(), shipped=True)
    fit, held = fit_model_error(rows, catalogue), fft_model_error()
    assert held.inside == pytest.approx(fit.inside, rel=0.01)
    assert held.doubling == pytest.approx(fit.doubling, rel=0.01)
    assert (held.chips, held.counts) == (fit.chips, fit.counts)


def test_the_documentation_shows_what_is_printed(scored: RowValidation) -> None:
    page = (ROOT / "docs" / "validation" / "hpcg-fft-dlrm.md").read_text("utf-8")
    assert validation_markdown(FFT, scored) in blocks(page)["validation-fft"]
