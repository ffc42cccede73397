"""A validation of rows as a person reads it: by split, by publication, worst rows first."""

import math
from collections.abc import Sequence
from dataclasses import replace

from volvelle.applications.contract import AnyApplication
from volvelle.applications.measured_table import Split
from volvelle.applications.scores import Finding, RowScore, RowValidation
from volvelle.quantities import Quantity, percent, show
from volvelle.questions.applications import ValidateQuestion
from volvelle.report.sheet import Sheet, markdown_of
from volvelle.report.terminal import WIDTH, print_sheet, show_table, wide_console

PLAN_WIDTH = 80
"""Columns of a plan, and of its tables."""
SCORE_COLUMNS = ("rows", "skipped", "median error", "mean error", "bias", "in range")
MOST_GROUPS = 40
"""Groups of a split that a terminal or the documentation shows, worst first; JSON and the page have all."""
_MOST_COLUMNS = 2
"""Columns of words beside the group, beyond which they are written as one."""
_NAMES = {"heldout": "Held-out", "calibration": "Calibration", "given": "Given"}


def print_finding(finding: Finding, *, rows: int | None = None, width: int = WIDTH) -> None:
    """Its table, if it has one; the first rows of it where not all are asked for."""
    if finding.title and finding.cells:
        show_table(finding.title, finding.words, finding.numbers, finding.cells[:rows], width=width)


def shown_figure(value: float, kind: Quantity | None) -> str:
    """A measured or predicted figure in its unit."""
    return f"{value:.4g}" if kind is None else show(value, kind)


def score_cells(score: RowScore) -> tuple[str, ...]:
    """Rows, skipped rows, median and mean error, bias, and share in range as text."""
    errors = (
        (score.median_abs_error, percent(score.median_abs_error)),
        (score.mean_abs_error, percent(score.mean_abs_error)),
        (score.bias, percent(score.bias, signed=True)),
        (score.coverage, percent(score.coverage, 0)),
    )
    return (
        str(score.rows),
        str(score.skipped),
        *("–" if math.isnan(value) else shown for value, shown in errors),
    )


def group_sheets(validation: RowValidation, *, groups_are: str, most: int | None = None) -> dict[Split, Sheet]:
    """Split → its scores by group, worst first, so many of them; of those that tell rows apart, what was scored."""
    sheets = dict[Split, Sheet]()
    for split in validation.splits:
        scores = [score for score in validation.groups() if score.split == split]
        within = tuple(dict.fromkeys(name for score in scores for name in score.within))
        rows = tuple(
            (score.group, *_joined([score.within.get(name, "") for name in within]), *score_cells(score))
            for score in scores
            if score.rows or not within
        )
        if split != "excluded" and rows:
            more = f": {most} of {len(rows)}" if most is not None and len(rows) > most else ""
            sheets[split] = Sheet(
                title=f"{split} rows by {groups_are}, worst first{more}",
                columns=(groups_are, *_joined(within, ", "), *SCORE_COLUMNS),
                rows=rows[:most],
                numbers=frozenset(SCORE_COLUMNS),
            )
    return sheets


def _joined(cells: Sequence[str], between: str = " ") -> Sequence[str]:
    """The cells of columns, in one where a terminal has no room for so many."""
    return [between.join(cells)] if len(cells) > _MOST_COLUMNS else cells


def unscored_sheet(validation: RowValidation) -> Sheet:
    """Why rows were not scored, and how many of each split."""
    skipped = {row.split for row in validation.skipped}
    splits = tuple(split for split in validation.splits if split in skipped)
    rows = tuple(
        (reason, *(str(counts.get(split, 0)) for split in splits)) for reason, counts in validation.reasons().items()
    )
    return Sheet(title="rows not scored", columns=("reason", *splits), rows=rows, numbers=frozenset(splits))


def print_validation(
    application: AnyApplication, validation: RowValidation, question: ValidateQuestion | None = None, *, worst: int
) -> None:
    """What the application finds, scores by split and by publication, the rows furthest off, and why some are not."""
    findings = tuple(application.findings(validation))
    for line in (line for finding in findings for line in finding.lines):
        wide_console().print(line)
    shown = application.narrowed(validation, question)
    scores = ((split, *score_cells(shown.overall(split))) for split in shown.splits)
    show_table("all rows", ("split",), SCORE_COLUMNS, scores)
    for sheet in group_sheets(shown, groups_are=application.groups_are, most=MOST_GROUPS).values():
        print_sheet(sheet, most=WIDTH)
    for finding in findings:
        print_finding(finding, rows=worst)
    if worst and shown.rows:
        show_table(
            "rows furthest off",
            ("row", "what", "group", "split"),
            ("measured", "predicted", "error", "in range"),
            (
                (
                    row.head.row_id,
                    row.label,
                    row.head.group,
                    row.head.split,
                    shown_figure(row.measured, application.quantity),
                    shown_figure(row.predicted, application.quantity),
                    f"{percent(row.error, 0, signed=True)}",
                    {True: "yes", False: "no", None: "–"}[row.inside],
                )
                for row in shown.worst_first()[:worst]
            ),
        )
    if shown.skipped:
        print_sheet(unscored_sheet(shown), most=WIDTH)


def validation_markdown(
    application: AnyApplication, validation: RowValidation, question: ValidateQuestion | None = None
) -> str:
    """The tables of the documentation page."""
    lines = [line for finding in application.findings(validation) for line in finding.lines]
    lines += [""] if lines else []
    shown = application.narrowed(validation, question)
    for split, sheet in group_sheets(shown, groups_are=application.groups_are, most=MOST_GROUPS).items():
        name, _, kind = split.partition("_")
        blank = ("",) * (len(sheet.columns) - len(SCORE_COLUMNS) - 1)
        whole = ("**all**", *blank, *score_cells(shown.overall(split)))
        order = sheet.title.rpartition(", ")[2]
        lines.append(f"**{_NAMES[name]}{f', {kind}' if kind else ''} rows**, {order}\n")
        lines.append(markdown_of(replace(sheet, rows=(*sheet.rows, whole))))
    if shown.skipped:
        lines += ["**Rows not scored**\n", markdown_of(unscored_sheet(shown)).rstrip("\n")]
    return "\n".join(lines)
