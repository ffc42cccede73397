"""How far off runs of stencils are when their system is left out of the fit."""

from collections.abc import Iterator

from volvelle.applications.cross_validation import systems_left_out
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.stencil.fit import least_shares, stencil_runs
from volvelle.applications.stencil.rows import StencilMeasurement
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import LeftOut


def stencil_left_out(rows: CalibrationRows[StencilMeasurement], catalogue: Catalogue) -> Iterator[LeftOut]:
    """Every run whose kind of kernel ran on another system too."""
    runs = stencil_runs(rows, catalogue)
    rows_of_runs = ((run.row_id, run.asked.system.accelerators) for run in runs)
    return systems_left_out("stencil", least_shares(runs)[1], rows_of_runs)
