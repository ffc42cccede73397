"""``volvelle validate hpcg``."""

from pathlib import Path

from volvelle.cli.row_validation import Answer, row_validation

__all__ = ["validate_hpcg"]


def _found(data: Path | None) -> Answer:
    from volvelle.applications.hpcg.measurements import hpcg_measurements  # noqa: PLC0415 - short start-up
    from volvelle.applications.hpcg.validation import validate_hpcg as validate  # noqa: PLC0415 - short start-up
    from volvelle.applications.scores import row_document  # noqa: PLC0415 - short start-up
    from volvelle.quantities import FLOP_PER_SECOND  # noqa: PLC0415 - short start-up

    found = validate(hpcg_measurements(data))
    return found, row_document(found), FLOP_PER_SECOND


validate_hpcg = row_validation(
    "hpcg",
    _found,
    short="HPCG against published runs.",
    says="Predict the rate of every measured HPCG run; held-out and calibration rows apart.",
)
