"""How far off runs of stencils are when their system is left out of the fit."""

from collections.abc import Iterator

from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.stencil.fit import least_shares, stencil_runs
from volvelle.applications.stencil.rows import StencilMeasurement
from volvelle.applications.system_levels import left_out_residuals
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import LeftOut


def stencil_left_out(rows: CalibrationRows[StencilMeasurement], catalogue: Catalogue) -> Iterator[LeftOut]:
    """Every run whose kind of kernel ran on another system too."""
    runs = stencil_runs(rows, catalogue)
    for place, residual in left_out_residuals(least_shares(runs)[1]):
        run = runs[place]
        yield LeftOut(
            application="stencil",
            row_id=run.row_id,
            source=run.system,
            regime=run.kernel,
            chips=run.asked.system.accelerators,
            residual=residual,
        )
