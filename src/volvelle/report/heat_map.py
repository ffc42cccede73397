"""Heat maps with a number in every cell, panels one below the other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from volvelle.report.drawing import FAINT, INK, PAPER, box, svg, words

__all__ = ["Cell", "HeatPanel", "heat_map"]

_LEFT, _RIGHT, _TOP = 86.0, 16.0, 92.0
_WIDE, _HIGH, _APART, _GROUP_GAP = 47.0, 31.0, 34.0, 8.0
_PALE, _DEEP = (237, 243, 248), (10, 62, 110)
_WIDE_RANGE = 20.0
"""Highest over lowest value of a panel above which colours go by logarithms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One value, as it is shown."""

    value: float
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
) -> str:
    """The picture: `groups` of the same `columns` (two words each) across, `rows` down; `note` explains outlines."""
    spread = len(groups) * len(columns) * _WIDE + (len(groups) - 1) * _GROUP_GAP
    width = _LEFT + spread + _RIGHT
    height = _TOP + len(panels) * (len(rows) * _HIGH + _APART) + 18.0
    parts = [words(_LEFT, 24, title, size=16, bold=True)]
    for place, group in enumerate(groups):
        left = _column(place * len(columns), len(columns))
        parts.append(words(left + len(columns) * _WIDE / 2, 50, group, size=13, anchor="middle", bold=True))
        for at, (above, below) in enumerate(columns):
            middle = left + (at + 0.5) * _WIDE
            parts.append(words(middle, 67, above, size=11, anchor="middle", fill=FAINT))
            parts.append(words(middle, 80, below, size=11, anchor="middle", fill=FAINT))
    for number, panel in enumerate(panels):
        top = _TOP + number * (len(rows) * _HIGH + _APART) + 20.0
        parts.append(words(_LEFT, top - 7, panel.title, size=13, bold=True))
        parts += _panel(panel, rows, len(columns), top)
    parts.append(words(_LEFT, height - 10, note, size=11.5, fill=FAINT))
    return svg(parts, width=width, height=height, title=title, about=about)


def _column(place: int, group: int) -> float:
    return _LEFT + place * _WIDE + place // group * _GROUP_GAP


def _panel(panel: HeatPanel, rows: Sequence[str], group: int, top: float) -> list[str]:
    values = [cell.value for row in panel.cells for cell in row]
    low, high = min(values), max(values)
    parts = []
    for down, (name, row) in enumerate(zip(rows, panel.cells, strict=True)):
        y = top + down * _HIGH
        parts.append(words(_LEFT - 8, y + _HIGH / 2 + 4, name, size=12, anchor="end"))
        for across, cell in enumerate(row):
            x, share = _column(across, group), _share(cell.value, low, high)
            fill, ink = _colour(share), PAPER if share > 0.57 else INK
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


def _colour(share: float) -> str:
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(_PALE, _DEEP, strict=True))
