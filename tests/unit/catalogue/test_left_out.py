"""Rows that their fit did not see: as a fit made again says, and of calibration alone."""

from dataclasses import replace

import pytest

from volvelle.applications.dlrm.application import DLRM
from volvelle.applications.dlrm.left_out import dlrm_left_out
from volvelle.applications.hpcg.application import HPCG
from volvelle.applications.hpcg.left_out import hpcg_left_out
from volvelle.applications.hpl_mxp.application import HPL_MXP
from volvelle.applications.hpl_mxp.left_out import mxp_left_out
from volvelle.applications.measured_table import calibration_rows
from volvelle.applications.registry import application
from volvelle.applications.stencil.application import STENCIL
from volvelle.applications.stencil.left_out import stencil_left_out
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import LeftOut, left_out_of, left_out_rows


def rounded(rows: list[LeftOut]) -> dict[tuple[str, str], tuple[LeftOut, float]]:
    return {
        (row.row_id, row.axis): (replace(row, residual=0.0), pytest.approx(row.residual, rel=1e-4, abs=1e-4))
        for row in rows
    }


@pytest.mark.parametrize(
    ("word", "least"),
    [
        *((word, 20) for word in ("hpl", "hpcg", "fft", "dlrm", "collectives", "training")),
        ("hpl-mxp", 5),
        ("stencil", 5),
    ],
)
def test_only_calibration_rows_are_left_out_and_each_once_a_way(word: str, least: int) -> None:
    rows = left_out_of(word)
    splits = {row.head.row_id: row.head.split for row in application(word).rows().rows}
    assert {splits[row.row_id] for row in rows} == {"calibration"}
    assert len({(row.row_id, row.axis) for row in rows}) == len(rows) > least


@pytest.mark.long
def test_hpcg_and_recommendation_models_fitted_again_are_as_far_off_as_the_file_says() -> None:
    made = {
        "hpcg": hpcg_left_out(calibration_rows(HPCG.rows(), shipped=True)),
        "dlrm": dlrm_left_out(calibration_rows(DLRM.rows(), shipped=True), Catalogue()),
    }
    for word, rows in made.items():
        shipped = {(row.row_id, row.axis): (replace(row, residual=0.0), row.residual) for row in left_out_of(word)}
        assert shipped == rounded(list(rows))


def test_mixed_precision_and_stencils_fitted_again_are_as_far_off_as_the_file_says(catalogue: Catalogue) -> None:
    made = {
        "hpl-mxp": mxp_left_out(calibration_rows(HPL_MXP.rows(), shipped=True), catalogue),
        "stencil": stencil_left_out(calibration_rows(STENCIL.rows(), shipped=True), catalogue),
    }
    for word, rows in made.items():
        shipped = {(row.row_id, row.axis): (replace(row, residual=0.0), row.residual) for row in left_out_of(word)}
        assert shipped == rounded(list(rows))


def test_no_row_of_memory_may_be_fitted_to() -> None:
    assert not any(row.application == "memory" for row in left_out_rows())
    assert not calibration_rows(application("memory").rows(), shipped=True).rows
