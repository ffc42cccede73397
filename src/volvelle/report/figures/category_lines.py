"""Lines over a few named steps, each labelled at its end; upwards linear or logarithmic."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from volvelle.report.figures.drawing import FAINT, INK, PAPER, box, line, mark, nice_ticks, powers, svg, words

__all__ = ["CategoryLine", "category_lines"]

_LEFT, _RIGHT, _TOP, _BOTTOM = 66.0, 150.0, 56.0, 66.0
_COLOURS = ("#7a8f9c", "#1d6fa5", "#c2410c", "#6d3fb0", "#2f7d4f", "#8a6d1d")
_APART = 14.0
"""Least distance between two labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryLine:
    """One value at each step."""

    name: str
    values: tuple[float, ...]


def category_lines(
    lines: Sequence[CategoryLine],
    *,
    title: str,
    about: str,
    steps: Sequence[str],
    x_title: str,
    y_title: str,
    logarithmic: bool = False,
    limits: Sequence[tuple[float, str]] = (),
    note: str = "",
    size: tuple[float, float] = (780.0, 430.0),
) -> str:
    """The picture; `limits` are dashed lines across, with words."""
    width, height = size[0], size[1] + (18.0 if note else 0.0)
    left, right, head, foot = _LEFT, width - _RIGHT, _TOP, size[1] - _BOTTOM
    values = [value for one in lines for value in one.values] + [value for value, _ in limits]
    low, high = (_decades if logarithmic else _from_zero)(values)

    def up(value: float) -> float:
        share = math.log(value / low) / math.log(high / low) if logarithmic else (value - low) / (high - low)
        return foot - (foot - head) * share

    step = (right - left) / len(steps)
    across = [left + (place + 0.5) * step for place in range(len(steps))]
    parts = [words(left, 26, title, size=16, bold=True)]
    for tick in powers(low, high) if logarithmic else [one for one in nice_ticks(high) if one <= high * 1.001]:
        parts.append(line(left, up(tick), right, up(tick)))
        parts.append(words(left - 8, up(tick) + 4, f"{tick:g}", size=11.5, anchor="end", fill=FAINT))
    for x, name in zip(across, steps, strict=True):
        parts.append(line(x, foot, x, foot + 4, stroke=FAINT))
        parts.append(words(x, foot + 18, name, size=11.5, anchor="middle", fill=FAINT))
    for value, said in limits:
        parts.append(line(left, up(value), right, up(value), stroke=INK, dash="5 4"))
        parts.append(box(left + 4, up(value) - 15, 6.4 * len(said), 12, fill=PAPER))
        parts.append(words(left + 6, up(value) - 5, said, size=11.5))
    ends = _spread([up(one.values[-1]) for one in lines])
    for place, one in enumerate(lines):
        colour = _COLOURS[place % len(_COLOURS)]
        points = [(x, up(value)) for x, value in zip(across, one.values, strict=True)]
        for (x1, y1), (x2, y2) in itertools.pairwise(points):
            parts.append(line(x1, y1, x2, y2, stroke=colour, thick=2.0))
        for (x, y), name, value in zip(points, steps, one.values, strict=True):
            parts.append(mark(x, y, hollow=False, colour=colour, size=6, title=f"{one.name}, {name}: {value:.4g}"))
        parts.append(words(points[-1][0] + 12, ends[place] + 4, one.name, size=12, fill=colour, bold=True))
    parts += [
        line(left, foot, right, foot, stroke=FAINT),
        words((left + right) / 2, foot + 42, x_title, size=12.5, anchor="middle"),
        words(16, (head + foot) / 2, y_title, size=12.5, anchor="middle", turn=-90),
    ]
    if note:
        parts.append(words(left, height - 12, note, size=11.5, fill=FAINT))
    return svg(parts, width=width, height=height, title=title, about=about)


def _decades(values: Sequence[float]) -> tuple[float, float]:
    return 10.0 ** math.floor(math.log10(min(values))), 1.5 * max(values)


def _from_zero(values: Sequence[float]) -> tuple[float, float]:
    return 0.0, 1.05 * max(values)


def _spread(heights: Sequence[float]) -> list[float]:
    """Heights of labels, moved apart where they would lie upon each other."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    found = list(heights)
    for before, after in itertools.pairwise(order):
        found[after] = max(found[after], found[before] + _APART)
    return found
