"""What pages are made of, each as a value that knows its HTML: headline, pictures, tables, facts, words, commands."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

from volvelle.report.figures.engine import Chart
from volvelle.report.figures.rendering import svg
from volvelle.report.figures.theme import NARROW, WIDE
from volvelle.report.sheet import Sheet

Drawing = Callable[[float], Chart]
"""Draws a picture so many pixels wide."""
_LONG = 34
"""Letters of a cell from which on it may be broken into lines."""
_SOME = 16
"""Letters of a cell from which on it may take two lines where a table is wide."""
_FILTERED = 20
"""Rows from which on a table can be searched."""


def _grown(picture: str, by: float) -> str:
    """A picture as large as the page has room for, whatever part of its width it takes."""
    return re.sub(
        r'(?<= )(width|height)="([\d.]+)"', lambda found: f'{found[1]}="{float(found[2]) * by:.0f}"', picture, count=2
    )


class Part(Protocol):
    """A part of a page."""

    def html(self) -> str:
        """As it stands in the page; its words are escaped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell of a table that is more than its words."""

    text: str
    link: str = ""
    """Where a click leads: another place, or ``#id`` on the page."""
    value: float | None = None
    """The number that rows are sorted by."""
    copied: bool = False
    """A command: shown as one, with a button that copies it."""

    def html(self) -> str:
        """What is inside the cell."""
        words = escape(self.text)
        if self.copied:
            return f'<span class="line"><code>{_unbroken(self.text)}</code></span>'
        if self.link.startswith("#"):
            return f'<a href="{escape(self.link)}">{words}</a>'
        return f'<a href="{escape(self.link)}" rel="noreferrer">{words}</a>' if self.link else words


