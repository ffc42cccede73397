"""``volvelle calibrate dlrm``."""

from pathlib import Path

from volvelle.cli.row_calibration import Fitted, row_calibration

__all__ = ["calibrate_dlrm"]


def _found(data: Path | None) -> Fitted:
    from volvelle.applications.calibration_rows import calibration_rows  # noqa: PLC0415 - short start-up
    from volvelle.applications.dlrm.fit import dlrm_constants  # noqa: PLC0415 - short start-up
    from volvelle.applications.dlrm.measurements import dlrm_measurements  # noqa: PLC0415 - short start-up
    from volvelle.catalogue import Catalogue  # noqa: PLC0415 - short start-up

    return dlrm_constants(calibration_rows(dlrm_measurements(data), shipped=data is None), Catalogue())


calibrate_dlrm = row_calibration(
    "dlrm",
    _found,
    short="What software for recommendation models sustains of memory, and its fixed part.",
    says="Fit two constants of each kind of software to calibration rows; held-out rows are not read. Takes a few "
    "seconds.",
)
