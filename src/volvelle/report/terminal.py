"""How texts look on a terminal: one width, one kind of table."""

from collections.abc import Collection, Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from volvelle.report.fitted_table import FittedTable
from volvelle.report.sheet import Sheet

WIDTH = 100
"""Columns that a text takes at the most."""
MORE = "more without --brief"
"""The last line of a brief answer."""


def wide_console(width: int = WIDTH, *, console: Console | None = None) -> Console:
    """A console as wide as the terminal, COLUMNS or 80 say, and at most so wide."""
    console = console or Console(highlight=False)
    console.width = min(console.width, width)
    return console


def plain_table(
    title: str,
    columns: Iterable[str],
    rows: Iterable[Iterable[object]] = (),
    *,
    numbers: Collection[str] = (),
    folded: Collection[str] = (),
) -> Table:
    """A table without lines: numbers to the right, words on one line but for columns that may be folded."""
    above = f"\n{title}" if title else None
    table = FittedTable(title=above, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in columns:
        table.add_column(
            name,
            justify="right" if name in numbers else "left",
            no_wrap=name not in folded,
            overflow="fold" if name in folded else "ellipsis",
        )
    for row in rows:
        table.add_row(*row)  # type: ignore[arg-type]
    return table


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """A brief answer, and that there is more."""
    for line in lines:
        console.print(line, markup=False)
    console.print(MORE, style="dim")


def print_notes(console: Console, notes: Iterable[str], *, but: Collection[str] = ()) -> None:
    """What was assumed, under an answer; but for what was said above."""
    for index, note in enumerate(note for note in notes if note not in but):
        console.print(Text(note if index else f"\n{note}", style="dim"))


def print_answer(
    title: str,
    lines: Iterable[str],
    sheets: Iterable[Sheet],
    notes: Iterable[str],
    *,
    folded: Collection[str],
    brief: bool = False,
) -> None:
    """A title, the figures as lines, tables and what was assumed; briefly, title and figures alone."""
    console = wide_console(console=Console(highlight=False))
    if brief:
        print_lines(console, [title, *lines])
        return
    console.print(title, style="bold", markup=False)
    for line in lines:
        console.print(line, markup=False)
    for sheet in sheets:
        console.print(plain_table(sheet.title, sheet.columns, sheet.rows, numbers=sheet.numbers, folded=folded))
        if sheet.note:
            console.print(sheet.note, style="dim", markup=False)
    print_notes(console, notes)


def print_sheet(sheet: Sheet, *, most: int = WIDTH) -> None:
    """A table and its note, at most so many columns wide."""
    console = wide_console(most)
    console.print(plain_table(sheet.title.strip(), sheet.columns, sheet.rows, numbers=sheet.numbers))
    if sheet.note:
        console.print(sheet.note, style="dim italic", markup=False)


def show_table(
    title: str, words: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str]], *, width: int = WIDTH
) -> None:
    """A table of columns of words, then columns of numbers."""
    cells = tuple(tuple(row) for row in rows)
    print_sheet(
        Sheet(title=title, columns=(*words, *numbers), rows=cells, numbers=frozenset(numbers)),
        most=width,
    )
