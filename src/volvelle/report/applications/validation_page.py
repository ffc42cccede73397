"""A validation as a picture, and as a page that needs no other file."""

from collections.abc import Sequence

from volvelle.applications.contract import AnyApplication
from volvelle.applications.scores import RowValidation, ScoredRow
from volvelle.quantities import SECONDS, percent
from volvelle.report.applications.scores_text import (
    SCORE_COLUMNS,
    group_sheets,
    score_cells,
    shown_figure,
    unscored_sheet,
)
from volvelle.report.figures.curves import curve_panels
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.scatter import Mark, Point, scatter
from volvelle.report.figures.theme import BLUE, GREY, RUST, VIOLET, WIDE
from volvelle.report.page.builder import page
from volvelle.report.page.parts import Cell, Grid, Headline, Picture, Row, Section, Words
from volvelle.report.sheet import Sheet

_HELD_OUT = Mark(name="held-out", colour=RUST, shape="diamond")
_MARKS = {
    "calibration": Mark(name="calibration", colour=BLUE, shape="circle"),
    "calibration_noisy": Mark(name="noisy calibration", colour=GREY, shape="square"),
    "given": Mark(name="given", colour=VIOLET, shape="triangle"),
}


_DRAWN, _LISTED = 2_000, 1_000
"""Rows that the picture of a page shows and its table lists; a page of all of ten thousand would be too heavy."""


def validation_picture(
    application: AnyApplication, validation: RowValidation, *, most: int | None = None, width: float = WIDE
) -> Chart:
    """Predicted against measured figures, of `most` rows spread evenly, held-out rows on top; or runs over time."""
    kind = application.quantity
    curves = application.curves(validation)
    if curves:
        return curve_panels(curves, title=_title(application), said="Logs and their replays.", width=width)
    points = [
        Point(
            measured=row.measured,
            predicted=row.predicted,
            mark=_MARKS.get(row.head.split, _HELD_OUT),
            label=f"{row.head.row_id} ({row.head.group}): {row.label}: measured {shown_figure(row.measured, kind)}, "
            f"predicted {shown_figure(row.predicted, kind)} ({percent(row.error, 0, signed=True)})",
        )
        for row in sorted(_some(validation, most), key=lambda row: not row.head.split.startswith("calibration"))
    ]
    unit = "in SI units" if kind is None else kind.base
    above = "too slow" if kind is SECONDS else "too large"
    return scatter(points, title=_title(application), quantity=application.figure, unit=unit, above=above, width=width)


def _some(validation: RowValidation, most: int | None) -> Sequence[ScoredRow]:
    """Rows spread evenly over all, those furthest off among them."""
    rows = validation.worst_first()
    if most is None or len(rows) <= most:
        return validation.rows
    return [*rows[: most // 2], *rows[most // 2 :: -(-(len(rows) - most // 2) // (most // 2))]]


def validation_page(application: AnyApplication, validation: RowValidation, *, command: str = "") -> str:
    """The picture, all publications, all rows furthest off first, and those that were not scored."""
    totals = [score for score in map(validation.overall, validation.splits) if score.rows]
    scores = Headline(
        value=score_cells(totals[0])[2] if totals else "no rows",
        says=f"median error of {totals[0].rows:,} {_plain(totals[0].split)} rows" if totals else "could be scored",
        figures=tuple(
            (score_cells(score)[2], f"median error of {score.rows:,} {_plain(score.split)} rows")
            for score in totals[1:]
        ),
        fails=not totals,
    )
    findings = (
        Sheet(
            title=finding.title,
            columns=(*finding.words, *finding.numbers),
            rows=finding.cells,
            numbers=frozenset(finding.numbers),
        )
        for finding in application.findings(validation)
        if finding.title
    )
    count = len(validation.rows)
    left_out = f"{_DRAWN:,} of {count:,} rows, those furthest off among them." if count > _DRAWN else ""
    drawn = Picture(
        draw=lambda width: validation_picture(application, validation, most=_DRAWN, width=width), caption=left_out
    )
    groups = group_sheets(validation, groups_are=application.groups_are)
    said = tuple(line for finding in application.findings(validation) for line in finding.lines)
    sections = [
        Section(title="", anchor="answer", parts=(scores, *map(Words, said), drawn)),
        *(_section(sheet, f"group-{split}", _group_grid(validation, sheet, split)) for split, sheet in groups.items()),
        *(_section(sheet, f"finding-{place}", Grid.of(sheet)) for place, sheet in enumerate(findings, start=1)),
        Section(title="Rows, furthest off first", anchor="rows", parts=(_rows(application, validation),)),
    ]
    if validation.skipped:
        left = unscored_sheet(validation)
        sections.append(_section(left, "unscored", Grid.of(left)))
    return page(
        title=_title(application),
        lead="Predictions with the catalogue's frozen constants against published measurements; held-out rows were not "
        "fitted to.",
        verb="volvelle validate",
        sections=sections,
        command=command,
    )


def _section(sheet: Sheet, anchor: str, grid: Grid) -> Section:
    title = _plain(sheet.title)
    return Section(title=f"{title[0].upper()}{title[1:]}", anchor=anchor, parts=(grid,))


def _plain(text: str) -> str:
    """The name of a split as people write it."""
    return text.replace("heldout_secondary", "secondary held-out").replace("heldout", "held-out").replace("_", " ")


def _group_grid(validation: RowValidation, sheet: Sheet, split: str) -> Grid:
    """Scores by group; those that are numbers can be sorted."""
    first = len(sheet.columns) - len(SCORE_COLUMNS)

    def cell(place: int, text: str) -> Cell:
        digits = text.rstrip("%").replace(",", "")
        numeric = place >= first and digits not in ("–", "")
        return Cell(text=text, value=float(digits) if numeric else None)

    rows = tuple(Row(cells=tuple(cell(place, text) for place, text in enumerate(cells))) for cells in sheet.rows)
    return Grid(title=sheet.title, columns=sheet.columns, rows=rows, numbers=sheet.numbers)


def _rows(application: AnyApplication, validation: RowValidation) -> Grid:
    shown = ("measured", "predicted", "80 % range", "error")
    rows = validation.worst_first()
    more = f" The {_LISTED:,} furthest off of {len(rows):,}; --json has all." if len(rows) > _LISTED else ""
    return Grid(
        title="Rows, furthest off first",
        columns=("row", "publication", "split", "what", *shown, "assumed", "source"),
        rows=tuple(Row(cells=_cells(application, row), marks=f"{row.head.row_id} (") for row in rows[:_LISTED]),
        numbers=frozenset(shown),
        note=f"The range: inputs in doubt, and what calibration rows were off.{more}",
    )


def _title(application: AnyApplication) -> str:
    return application.about.rstrip(".")


def _cells(application: AnyApplication, row: ScoredRow) -> tuple[str | Cell, ...]:
    kind = application.quantity
    ends = [] if row.low is None or row.high is None else [shown_figure(end, kind) for end in (row.low, row.high)]
    return (
        row.head.row_id,
        row.head.group,
        row.head.split,
        row.label,
        *(Cell(text=shown_figure(number, kind), value=number) for number in (row.measured, row.predicted)),
        " … ".join(ends) or "–",
        Cell(text=percent(row.error, 1, signed=True), value=abs(row.error)),
        "; ".join(row.assumed),
        row.head.source,
    )
