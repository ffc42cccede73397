"""An answer as text on one screen."""

import io
from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.console import Console

from volvelle.report.notebook.shown import Shown
from volvelle.report.sheet import Sheet
from volvelle.report.terminal import plain_table

LINES, COLUMNS = 24, 100
"""Of a screen."""
_NARROW = 12
"""Columns that a cell keeps where it is cut."""
_LEAST = 5
"""Lines that a table needs to be worth beginning: a blank one, its title, its head, and two rows."""


def screen_text(shown: Shown) -> str:
    """At most 24 lines of 100 columns."""
    lines = [line for text in (shown.title, *shown.figures, *shown.warnings) for line in _wrapped(text)]
    for sheet in shown.sheets:
        room = LINES - len(lines)
        if room >= _LEAST and sheet.rows:
            lines += _table(sheet, room)
    return "\n".join(line.rstrip() for line in lines[:LINES])


def _wrapped(text: str) -> Iterator[str]:
    """Long words, such as paths, are cut."""
    yield from wrap(text, COLUMNS, subsequent_indent="  ", break_on_hyphens=False)


def _table(sheet: Sheet, room: int) -> list[str]:
    """The rows there is room for, and how many more there are."""
    most = room - 3
    kept = sheet.rows if len(sheet.rows) <= most else sheet.rows[: most - 1]
    table = plain_table(sheet.title, sheet.columns, kept, numbers=sheet.numbers)
    for column, width in zip(table.columns, _widths([sheet.columns, *kept]), strict=True):
        column.width = width
    # In a notebook rich would show the table by itself, beside the text it is wanted for.
    console = Console(file=io.StringIO(), width=COLUMNS, force_jupyter=False, force_terminal=False, markup=False)
    console.print(table, highlight=False)
    lines = console.file.getvalue().rstrip("\n").split("\n")  # type: ignore[attr-defined]
    more = len(sheet.rows) - len(kept)
    return [*lines, f"… {more:,} more: .to_frame()"] if more else list(lines)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Of columns: as wide as they are, and where a screen has no room for all, the last ones are cut first."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    over = sum(widths) + 2 * (len(widths) - 1) - COLUMNS
    for place in range(len(widths) - 1, -1, -1):
        cut = max(0, min(over, widths[place] - _NARROW))
        widths[place] -= cut
        over -= cut
    return widths
