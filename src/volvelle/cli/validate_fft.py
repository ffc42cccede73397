"""``volvelle validate fft``."""

from pathlib import Path

from volvelle.cli.row_validation import Answer, row_validation

__all__ = ["validate_fft"]


def _found(data: Path | None) -> Answer:
    from volvelle.applications.fft.measurements import fft_measurements  # noqa: PLC0415 - short start-up
    from volvelle.applications.fft.validation import validate_fft as validate  # noqa: PLC0415 - short start-up
    from volvelle.applications.scores import row_document  # noqa: PLC0415 - short start-up
    from volvelle.quantities import SECONDS  # noqa: PLC0415 - short start-up

    found = validate(fft_measurements(data))
    return found, row_document(found), SECONDS


validate_fft = row_validation(
    "fft",
    _found,
    short="Fourier transforms against published timings.",
    says="Predict the time of every measured transform; held-out and calibration rows apart.",
)
