"""A validation of rows as a person reads it: by split, by publication, worst rows first."""

import math
import sys
from collections.abc import Callable, Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from volvelle.applications.scores import RowScore, RowValidation

__all__ = ["PLAN_WIDTH", "print_rows", "rows_markdown", "show_table", "wide_console"]

_WIDTH = 100
PLAN_WIDTH = 80
"""Columns of a plan, and of its tables."""
_SCORE = ("rows", "skipped", "median", "mean", "bias", "in range")


def wide_console(width: int = _WIDTH) -> Console:
    """A console that is at most so wide."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else width)
    console.width = min(console.width, width)
    return console


def show_table(
    title: str, words: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str]], *, width: int = _WIDTH
) -> None:
    """Print a table: columns of words, then columns of numbers."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for name in words:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    wide_console(width).print(table)


def _cells(score: RowScore) -> tuple[str, ...]:
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


def print_rows(found: RowValidation, *, worst: int, show: Callable[[float], str]) -> None:
    """Scores by split, then by publication, then the rows furthest off; `show` writes a figure with its unit."""
    show_table("all rows", ("split",), _SCORE, ((split, *_cells(found.overall(split))) for split in found.splits))
    for split in found.splits:
        if split != "excluded":
            scores = [score for score in found.groups() if score.split == split]
            rows = ((score.group, *_cells(score)) for score in scores)
            show_table(f"{split} rows by publication, worst first", ("group",), _SCORE, rows)
    if worst and found.rows:
        show_table(
            "rows furthest off",
            ("row", "what", "split"),
            ("measured", "predicted", "error", "in range"),
            (
                (
                    each.head.row_id,
                    each.label,
                    each.head.split,
                    show(each.measured),
                    show(each.predicted),
                    f"{each.error:+.0%}",
                    "yes" if each.inside else "no",
                )
                for each in found.worst_first()[:worst]
            ),
        )
    if found.skipped:
        reasons = ((reason, str(count)) for reason, count in found.reasons().items())
        show_table("rows not scored", ("reason",), ("rows",), reasons)


def rows_markdown(found: RowValidation) -> str:
    """The tables of the documentation page."""
    lines = []
    for split in found.splits:
        if split == "excluded":
            continue
        lines += [
            f"**{split.replace('heldout', 'Held-out').replace('calibration', 'Calibration').replace('_', ', ')} rows**,"
            " worst first",
            "",
            "| publication | rows | skipped | median error | mean error | bias | in range |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        ]
        for score in (*(each for each in found.groups() if each.split == split), found.overall(split)):
            lines.append(f"| {score.group or '**all**'} | " + " | ".join(_cells(score)) + " |")
        lines.append("")
    lines += ["| rows not scored, because | rows |", "| --- | ---: |"]
    return "\n".join([*lines, *(f"| {reason} | {count} |" for reason, count in found.reasons().items())])
