"""How texts look on a terminal: one width, one kind of table."""

import sys
from collections.abc import Collection, Iterable

from rich.console import Console
from rich.table import Table

__all__ = ["WIDTH", "plain_table", "wide_console"]

WIDTH = 100
"""Columns that a text takes at the most."""


def wide_console(width: int = WIDTH, *, console: Console | None = None) -> Console:
    """A console that is at most so wide."""
    console = console or Console(highlight=False, width=None if sys.stdout.isatty() else width)
    console.width = min(console.width, width)
    return console


def plain_table(
    title: str,
    columns: Iterable[str],
    rows: Iterable[Iterable[object]] = (),
    *,
    numbers: Collection[str] = (),
    folded: Collection[str] = (),
    dim: Collection[str] = (),
) -> Table:
    """A table without lines: numbers to the right, words on one line but for columns that may be folded."""
    above = f"\n{title}" if title else None
    table = Table(title=above, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in columns:
        table.add_column(
            name,
            justify="right" if name in numbers else "left",
            no_wrap=name not in folded,
            overflow="fold" if name in folded else "ellipsis",
            style="dim" if name in dim else "",
        )
    for row in rows:
        table.add_row(*row)  # type: ignore[arg-type]
    return table
