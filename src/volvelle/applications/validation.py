"""Any application held against its measured rows."""

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, TypeVar, get_args

from volvelle.applications.contract import AnyApplication, Application
from volvelle.applications.measured_table import MeasuredTable, Row, Split
from volvelle.applications.scores import RowValidation, ScoredRow, SkippedRow
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.estimators.contract import Estimator
from volvelle.questions.applications import ValidateQuestion

Work = TypeVar("Work")
Decision = TypeVar("Decision")


def rows_of(application: AnyApplication, question: ValidateQuestion) -> MeasuredTable[Any]:
    """Return the measured rows that a question is about."""
    return application.asked_rows(question).only((question.group,) if question.group else ())


def validate(
    application: Application[Row, Work, Decision, Any],
    table: MeasuredTable[Row] | None = None,
    *,
    catalogue: Catalogue | None = None,
    estimator: Estimator[Work, Decision] | None = None,
    interval: tuple[float, float] | None = None,
    splits: Iterable[Split] | None = None,
    advance: Callable[[], None] | None = None,
) -> RowValidation:
    """Predict every row that can be, and say of every other why not.

    Low and high are the estimator's own range where it gives one, or `interval` times the prediction, such as
    ``(0.85, 1.2)``. `estimator` stands in for the application's own. With `splits`, other rows are left out
    altogether. `advance` is called after every row.
    """
    table = application.rows() if table is None else table
    catalogue = Catalogue() if catalogue is None else catalogue
    wanted = set(get_args(Split) if splits is None else splits)
    scored: list[ScoredRow] = []
    skipped = [SkippedRow.of(row, row.reason) for row in table.unread if row.split in wanted]
    for row in table.rows:
        if row.head.split in wanted:
            outcome = scored_row(application, row, catalogue, estimator=estimator, interval=interval)
            if isinstance(outcome, ScoredRow):
                scored.append(outcome)
            else:
                skipped.append(outcome)
        if advance is not None:
            advance()
    return RowValidation(unit=application.unit, rows=tuple(scored), skipped=tuple(skipped))


def scored_row(
    application: Application[Row, Work, Decision, Any],
    row: Row,
    catalogue: Catalogue,
    *,
    estimator: Estimator[Work, Decision] | None = None,
    interval: tuple[float, float] | None = None,
) -> ScoredRow | SkippedRow:
    """One row with its prediction, or why there is none."""
    within = application.within(row)
    try:
        question = application.question(row, catalogue)
        if isinstance(question, str):
            return SkippedRow.of(row.head, question, within)
    except VolvelleError as error:
        return SkippedRow.of(row.head, str(error), within)
    try:
        if estimator is None:
            estimate = application.answer(question).first
        else:
            estimate = estimator.rank(question.candidates, question.system, top=1).first
    except VolvelleError as error:
        return SkippedRow.of(row.head, f"the model refuses: {error}", within)
    measured = application.measured(row)
    assert measured is not None, "a row that states nothing puts no question"
    figure = application.predicted(row, estimate)
    if not isfinite(figure.value) or figure.value <= 0:
        return SkippedRow.of(row.head, f"the model gives no {application.figure}", within)
    told = None if figure.range is None else figure.range.wider(figure.value, question.unstated)
    low, high = (None, None) if told is None else (told.low, told.high)
    if interval is not None:
        low, high = (factor * figure.value for factor in interval)
    return ScoredRow(
        row=row,
        label=application.label(row, question),
        measured=measured,
        predicted=figure.value,
        low=low,
        high=high,
        estimate=estimate,
        assumed=question.assumed,
        outside_calibration=question.outside,
        within=within,
        details=application.details(row),
    )
