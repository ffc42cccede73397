"""Points with names and lines through them, both axes logarithmic, a panel for each quantity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from volvelle.report.figures.axes import NUMBERS
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import INK, PALETTE, PAPER, TELLS, WIDE, finished, haloed, legend

_LETTER, _LINE, _DOT, _RIGHT = 7.0, 14.0, 8.0, 8.0
"""Pixels of a letter and of a line of text, of half a point with air, and from a point to its name."""
_BESIDE = 110.0
"""Pixels of what is beside a panel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPanel:
    """One quantity over another."""

    y_title: str
    points: Mapping[str, tuple[float, float]]
    lines: Mapping[str, Sequence[tuple[float, float]]]


def log_panels(
    panels: Sequence[LogPanel],
    *,
    title: str,
    about: str,
    x_title: str,
    said: str = "",
    height: float = 200.0,
    width: float = WIDE,
) -> Chart:
    """The picture, panels below each other."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    shown = [_panel(panel, names, x_title, place == 0, height, width) for place, panel in enumerate(panels)]
    whole = shown[0] if len(shown) == 1 else alt.vconcat(*shown, spacing=14)
    return finished(whole, title=title, about=about, width=width, said=said)


def _panel(panel: LogPanel, names: Sequence[str], x_title: str, first: bool, height: float, width: float) -> Any:
    x = alt.X("x:Q", title=x_title).scale(type="log", nice=False).axis(format=NUMBERS, tickCount=6)
    y = alt.Y("y:Q", title=panel.y_title).scale(type="log").axis(format=NUMBERS, tickCount=5, domain=False)
    key = legend(names, width - 60, symbolType="stroke", symbolSize=400, symbolStrokeWidth=2) if first else None
    colour = alt.Color("line:N", legend=key).scale(domain=list(names), range=list(PALETTE[: len(names)]))
    rows = [{"line": name, "x": at, "y": value} for name, line in panel.lines.items() for at, value in line]
    dots = [
        {"x": at, "y": value, "name": name, "tells": f"{name}: {value:.4g} at {at:.4g}"}
        for name, (at, value) in panel.points.items()
    ]
    point = marks_of(dots).mark_point(filled=True, size=60, opacity=1, color=INK, stroke=PAPER, aria=True)
    below = _names_below(panel, width - _BESIDE, height)
    levels = [[dot for dot in dots if below[str(dot["name"])] == level] for level in sorted(set(below.values()))]
    return alt.layer(
        marks_of(rows).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour),
        point.encode(x=x, y=y, **TELLS),
        *(
            layer
            for level in levels
            for layer in haloed(
                marks_of(level).encode(x=x, y=y, text="name:N"),
                colour=INK,
                align="left",
                dx=_RIGHT,
                dy=below[str(level[0]["name"])],
                fontSize=12,
            )
        ),
    ).properties(width=width - _BESIDE, height=height)


def _names_below(panel: LogPanel, width: float, height: float) -> dict[str, float]:
    """Pixels by which each name is below its point, on the right: the fewest that keep names and points apart."""
    drawn = [*panel.points.values(), *(place for line in panel.lines.values() for place in line)]
    (low, high), (bottom, top) = ((log(min(ends)), log(max(ends))) for ends in zip(*drawn, strict=True))
    dots = [
        ((log(at) - low) / (high - low) * width, (top - log(value)) / (top - bottom) * height, name)
        for name, (at, value) in panel.points.items()
    ]
    taken = [(across - _DOT, down - _DOT, across + _DOT, down + _DOT) for across, down, _ in dots]
    found: dict[str, float] = {}
    for across, down, name in sorted(dots, reverse=True):
        for level in range(len(dots) + 1):
            below = _DOT + level * _LINE
            box = (
                across + _RIGHT,
                down + below - _LINE / 2,
                across + _RIGHT + _LETTER * len(name),
                down + below + _LINE / 2,
            )
            if level == len(dots) or not any(_touch(box, other) for other in taken):
                break
        found[name] = below
        taken.append(box)
    return found


def _touch(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    """Whether two boxes, given by left, top, right and bottom, have something in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
