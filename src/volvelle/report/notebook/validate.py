"""A validation as a notebook shows it."""

from volvelle.report.applications.documents import validation_document
from volvelle.report.applications.scores_text import (
    SCORE_COLUMNS,
    group_sheets,
    score_cells,
    shown_figure,
    unscored_sheet,
)
from volvelle.report.applications.validation_page import validation_picture
from volvelle.report.job.validation_text import goodput_document, goodput_sheets, scores
from volvelle.report.notebook.shown import Presentation, Shown, under
from volvelle.report.sheet import Sheet
from volvelle.verbs.validate import GoodputRuns, Validation


def _shown(validation: Validation) -> Shown:
    application, result = validation.application, validation.result
    given = set(result.splits) == {"given"}
    scores = Sheet(
        title="All rows",
        columns=("split", *SCORE_COLUMNS),
        rows=tuple((split, *score_cells(result.overall(split))) for split in result.splits),
        numbers=frozenset(SCORE_COLUMNS),
    )
    numbers = ("measured", "predicted", "error", "in range")
    rows = Sheet(
        title="Rows, furthest off first",
        columns=("row", "what", "split", *numbers),
        rows=tuple(
            (
                row.head.row_id,
                row.label,
                row.head.split,
                shown_figure(row.measured, application.quantity),
                shown_figure(row.predicted, application.quantity),
                f"{row.error:+.1%}",
                {True: "yes", False: "no", None: "–"}[row.inside],
            )
            for row in validation.rows
        ),
        numbers=frozenset(numbers),
    )
    skipped = (unscored_sheet(result),) if result.skipped else ()
    return Shown(
        title=f"Predictions of {application.word} against the rows given" if given else application.about,
        figures=[f"{len(result.rows):,} rows predicted, {len(result.skipped):,} not; {application.unit}"],
        pictures=(lambda width: validation_picture(application, result, width=width),) if result.rows else (),
        sheets=(scores, rows, *skipped),
        details=tuple(group_sheets(result, groups_are=application.groups_are).values()),
    )


def _document(validation: Validation) -> object:
    return validation_document(validation.application, validation.result)


def _goodput_shown(answer: GoodputRuns) -> Shown:
    runs, *others = goodput_sheets(answer.result, answer.figures, worst=len(answer.rows))
    found = scores(answer.result, answer.figures)
    said = f"{found['held']} of {found['scored']} intervals hold what was reported; mean width {found['mean_width']}"
    return Shown(title="Whole jobs against runs that were reported", figures=[said], sheets=(runs,), details=others)


def _goodput_document(answer: GoodputRuns) -> object:
    return goodput_document(answer.result, answer.figures)


GOODPUT_RUNS = Presentation(verb="validate", document=_goodput_document, rows=under("rows"), shown=_goodput_shown)
VALIDATION = Presentation(verb="validate", document=_document, rows=under("rows"), shown=_shown)
