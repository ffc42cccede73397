"""A validation of rows as a person reads it: by split, by publication, worst rows first."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from volvelle.applications.contract import Application
from volvelle.applications.scores import Finding, RowScore, RowValidation
from volvelle.quantities import Quantity, show
from volvelle.report.terminal import WIDTH, show_table, wide_console

__all__ = [
    "PLAN_WIDTH",
    "print_finding",
    "print_validation",
    "score_cells",
    "shown_figure",
    "validation_markdown",
]

PLAN_WIDTH = 80
"""Columns of a plan, and of its tables."""
SCORE_COLUMNS = ("rows", "skipped", "median error", "mean error", "bias", "in range")
_SCORE = ("rows", "skipped", "median", "mean", "bias", "in range")
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
        (score.median_abs_error, ".1%"),
        (score.mean_abs_error, ".1%"),
        (score.bias, "+.1%"),
        (score.coverage, ".0%"),
    )
    return (
        str(score.rows),
        str(score.skipped),
        *("–" if math.isnan(value) else format(value, form) for value, form in errors),
    )


def print_validation(
    application: Application[Any, Any, Any, Any], validation: RowValidation, *, worst: int, **options: Any
) -> None:
    """What the application finds, scores by split and by publication, the rows furthest off, and why some are not."""
    findings = tuple(application.findings(validation))
    for line in (line for finding in findings for line in finding.lines):
        wide_console().print(line)
    shown = application.narrowed(validation, **options)
    show_table("all rows", ("split",), _SCORE, ((split, *score_cells(shown.overall(split))) for split in shown.splits))
    for split in shown.splits:
        within, scores = _groups(shown, split)
        if split != "excluded" and scores:
            rows = ((*_named(score, within), *score_cells(score)) for score in scores)
            show_table(f"{split} rows by publication, worst first", ("group", *within), _SCORE, rows)
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
                    f"{row.error:+.0%}",
                    {True: "yes", False: "no", None: "–"}[row.inside],
                )
                for row in shown.worst_first()[:worst]
            ),
        )
    if shown.skipped:
        splits = _splits_of_reasons(shown)
        show_table("rows not scored", ("reason",), splits, _reasons(shown, splits))


def _groups(validation: RowValidation, split: str) -> tuple[tuple[str, ...], list[RowScore]]:
    """What tells rows of one publication apart, and the scores of a split: where something does, of scored rows."""
    scores = [score for score in validation.groups() if score.split == split]
    within = tuple(dict.fromkeys(name for score in scores for name in score.within))
    return within, [score for score in scores if score.rows or not within]


def _named(score: RowScore, within: Sequence[str]) -> tuple[str, ...]:
    return score.group, *(score.within.get(name, "") for name in within)


def _splits_of_reasons(validation: RowValidation) -> tuple[str, ...]:
    skipped = {row.split for row in validation.skipped}
    return tuple(split for split in validation.splits if split in skipped)


def _reasons(validation: RowValidation, splits: Sequence[str]) -> Iterable[tuple[str, ...]]:
    for reason, counts in validation.reasons().items():
        yield reason, *(str(counts.get(split, 0)) for split in splits)


def validation_markdown(application: Application[Any, Any, Any, Any], validation: RowValidation, **options: Any) -> str:
    """The tables of the documentation page."""
    lines = [line for finding in application.findings(validation) for line in finding.lines]
    lines += [""] if lines else []
    shown = application.narrowed(validation, **options)
    for split in shown.splits:
        within, scores = _groups(shown, split)
        if split == "excluded" or not scores:
            continue
        name, _, kind = split.partition("_")
        lines += [
            f"**{_NAMES[name]}{f', {kind}' if kind else ''} rows**, worst first",
            "",
            f"| {' | '.join(('publication', *within, *SCORE_COLUMNS))} |",
            f"| --- |{' --- |' * len(within)}{' ---: |' * len(SCORE_COLUMNS)}",
        ]
        lines += [f"| {' | '.join((*_named(score, within), *score_cells(score)))} |" for score in scores]
        blank = " |" * len(within)
        lines += [f"| **all** |{blank} {' | '.join(score_cells(shown.overall(split)))} |", ""]
    if shown.skipped:
        splits = _splits_of_reasons(shown)
        lines += [
            "**Rows not scored**",
            "",
            f"| reason | {' | '.join(splits)} |",
            f"| ---{' | ---:' * len(splits)} |",
            *(f"| {' | '.join(cells)} |" for cells in _reasons(shown, splits)),
        ]
    return "\n".join(lines)
