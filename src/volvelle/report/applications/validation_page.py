"""A validation as a picture, and as a page that needs no other file."""

from dataclasses import replace

from volvelle.applications.contract import AnyApplication
from volvelle.applications.scores import RowValidation, ScoredRow
from volvelle.quantities import SECONDS, percent
from volvelle.report.applications.scores_text import group_sheets, score_cells, shown_figure, unscored_sheet
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.scatter import Mark, Point, scatter
from volvelle.report.figures.theme import BLUE, GREY, RUST, VIOLET, WIDE
from volvelle.report.page.builder import page
from volvelle.report.sheet import Sheet

_HELD_OUT = Mark(name="held-out", colour=RUST, shape="diamond")
_MARKS = {
    "calibration": Mark(name="calibration", colour=BLUE, shape="circle"),
    "calibration_noisy": Mark(name="noisy calibration", colour=GREY, shape="square"),
    "given": Mark(name="given", colour=VIOLET, shape="triangle"),
}


def validation_picture(application: AnyApplication, validation: RowValidation, *, width: float = WIDE) -> Chart:
    """Predicted against measured figures; held-out rows lie on top."""
    kind = application.quantity
    points = [
        Point(
            measured=row.measured,
            predicted=row.predicted,
            mark=_MARKS.get(row.head.split, _HELD_OUT),
            label=f"{row.head.row_id} ({row.head.group}): {row.label}: measured {shown_figure(row.measured, kind)}, "
            f"predicted {shown_figure(row.predicted, kind)} ({percent(row.error, 0, signed=True)})",
        )
        for row in sorted(validation.rows, key=lambda row: not row.head.split.startswith("calibration"))
    ]
    unit = "in SI units" if kind is None else kind.base
    above = "too slow" if kind is SECONDS else "too large"
    return scatter(points, title=_title(application), quantity=application.figure, unit=unit, above=above, width=width)


def validation_page(application: AnyApplication, validation: RowValidation) -> str:
    """The picture, all publications, all rows furthest off first, and those that were not scored."""
    shown = ("measured", "predicted", "low", "high", "error")
    rows = Sheet(
        title="Rows, furthest off first",
        columns=("row", "publication", "split", "what", *shown, "assumed", "source"),
        rows=tuple(_cells(application, row) for row in validation.worst_first()),
        numbers=frozenset(shown),
        note="Low and high are the 80 % range: uncertain inputs, and how far calibration rows were off.",
    )
    findings = tuple(
        Sheet(
            title=finding.title,
            columns=(*finding.words, *finding.numbers),
            rows=finding.cells,
            numbers=frozenset(finding.numbers),
        )
        for finding in application.findings(validation)
        if finding.title
    )
    totals = [validation.overall(split) for split in validation.splits]
    lead = "; ".join(f"{score.split}: median error {score_cells(score)[2]} over {score.rows} rows" for score in totals)
    return page(
        title=_title(application),
        lead=lead,
        picture=lambda width: validation_picture(application, validation, width=width),
        sheets=tuple(
            replace(sheet, title=f"{sheet.title[0].upper()}{sheet.title[1:]}")
            for sheet in (
                *group_sheets(validation, groups_are=application.groups_are).values(),
                *findings,
                rows,
                unscored_sheet(validation),
            )
        ),
    )


def _title(application: AnyApplication) -> str:
    return application.about.rstrip(".")


def _cells(application: AnyApplication, row: ScoredRow) -> tuple[str, ...]:
    numbers = (row.measured, row.predicted, row.low, row.high)
    return (
        row.head.row_id,
        row.head.group,
        row.head.split,
        row.label,
        *("–" if number is None else shown_figure(number, application.quantity) for number in numbers),
        f"{percent(row.error, 1, signed=True)}",
        "; ".join(row.assumed),
        row.head.source,
    )
