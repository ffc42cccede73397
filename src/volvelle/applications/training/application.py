"""Training of language models as an application: whole steps, and the layouts that were chosen for them."""

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from volvelle.applications.contract import Application
from volvelle.applications.fitted_constants import Fit
from volvelle.applications.measured_table import CalibrationRows, MeasuredTable
from volvelle.applications.scores import Finding, RowValidation
from volvelle.applications.training.fit import FAMILIES, fit_training
from volvelle.applications.training.fits_findings import fits_findings
from volvelle.applications.training.layouts import LAYOUT_GROUPS, layout_findings
from volvelle.applications.training.left_out import left_out_findings
from volvelle.applications.training.measurements import TrainingMeasurement, training_measurements
from volvelle.applications.training.pairs import pair_findings
from volvelle.applications.training.printed_memory import printed_findings
from volvelle.applications.training.ran_or_failed import tried_findings
from volvelle.applications.training.rows import TrainingQuestion, training_question
from volvelle.base.option_kinds import Words
from volvelle.base.question import option
from volvelle.catalogue import Catalogue
from volvelle.estimators.contract import Estimator
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import UnderUncertainty
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.questions.applications import FAMILY, CalibrateQuestion
from volvelle.workload.training import TrainingStep

_SAMPLES = 32
"""Of the machine's uncertain numbers, for the range of each prediction."""


class CalibrateTraining(CalibrateQuestion):
    """Options of a fit of training steps."""

    family: str = option(FAMILY, kind=Words(tuple(sorted(FAMILIES))), default="ampere")


class Training(Application[TrainingMeasurement, TrainingStep, ParallelMapping, None]):
    """Whole training steps against published runs."""

    word: ClassVar[str] = "training"
    about: ClassVar[str] = "Training steps against published runs."
    unit: ClassVar[str] = "seconds per step"
    calibrates: ClassVar[str] = "Fit the share of peak that a GPU family sustains in whole steps. Takes a minute."
    fit_options: ClassVar[type[CalibrateQuestion]] = CalibrateTraining

    rows = staticmethod(training_measurements)
    question = staticmethod(training_question)

    def estimator(self, calibration: None = None) -> Estimator[TrainingStep, ParallelMapping]:
        """The closed form, with its range."""
        return UnderUncertainty(estimator=ClosedForm(), samples=_SAMPLES)

    def measured(self, row: TrainingMeasurement) -> float | None:
        """Seconds a step."""
        return row.seconds

    def fitted(
        self, rows: CalibrationRows[TrainingMeasurement], catalogue: Catalogue, question: CalibrateTraining
    ) -> Fit:
        """Constants of one family of chips."""
        return fit_training(question.family, rows, catalogue)

    def findings(self, validation: RowValidation) -> Iterable[Finding]:
        """New rows, new releases, new sources; and whether runs that ran fit."""
        yield from left_out_findings(validation)
        yield from fits_findings(validation)
        if {*validation.splits} - {"given"}:  # a table of one's own, or an empty one, is told nothing of others' memory
            yield from tried_findings()
            yield from printed_findings()

    def label(self, row: TrainingMeasurement, question: TrainingQuestion) -> str:
        """The model and its machine."""
        return f"{row.model or f'{row.layers} layers of {row.hidden}'} on {row.chips} {row.accelerator}"


class Layouts(Training):
    """Whether the layout ranked first was the fastest, of runs that differ only in their layout."""

    word: ClassVar[str] = "layouts"
    about: ClassVar[str] = "Whether the layout ranked first was the fastest."
    calibrates: ClassVar[str] = ""

    def rows(self, file: Path | None = None) -> MeasuredTable[TrainingMeasurement]:
        """Publications that time one model in many layouts; of a file all rows."""
        table = training_measurements(file)
        return table if file is not None else table.only(LAYOUT_GROUPS)

    def estimator(self, calibration: None = None) -> Estimator[TrainingStep, ParallelMapping]:
        """The closed form alone: ranges rank nothing."""
        return ClosedForm()

    def findings(self, validation: RowValidation) -> Iterable[Finding]:
        """Sets of runs that differ only in their layout, and how well the first choice does."""
        yield from layout_findings(validation)
        yield from pair_findings(validation)


TRAINING = Training()
LAYOUTS = Layouts()
