"""``volvelle calibrate fft``."""

from pathlib import Path

from volvelle.cli.row_calibration import Fitted, row_calibration

__all__ = ["calibrate_fft"]


def _found(data: Path | None) -> Fitted:
    from volvelle.applications.calibration_rows import calibration_rows  # noqa: PLC0415 - short start-up
    from volvelle.applications.fft.fit import fft_constants  # noqa: PLC0415 - short start-up
    from volvelle.applications.fft.measurements import fft_measurements  # noqa: PLC0415 - short start-up
    from volvelle.catalogue import Catalogue  # noqa: PLC0415 - short start-up

    return fft_constants(calibration_rows(fft_measurements(data), shipped=data is None), Catalogue())


calibrate_fft = row_calibration(
    "fft",
    _found,
    short="What links sustain in the exchanges of Fourier transforms.",
    says="Fit the links that transforms were timed on, by way of travelling, to calibration rows; held-out rows are "
    "not read. Takes two minutes.",
)