def _unbroken(command: str) -> str:
    """A command whose words are not broken at their hyphens."""
    return " ".join(f"<span>{escape(word)}</span>" for word in command.split(" "))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table."""

    cells: tuple[str | Cell, ...]
    chosen: bool = False
    """What the page recommends."""
    marks: str = ""
    """How the words of those marks in pictures begin that show the same; empty: none does."""
    anchor: str = ""
    faint: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table; where cells have values it can be sorted, and where it is long, searched."""

    title: str
    """Read out where it cannot be seen."""
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    numbers: frozenset[str] = frozenset()
    note: str = ""

    @classmethod
    def of(cls, sheet: Sheet, *, title: str = "") -> "Grid":
        """A table of words alone."""
        rows = tuple(Row(cells=cells) for cells in sheet.rows)
        return cls(title=title or sheet.title, columns=sheet.columns, rows=rows, numbers=sheet.numbers, note=sheet.note)

    def html(self) -> str:
        """A table that scrolls by itself where the page is narrower."""
        valued = [
            any(isinstance(row.cells[at], Cell) and row.cells[at].value is not None for row in self.rows)  # type: ignore[union-attr]
            for at in range(len(self.columns))
        ]
        kinds = [' class="n"' if name in self.numbers else "" for name in self.columns]
        head = "".join(
            f'<th scope="col"{kind}{" data-sort" if sorts else ""}>{escape(name)}</th>'
            for kind, name, sorts in zip(kinds, self.columns, valued, strict=True)
        )
        body = "\n".join(self._row(row) for row in self.rows)
        searched = " data-search" if len(self.rows) >= _FILTERED else ""
        note = f'<p class="note">{escape(self.note)}</p>' if self.note else ""
        return (
            f'{note}<div class="scroll" tabindex="0" role="region" aria-label="{escape(self.title or "table")}">'
            f"<table{searched}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
        )

    def _row(self, row: Row) -> str:
        words = " ".join(word for word, on in (("chosen", row.chosen), ("faint", row.faint)) if on)
        said = f' class="{words}"' if words else ""
        said += f' id="{escape(row.anchor)}"' if row.anchor else ""
        said += f' data-marks="{escape(row.marks)}"' if row.marks else ""
        cells = (self._cell(name, cell) for name, cell in zip(self.columns, row.cells, strict=True))
        return f"<tr{said}>{''.join(cells)}</tr>"

    def _cell(self, name: str, cell: str | Cell) -> str:
        shown = cell if isinstance(cell, Cell) else Cell(text=cell)
        valued = shown.value is not None  # aligned as a number by that
        numeric = name in self.numbers
        letters = 0 if numeric else len(shown.text)
        words = ["n"] if numeric and not valued else ["long"] * (letters > _LONG) or ["some"] * (letters > _SOME)
        said = f' class="{words[0]}"' if words else ""
        said += f' data-value="{shown.value:.5g}"' if valued else ""
        return f"<td{said}>{shown.html()}</td>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture, drawn for a desk and for a telephone; the page's script makes its marks answer."""

    draw: Drawing
    caption: str = ""
    at_its_size: bool = False
    """Drawn once, and moved under the page's width where it is wider."""

    def html(self) -> str:
        """Both drawings; a style sheet shows one."""
        if self.at_its_size:
            said = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
            return f'<figure><div class="wide pan">{svg(self.draw(WIDE), themed=False)}</div>{said}</figure>'
        wide, narrow = (_grown(svg(self.draw(width), themed=False), by) for width, by in ((WIDE, 1.2), (NARROW, 1.05)))
        # The script takes the words of the narrow marks from the wide ones, which come in the same order.
        narrow = re.sub(r"<title>.*?</title>", "<title/>", narrow, flags=re.DOTALL)
        said = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return f'<figure><div class="wide">{wide}</div><div class="narrow">{narrow}</div>{said}</figure>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Names, and what they have."""

    pairs: tuple[tuple[str, str | Cell], ...]

    def html(self) -> str:
        """A list of pairs."""
        shown = (
            f"<dt>{escape(name)}</dt><dd>{cell.html() if isinstance(cell, Cell) else escape(cell)}</dd>"
            for name, cell in self.pairs
        )
        return f"<dl>{''.join(shown)}</dl>"


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph."""

    text: str
    note: bool = False
    """In smaller letters."""

    def html(self) -> str:
        """A paragraph."""
        kind = ' class="note"' if self.note else ""
        return f"<p{kind}>{escape(self.text)}</p>"


@dataclass(frozen=True, slots=True)
class Warned:
    """A line that must not be overlooked."""

    text: str

    def html(self) -> str:
        """A paragraph with a bar at its side."""
        return f'<p class="warned"><b>Note.</b> {escape(self.text)}</p>'


@dataclass(frozen=True, slots=True)
class Bullets:
    """Lines."""

    lines: Sequence[str | Cell]

    def html(self) -> str:
        """A list."""
        shown = (line.html() if isinstance(line, Cell) else escape(line) for line in self.lines)
        return f"<ul>{''.join(f'<li>{line}</li>' for line in shown)}</ul>" if self.lines else ""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, with a button that copies it."""

    text: str

    def html(self) -> str:
        """Broken into lines where it is long."""
        return f'<div class="line block"><code>{_unbroken(self.text)}</code></div>'


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """Parts that are shown on request."""

    title: str
    parts: tuple[Part, ...]

    def html(self) -> str:
        """Folded away; paper shows them."""
        return (
            f"<details><summary>{escape(self.title)}</summary>{''.join(part.html() for part in self.parts)}</details>"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The answer in one figure, with its range, and others beside it."""

    value: str
    says: str
    figures: tuple[tuple[str, str], ...] = ()
    """Other figures: value, and what it is."""
    parts: tuple[Part, ...] = ()
    """Below them."""
    fails: bool = False
    """It cannot run, or nothing does."""

    def html(self) -> str:
        """A card."""
        others = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for value, name in self.figures)
        below = "".join(part.html() for part in self.parts)
        return (
            f'<div class="card{" fails" if self.fails else ""}"><p class="headline"><b>{escape(self.value)}</b> '
            f"<span>{escape(self.says)}</span></p>"
            + (f'<dl class="figures">{others}</dl>' if others else "")
            + f"{below}</div>"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Parts under a heading; of one without a title, there is none."""

    title: str
    anchor: str
    parts: tuple[Part, ...]

    def html(self) -> str:
        """A section; nothing where it has no parts."""
        if not self.parts:
            return ""
        head = f"<h2>{escape(self.title)}</h2>\n" if self.title else ""
        inside = "\n".join(part.html() for part in self.parts)
        return f'<section id="{escape(self.anchor)}">\n{head}{inside}\n</section>'
