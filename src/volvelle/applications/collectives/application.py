"""Collective communication as an application."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from volvelle.applications.collectives.collective_error import LONG
from volvelle.applications.collectives.fit import fit_collectives
from volvelle.applications.collectives.measurements import CollectiveMeasurement, collective_measurements
from volvelle.applications.collectives.prediction import (
    Collective,
    CollectiveQuestion,
    CollectiveTime,
    collective_question,
)
from volvelle.applications.contract import Application
from volvelle.applications.fitted_constants import Fit
from volvelle.applications.measured_table import CalibrationRows, Split
from volvelle.applications.scores import Finding, RowValidation
from volvelle.base.option_kinds import Switch
from volvelle.base.question import Option, option
from volvelle.catalogue import Catalogue
from volvelle.estimators.contract import Estimator
from volvelle.quantities import BYTES, percent, show
from volvelle.questions.applications import CalibrateQuestion, ValidateQuestion

TARGET = 0.15
"""Median absolute error on held-out rows that was asked for, above LONG."""
_SHOWN: tuple[Split, ...] = ("heldout", "calibration")


class ValidateCollectives(ValidateQuestion):
    """Options of a validation of collectives."""

    all_sizes: bool = option(
        Option("--all-sizes", "Score messages of all sizes, not only those above 1 MB.", kind=Switch()), default=False
    )


class Collectives(Application[CollectiveMeasurement, Collective, str, None]):
    """Collectives and messages, against nccl-tests and the like."""

    word: ClassVar[str] = "collectives"
    about: ClassVar[str] = "Collective communication against nccl-tests and the like."
    unit: ClassVar[str] = "seconds a collective"
    calibrates: ClassVar[str] = "Fit start-up latency, link latency, fill time and efficiency of links."
    validate_options: ClassVar[type[ValidateQuestion]] = ValidateCollectives

    rows = staticmethod(collective_measurements)
    question = staticmethod(collective_question)

    def estimator(self, calibration: None = None) -> Estimator[Collective, str]:
        """The laws of collectives."""
        return CollectiveTime()

    def measured(self, row: CollectiveMeasurement) -> float | None:
        """Seconds."""
        return row.time

    def fitted(
        self, rows: CalibrationRows[CollectiveMeasurement], catalogue: Catalogue, question: CalibrateQuestion
    ) -> Fit:
        """Constants of links."""
        return fit_collectives(rows, catalogue)

    def label(self, row: CollectiveMeasurement, question: CollectiveQuestion) -> str:
        """The operation, its size and the machine."""
        return f"{row.operation} of {show(question.work.size, BYTES)}, {row.chips} × {row.system}"

    def within(self, row: CollectiveMeasurement) -> Mapping[str, str]:
        """Rows of one publication are scored by system and operation."""
        return {"system": row.system, "op": row.operation}

    def details(self, row: CollectiveMeasurement) -> Mapping[str, object]:
        """What was exchanged."""
        return {"op": row.operation, "chips": row.chips, "size_bytes": row.size}

    def narrowed(self, validation: RowValidation, question: ValidateCollectives | None = None) -> RowValidation:
        """Return long messages, unless all sizes are asked for."""
        if question is not None and question.all_sizes:
            return validation
        return replace(validation, rows=tuple(row for row in validation.rows if _size(row.row) > LONG))

    def findings(self, validation: RowValidation) -> Iterable[Finding]:
        """The target, and how far off messages of all sizes are."""
        held = self.narrowed(validation).overall("heldout")
        verdict = "met" if held.median_abs_error <= TARGET else "not met"
        yield Finding(
            key="target",
            value={"split": "heldout", "above_bytes": LONG, "median_abs_error": TARGET},
            lines=()
            if not held.rows
            else (
                f"Held-out messages above 1 MB: median error {percent(held.median_abs_error)} over {held.rows} rows.",
                f"Target: a median of at most {percent(TARGET, 0)} on held-out rows, {verdict}.",
            ),
        )
        yield Finding(
            key="all_sizes",
            value={split: validation.overall(split).numbers() for split in _SHOWN},
        )


def _size(row: object) -> float:
    assert isinstance(row, CollectiveMeasurement), "collectives are scored by their own rows"
    return row.size or 0.0


COLLECTIVES = Collectives()
