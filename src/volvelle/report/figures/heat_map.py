"""Heat maps with a number in every cell, panels one below the other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from volvelle.report.figures.drawing import FAINT, INK, PAPER, box, svg, words

__all__ = ["Cell", "HeatPanel", "heat_map"]

_LEFT, _RIGHT, _TOP = 86.0, 16.0, 92.0
_WIDE, _HIGH, _APART, _GROUP_GAP = 47.0, 31.0, 34.0, 8.0
_BLANK = "#f7f7f7"
_LETTER = 8.0
"""Width of a letter of the rows' names, with room."""
_PALE, _DEEP = (237, 243, 248), (10, 62, 110)
_WHITE, _LOW, _HIGH_END = (252, 252, 250), (38, 110, 160), (203, 92, 34)
"""Of a scale with two ends: at the even value, below and above it."""
_WIDE_RANGE = 20.0
"""Highest over lowest value of a panel above which colours go by logarithms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One value, as it is shown."""

    value: float
    """Gives the colour; not a number: the cell is blank."""
    text: str
    other: str = ""
    """The value it is held against, shown where it differs; the cell is then outlined."""
    title: str = ""
    """Shown when the pointer rests on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatPanel:
    """A quantity over the same rows and columns as all other panels of a picture."""

    title: str
    cells: tuple[tuple[Cell, ...], ...]
    """Row by row."""


def heat_map(
    panels: Sequence[HeatPanel],
    *,
    title: str,
    about: str,
    rows: Sequence[str],
    groups: Sequence[str],
    columns: Sequence[tuple[str, str]],
    note: str,
    even: float | None = None,
) -> str:
    """The picture: `groups` of the same `columns` (two words each) across, `rows` down; `note` explains outlines.

    With an `even` value colours have two ends, one for values below it and one for those above.
    """
    spread = len(groups) * len(columns) * _WIDE + (len(groups) - 1) * _GROUP_GAP
    left_of = max(_LEFT, 12.0 + _LETTER * max(len(row) for row in rows))
    width = left_of + max(spread, 9.8 * len(title), 6.0 * len(note)) + _RIGHT
    height = _TOP + len(panels) * (len(rows) * _HIGH + _APART) + 18.0
    parts = [words(left_of, 24, title, size=16, bold=True)]
    for place, group in enumerate(groups):
        left = _column(place * len(columns), len(columns), left_of)
        parts.append(words(left + len(columns) * _WIDE / 2, 50, group, size=13, anchor="middle", bold=True))
        for at, (above, below) in enumerate(columns):
            middle = left + (at + 0.5) * _WIDE
            parts.append(words(middle, 67, above, size=11, anchor="middle", fill=FAINT))
            parts.append(words(middle, 80, below, size=11, anchor="middle", fill=FAINT))
    for number, panel in enumerate(panels):
        top = _TOP + number * (len(rows) * _HIGH + _APART) + 20.0
        parts.append(words(left_of, top - 7, panel.title, size=13, bold=True))
        parts += _panel(panel, rows, len(columns), left_of, top, even)
    parts.append(words(left_of, height - 10, note, size=11.5, fill=FAINT))
    return svg(parts, width=width, height=height, title=title, about=about)


def _column(place: int, group: int, begin: float) -> float:
    return begin + place * _WIDE + place // group * _GROUP_GAP


def _panel(
    panel: HeatPanel, rows: Sequence[str], group: int, begin: float, top: float, even: float | None
) -> list[str]:
    values = [cell.value for row in panel.cells for cell in row if not math.isnan(cell.value)] or [1.0]
    low, high = min(values), max(values)
    parts = []
    for down, (name, row) in enumerate(zip(rows, panel.cells, strict=True)):
        y = top + down * _HIGH
        parts.append(words(begin - 8, y + _HIGH / 2 + 4, name, size=12, anchor="end"))
        for across, cell in enumerate(row):
            x = _column(across, group, begin)
            share = 0.0
            if math.isnan(cell.value):
                fill = _BLANK
            elif even is None:
                share = _share(cell.value, low, high)
                fill = _colour(share, _PALE, _DEEP)
            else:
                share, end = _from_even(cell.value, low, high, even)
                fill = _colour(share, _WHITE, end)
            ink = PAPER if share > 0.57 else INK
            # Inset, so that the outline lies inside its own cell.
            inset = 1.5 if cell.other else 0.5
            parts.append(
                box(
                    x + inset,
                    y + inset,
                    _WIDE - 2 * inset,
                    _HIGH - 2 * inset,
                    fill=fill,
                    stroke="#c2410c" if cell.other else "",
                    thick=2.0,
                    title=cell.title,
                )
            )
            lift = -1.0 if cell.other else 4.3
            parts.append(words(x + _WIDE / 2, y + _HIGH / 2 + lift, cell.text, anchor="middle", fill=ink))
            if cell.other:
                parts.append(
                    words(x + _WIDE / 2, y + _HIGH / 2 + 11, f"({cell.other})", size=10.5, anchor="middle", fill=ink)
                )
    return parts


def _share(value: float, low: float, high: float) -> float:
    """Between the palest and the deepest colour."""
    if high <= low * (1.0 + 1e-3):
        return 0.7
    if low > 0 and high / low > _WIDE_RANGE:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def _from_even(value: float, low: float, high: float, even: float) -> tuple[float, tuple[int, int, int]]:
    """How far from the even value, by logarithms, as a share of the farthest; and towards which end."""
    farthest = max(math.log(even / low), math.log(high / even), 1e-3)
    # The root keeps values near it, which matter most, apart.
    return math.sqrt(abs(math.log(value / even)) / farthest), _LOW if value < even else _HIGH_END


def _colour(share: float, pale: tuple[int, int, int], deep: tuple[int, int, int]) -> str:
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(pale, deep, strict=True))
