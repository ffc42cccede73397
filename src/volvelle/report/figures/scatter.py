"""Predicted against measured: the diagonal, bands of 10 % and 20 % around it, and a mark for every row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from volvelle.report.figures.axes import NUMBERS
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import BAND, BLANK, INK, PAPER, TELLS, WIDE, finished, legend

_BANDS = ((0.2, BLANK), (0.1, BAND))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How one kind of points is drawn; kinds differ in shape as well as in colour."""

    name: str
    colour: str
    shape: str
    """``circle``, ``diamond``, ``square`` or ``triangle``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One measured figure and its prediction."""

    measured: float
    predicted: float
    mark: Mark
    label: str
    """Shown when the pointer rests on it."""


def scatter(
    points: Sequence[Point],
    *,
    title: str,
    quantity: str,
    unit: str,
    above: str = "too slow",
    width: float = WIDE,
) -> Chart:
    """Both axes logarithmic; above the diagonal a prediction is what `above` says."""
    values = [value for point in points for value in (point.measured, point.predicted)] or [0.1, 10.0]
    low, high = min(values) / 1.25, max(values) * 1.25
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    style: dict[str, Any] = {"format": NUMBERS, "tickCount": 6}
    x = alt.X("measured:Q", title=f"measured {quantity}, {unit}").scale(scale).axis(**style)
    y = alt.Y("predicted:Q", title=f"predicted {quantity}, {unit}").scale(scale).axis(**style)
    marks = {point.mark.name: point.mark for point in points}
    names = {name: f"{name} ({sum(point.mark.name == name for point in points)})" for name in marks}
    said = ", ".join(f"{sum(point.mark.name == name for point in points)} {name}" for name in marks)
    rows = [
        {
            "measured": point.measured,
            "predicted": point.predicted,
            "kind": names[point.mark.name],
            "tells": point.label,
        }
        for point in points
    ]
    kinds, shapes = list(names.values()), [mark.shape.replace("triangle", "triangle-up") for mark in marks.values()]
    shown = legend(kinds, width - 70)
    ends = [low, high]
    bands = [
        marks_of({"measured": end, "predicted": end * (1 - share), "to": end * (1 + share)} for end in ends)
        .mark_area(color=colour, opacity=1, clip=True)
        .encode(x=x, y=y, y2="to:Q")
        for share, colour in _BANDS
    ]
    chart = alt.layer(
        *bands,
        marks_of({"measured": end, "predicted": end} for end in ends)
        .mark_line(color=INK, strokeWidth=1.2)
        .encode(x=x, y=y),
        marks_of(rows)
        .mark_point(filled=True, size=52, opacity=1, fillOpacity=0.7, stroke=PAPER, strokeWidth=0.5, aria=True)
        .encode(
            x=x,
            y=y,
            color=alt.Color("kind:N", legend=shown).scale(domain=kinds, range=[mark.colour for mark in marks.values()]),
            shape=alt.Shape("kind:N", legend=shown).scale(domain=kinds, range=shapes),
            **TELLS,
        ),
    ).properties(width=width - 90, height=(width - 90) * 0.78)
    about = (
        f"Predicted against measured {quantity} in {unit}, both axes logarithmic: {said}. Points on the diagonal are "
        f"predicted exactly; above it the prediction is {above}. Bands show 10 % and 20 %."
    )
    below = f"On the line: exact; above it: {above}. Bands: within 10 % and 20 %."
    return finished(chart, title=title, about=about, width=width, said=below)
