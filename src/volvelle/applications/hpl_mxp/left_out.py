"""How far off runs of HPL-MxP are when their system is left out of the fit, as shares of the peak."""

from collections.abc import Iterator

from volvelle.applications.hpl_mxp.fit import least_shares, mxp_runs
from volvelle.applications.hpl_mxp.rows import MxpMeasurement
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.system_levels import left_out_residuals
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import LeftOut


def mxp_left_out(rows: CalibrationRows[MxpMeasurement], catalogue: Catalogue) -> Iterator[LeftOut]:
    """Every run of a family that another system ran on too."""
    runs = mxp_runs(rows, catalogue)
    for place, residual in left_out_residuals(least_shares(runs)[2]):
        run = runs[place]
        yield LeftOut(
            application="hpl-mxp",
            row_id=run.row.head.row_id,
            source=run.system,
            regime=run.family,
            chips=run.asked.system.accelerators,
            residual=residual,
        )
