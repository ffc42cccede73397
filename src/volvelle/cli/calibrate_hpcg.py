"""``volvelle calibrate hpcg``."""

from pathlib import Path

from volvelle.cli.row_calibration import Fitted, row_calibration

__all__ = ["calibrate_hpcg"]


def _found(data: Path | None) -> Fitted:
    from volvelle.applications.calibration_rows import calibration_rows  # noqa: PLC0415 - short start-up
    from volvelle.applications.hpcg.fit import fit_hpcg, hpcg_constants  # noqa: PLC0415 - short start-up
    from volvelle.applications.hpcg.measurements import hpcg_measurements  # noqa: PLC0415 - short start-up

    fit = fit_hpcg(calibration_rows(hpcg_measurements(data), shipped=data is None))
    return hpcg_constants(fit), (
        f"Calibration runs: {fit.runs}. Spreads are factors of one standard deviation, by runs left out of the fit.",
    )


calibrate_hpcg = row_calibration(
    "hpcg",
    _found,
    short="What families of devices sustain in HPCG.",
    says="Fit what HPCG sustains of a read stream, and what scaling loses, to calibration runs; held-out rows are "
    "not read. Takes a few seconds.",
)
