"""``volvelle validate dlrm``."""

from pathlib import Path

from volvelle.cli.row_validation import Answer, row_validation

__all__ = ["validate_dlrm"]


def _found(data: Path | None) -> Answer:
    from volvelle.applications.dlrm.measurements import dlrm_measurements  # noqa: PLC0415 - short start-up
    from volvelle.applications.dlrm.validation import validate_dlrm as validate  # noqa: PLC0415 - short start-up
    from volvelle.applications.scores import row_document  # noqa: PLC0415 - short start-up
    from volvelle.quantities import SECONDS  # noqa: PLC0415 - short start-up

    found = validate(dlrm_measurements(data))
    return found, row_document(found), SECONDS


validate_dlrm = row_validation(
    "dlrm",
    _found,
    short="Recommendation models against published runs.",
    says="Predict every measured training step of a recommendation model; held-out and calibration rows apart.",
)
