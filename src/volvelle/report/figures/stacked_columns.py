"""Stacked columns, with a second quantity as a line of marks on a logarithmic axis at the right."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from volvelle.report.figures.drawing import FAINT, PAPER, box, line, mark, nice_ticks, powers, svg, words

__all__ = ["Column", "ColumnPanel", "stacked_columns"]

_LEFT, _RIGHT, _HEAD, _FOOT = 60.0, 92.0, 40.0, 44.0
_MARKED = "#7c2d12"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Parts upon each other, and a mark on the right-hand axis."""

    label: tuple[str, str]
    """Two lines."""
    parts: tuple[tuple[str, float], ...]
    """Name, which gives the colour, and value."""
    marked: float | None = None
    text: str = ""
    """Written above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPanel:
    """One pair of axes, or three."""

    title: str
    columns: tuple[Column, ...]
    y_title: str
    marks_title: str = ""
    limit: float | None = None
    """A dashed line on the right-hand axis."""
    percent: bool = False


def stacked_columns(
    panels: Sequence[ColumnPanel],
    *,
    title: str,
    about: str,
    colours: Mapping[str, str],
    note: str = "",
    size: tuple[float, float] = (590.0, 380.0),
) -> str:
    """The picture, panels side by side under one legend."""
    wide, high = size
    width, begin = len(panels) * wide, 78.0
    parts = [words(_LEFT, 26, title, size=16, bold=True)]
    x = _LEFT
    for name, colour in colours.items():
        parts += [box(x, 42, 11, 11, fill=colour), words(x + 16, 51.5, name, size=12)]
        x += 32.0 + 6.3 * len(name)
    shown = next((panel.marks_title for panel in panels if panel.marks_title), "")
    if shown:
        parts += [line(x, 47.5, x + 20, 47.5, stroke=_MARKED), mark(x + 10, 47.5, hollow=False, colour=_MARKED, size=6)]
        parts.append(words(x + 26, 51.5, shown, size=12))
    for place, panel in enumerate(panels):
        parts += _panel(panel, place * wide, begin, wide, high, colours)
    height = begin + high + (24.0 if note else 4.0)
    if note:
        parts.append(words(_LEFT, height - 10, note, size=11.5, fill=FAINT))
    return svg(parts, width=width, height=height, title=title, about=about)


def _panel(panel: ColumnPanel, x: float, y: float, wide: float, high: float, colours: Mapping[str, str]) -> list[str]:
    marked = [column.marked for column in panel.columns if column.marked is not None]
    left, right = x + _LEFT, x + wide - (_RIGHT if marked else 18.0)
    head, foot = y + _HEAD, y + high - _FOOT
    top = 1.0 if panel.percent else 1.08 * max(sum(value for _, value in column.parts) for column in panel.columns)
    scale = (foot - head) / top
    parts = [words(left, y + 18, panel.title, size=13, bold=True)]
    for tick in nice_ticks(top, most=6):
        at = foot - tick * scale
        if at >= head - 1:
            parts.append(line(left, at, right, at))
            shown = f"{tick:.0%}" if panel.percent else f"{tick:g}"
            parts.append(words(left - 7, at + 4, shown, size=11.5, anchor="end", fill=FAINT))
    parts.append(words(x + 14, (head + foot) / 2, panel.y_title, size=12.5, anchor="middle", turn=-90))
    step = (right - left) / len(panel.columns)
    texts = list[str]()
    for place, column in enumerate(panel.columns):
        middle, at = left + (place + 0.5) * step, foot
        for name, value in column.parts:
            at -= value * scale
            said = f"{' '.join(column.label)}: {name} {value:.3g}"
            parts.append(box(middle - step * 0.34, at, step * 0.68, value * scale, fill=colours[name], title=said))
        if column.text:
            wide_text = 6.6 * len(column.text)
            # A white sheet beneath keeps figures apart from the lines that pass.
            texts.append(box(middle - wide_text / 2, at - 15, wide_text, 12, fill=PAPER))
            texts.append(words(middle, at - 5, column.text, size=11, anchor="middle"))
        for row, text in enumerate(column.label):
            parts.append(words(middle, foot + 16 + 14 * row, text, size=11, anchor="middle", fill=FAINT))
    parts.append(line(left, foot, right, foot, stroke=FAINT))
    return [*parts, *(_marks(panel, left, right, head, foot, step) if marked else []), *texts]


def _marks(panel: ColumnPanel, left: float, right: float, head: float, foot: float, step: float) -> list[str]:
    """The second quantity: its axis, its limit, its marks."""
    values = [column.marked for column in panel.columns if column.marked is not None]
    known = [*values, *([panel.limit] if panel.limit else [])]
    low, high = 10.0 ** math.floor(math.log10(min(known))), 10.0 ** math.ceil(math.log10(max(known)))

    def at(value: float) -> float:
        return foot - (foot - head) * math.log10(value / low) / math.log10(high / low)

    parts = [line(right, head, right, foot, stroke=_MARKED)]
    for power in powers(low, high):
        parts.append(line(right, at(power), right + 4, at(power), stroke=_MARKED))
        parts.append(words(right + 7, at(power) + 4, f"{power:g}", size=11.5, fill=_MARKED))
    parts.append(words(right + 52, (head + foot) / 2, panel.marks_title, size=12.5, anchor="middle", turn=90))
    if panel.limit:
        parts.append(line(left, at(panel.limit), right, at(panel.limit), stroke=_MARKED, dash="5 4"))
    points = [
        (left + (place + 0.5) * step, at(column.marked), column.marked)
        for place, column in enumerate(panel.columns)
        if column.marked is not None
    ]
    for (x1, y1, _), (x2, y2, _) in itertools.pairwise(points):
        parts.append(line(x1, y1, x2, y2, stroke=_MARKED, thick=1.4))
    parts += [mark(x, y, hollow=False, colour=_MARKED, size=6, title=f"{value:.3g}") for x, y, value in points]
    return parts
