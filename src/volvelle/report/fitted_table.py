"""A table that keeps all its columns however narrow the terminal is: words are folded before numbers are."""

from dataclasses import astuple, dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column, Table
from rich.text import Text

_LEAST = 6
"""Columns that words keep where there is no room for the longest of them."""

_AT_ONCE = 2
"""The stage in which numbers are folded."""


@dataclass(frozen=True, slots=True)
class _Room:
    """What a column takes, from much to little."""

    natural: int
    """All of a cell on one line."""
    unbroken: int
    """Words folded, but none broken; numbers on one line with their units."""
    folded: int
    """Numbers and their units on two lines."""
    least: int
    """Long words broken."""


class FittedTable(Table):
    """A table without lines whose columns share the width there is."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Columns as wide as fits, then drawn as any table."""
        self._fit(options.max_width)
        return super().__rich_console__(console, options)

    def _fit(self, width: int) -> None:
        rooms = [_room(column) for column in self.columns]
        widths = [room.natural for room in rooms]
        if self._taken(widths) <= width:
            return
        for stage, collapsed in ((1, False), (1, True), (2, True), (3, True)):
            self.collapse_padding |= collapsed
            if self._taken([astuple(room)[stage] for room in rooms]) <= width:
                break
        for reached in range(1, stage + 1):
            self._give(widths, [astuple(room)[reached] for room in rooms], width, at_once=reached == _AT_ONCE)
        for column, taken in zip(self.columns, widths, strict=True):
            column.width, column.no_wrap, column.overflow = taken, False, "fold"

    def _give(self, widths: list[int], floors: list[int], width: int, *, at_once: bool) -> None:
        """Take from the widest columns, but not more than down to their floors, until all of them fit.

        A number that does not stay on its line gives all it can at once, since it looks no better with less.
        """
        while self._taken(widths) > width:
            spare = [place for place, floor in enumerate(floors) if widths[place] > floor]
            if not spare:
                return
            if at_once:
                place = max(spare, key=lambda place: widths[place] - floors[place])
                widths[place] = floors[place]
            else:
                widths[max(spare, key=lambda place: widths[place])] -= 1

    def _taken(self, widths: list[int]) -> int:
        """Columns of a row, with what stands between its cells."""
        return sum(widths) + (len(widths) + 1 if self.collapse_padding else 2 * len(widths))


def _room(column: Column) -> _Room:
    if column.width is not None:
        return _Room(*[column.width] * 4)
    head, *cells = [cell.plain if isinstance(cell, Text) else str(cell) for cell in (column.header, *column.cells)]
    lines = [cell_len(line) for text in (head, *cells) for line in text.splitlines()]
    whole = max((cell_len(line) for text in cells for line in text.splitlines()), default=0)
    above = max((cell_len(word) for word in head.split()), default=0)
    number = column.justify == "right"
    longest = max((_halved(text) if number else _longest_word(text) for text in cells), default=0)
    folded = max(above, longest)
    least = max(min(above, _LEAST), longest if number else min(longest, _LEAST))
    return _Room(max(lines, default=0), max(above, whole) if number else folded, folded, least)


def _longest_word(text: str) -> int:
    return max((cell_len(word) for word in text.split()), default=0)


def _halved(text: str) -> int:
    """Columns in which a text takes two lines."""
    words = text.split()
    halves = ((" ".join(words[:cut]), " ".join(words[cut:])) for cut in range(len(words) + 1))
    return min(max(cell_len(first), cell_len(second)) for first, second in halves)
