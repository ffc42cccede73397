"""Points with names and lines through them, both axes logarithmic, a panel for each quantity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from volvelle.report.figures.axes import NUMBERS
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import INK, PALETTE, PAPER, TELLS, WIDE, finished, haloed, legend

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
    named = marks_of(dots).encode(x=x, y=y, text="name:N")
    return alt.layer(
        marks_of(rows).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour),
        point.encode(x=x, y=y, **TELLS),
        *haloed(named, colour=INK, align="left", dx=8, dy=8, fontSize=12),
    ).properties(width=width - _BESIDE, height=height)
