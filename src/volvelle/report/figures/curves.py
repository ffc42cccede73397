"""Curves over time, measured and predicted upon each other, a panel for each."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from volvelle.applications.scores import MeasuredCurve
from volvelle.report.figures.axes import NUMBERS
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import CLOUD, RUST, WIDE, finished, legend

_HEIGHT, _BESIDE = 96.0, 90.0
"""Pixels of a panel, and of what is beside it."""
_LINES = {"measured": CLOUD, "predicted": RUST}


def curve_panels(curves: Sequence[MeasuredCurve], *, title: str, said: str = "", width: float = WIDE) -> Chart:
    """Panels below each other, those of one run under its name; what was measured is the broad line beneath."""
    drawn: list[Any] = []
    for run, own in groupby(curves, key=lambda curve: curve.title):
        drawn += [_panel(curve, run if place == 0 else "", width) for place, curve in enumerate(own)]
    about = "; ".join(f"{curve.title}, {curve.name}, up to {max(curve.measured):.0f} measured" for curve in curves)
    whole = drawn[0] if len(drawn) == 1 else alt.vconcat(*drawn, spacing=12)
    return finished(whole, title=title, about=about, width=width, said=said)


def _panel(curve: MeasuredCurve, heading: str, width: float) -> Any:
    rows = [
        {"x": moment, "y": value, "line": line}
        for line, values in (("measured", curve.measured), ("predicted", curve.predicted))
        for moment, value in zip(curve.moments, values, strict=True)
    ]
    colour = alt.Color(
        "line:N", legend=legend(_LINES, width - _BESIDE, symbolType="stroke", symbolStrokeWidth=3) if heading else None
    ).scale(domain=list(_LINES), range=list(_LINES.values()))
    x = alt.X("x:Q", title="time, s").scale(zero=True, nice=False).axis(format=NUMBERS, tickCount=8)
    y = alt.Y("y:Q", title=curve.name).axis(format=NUMBERS, tickCount=4, domain=False)
    broad = alt.StrokeWidth("line:N", legend=None).scale(domain=list(_LINES), range=[4.5, 1.6])
    mark = marks_of(rows).mark_line().encode(x=x, y=y, color=colour, strokeWidth=broad)
    titled = {"title": alt.TitleParams(text=heading, fontSize=13, offset=6)} if heading else {}
    return mark.properties(width=width - _BESIDE, height=_HEIGHT, **titled)
