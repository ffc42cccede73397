"""How far off runs of HPL-MxP are when their system is left out of the fit, as shares of the peak."""

from collections.abc import Iterator

from volvelle.applications.cross_validation import systems_left_out
from volvelle.applications.hpl_mxp.fit import least_shares, mxp_runs
from volvelle.applications.hpl_mxp.rows import MxpMeasurement
from volvelle.applications.measured_table import CalibrationRows
from volvelle.catalogue import Catalogue
from volvelle.catalogue.left_out import LeftOut


def mxp_left_out(rows: CalibrationRows[MxpMeasurement], catalogue: Catalogue) -> Iterator[LeftOut]:
    """Every run of a family that another system ran on too."""
    runs = mxp_runs(rows, catalogue)
    rows_of_runs = ((run.row.head.row_id, run.asked.system.accelerators) for run in runs)
    return systems_left_out("hpl-mxp", least_shares(runs)[2], rows_of_runs)
