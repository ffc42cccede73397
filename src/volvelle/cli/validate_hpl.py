"""``volvelle validate hpl``."""

from pathlib import Path

from volvelle.cli.row_validation import Answer, row_validation

__all__ = ["validate_hpl"]


def _found(data: Path | None) -> Answer:
    from volvelle.applications.hpl.measurements import hpl_measurements  # noqa: PLC0415 - short start-up
    from volvelle.applications.hpl.validation import hpl_document  # noqa: PLC0415 - short start-up
    from volvelle.applications.hpl.validation import validate_hpl as validate  # noqa: PLC0415 - short start-up
    from volvelle.quantities import FLOP_PER_SECOND  # noqa: PLC0415 - short start-up

    found = validate(hpl_measurements(data))
    return found, hpl_document(found), FLOP_PER_SECOND


validate_hpl = row_validation(
    "hpl",
    _found,
    short="High-Performance Linpack against published runs and the TOP500.",
    says="Predict the rate of every measured run, panel by panel; held-out and calibration rows apart.",
)
