"""A hierarchical roofline: a roof for each resource that feeds a chip, and work at its intensity towards each of them.

The same work has an intensity towards memory and another towards the network; what binds is the resource whose roof its
mark touches.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from volvelle.quantities import BYTES_PER_SECOND, FLOP_PER_SECOND, show
from volvelle.report.figures.axes import NUMBERS, Measure
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import INK, ON_DEEP, PALETTE, PAPER, TELLS, WIDE, finished, legend


@dataclass(frozen=True, slots=True, kw_only=True)
class RoofPoint:
    """Work: FLOP a second, and FLOP a byte of each resource in the order of the roofs; None: it moves nothing."""

    name: str
    """Short: it is written into the mark."""
    rate: float
    intensities: tuple[float | None, ...]
    logged: bool = False
    """Drawn as a ring."""


def roofline(
    points: Sequence[RoofPoint],
    roofs: Mapping[str, float],
    *,
    peak: float,
    title: str,
    about: str,
    said: str = "",
    height: float = 350.0,
    width: float = WIDE,
) -> Chart:
    """Both axes logarithmic; `roofs` are resources by name, with the bytes a second that bound low intensities."""
    seen = [value for point in points for value in point.intensities if value] + [
        peak / rate for rate in roofs.values()
    ]
    low, high = min(seen) / 2, max(seen) * 3
    # Below the slowest work, and where roofs come in at the left, there is nothing to see.
    slowest = min([point.rate for point in points], default=peak)
    floor = max(min(slowest / 2, peak / 4), peak / 1e6)
    up = Measure(name="rate of a chip", kind=FLOP_PER_SECOND, low=floor, high=peak * 2.2)
    x = alt.X("x:Q", title="operational intensity, FLOP per byte").scale(type="log", domain=[low, high], nice=False)
    x = x.axis(format=NUMBERS, tickCount=5)
    y = alt.Y("y:Q").scale(up.scale).axis(up.axis())
    names = [f"{name}, {show(rate, BYTES_PER_SECOND)}" for name, rate in roofs.items()]
    colour = alt.Color("roof:N", legend=legend(names, width - 70, symbolType="stroke", symbolStrokeWidth=2.4))
    colour = colour.scale(domain=names, range=list(PALETTE[: len(names)]))
    lines = [
        {"x": place, "y": up.of(min(place * rate, peak)), "roof": name}
        for rate, name in zip(roofs.values(), names, strict=True)
        for place in (max(low, floor / rate), peak / rate, high)
    ]
    rows = [
        {
            "x": value,
            "y": up.of(point.rate),
            "roof": name,
            "name": point.name,
            "logged": point.logged,
            "tells": f"{point.name}, {name}: {value:.3g} FLOP a byte, {show(point.rate, FLOP_PER_SECOND)}",
        }
        for point in points
        for value, name in zip(point.intensities, names, strict=True)
        if value
    ]
    ours, logged = ([row for row in rows if row["logged"] is kind] for kind in (False, True))
    top = marks_of([{"y": up.of(peak), "text": f"peak {show(peak, FLOP_PER_SECOND)}"}])
    layers: list[Any] = [
        marks_of(lines).mark_line(strokeWidth=1.8).encode(x=x, y=y, color=colour, order="x:Q"),
        # Intensities of one piece of work lie at one rate; a thin line says that they belong together.
        marks_of(ours).mark_line(color=INK, strokeDash=[2, 4], strokeWidth=1).encode(x=x, y=y, detail="name:N"),
        top.mark_text(align="right", dy=-9, dx=-4, color=INK, fontSize=12).encode(
            x=alt.value(width - 100), y=y, text="text:N"
        ),
        marks_of(logged)
        .mark_point(filled=False, size=330, strokeWidth=1.7, opacity=1, aria=True)
        .encode(x=x, y=y, color=colour, **TELLS),
        marks_of(ours)
        .mark_point(filled=True, size=190, opacity=1, stroke=PAPER, strokeWidth=0.8, aria=True)
        .encode(x=x, y=y, color=colour, **TELLS),
        marks_of(ours).mark_text(fontSize=10, fontWeight="bold", color=ON_DEEP).encode(x=x, y=y, text="name:N"),
    ]
    chart = alt.layer(*layers).properties(width=width - 100, height=height)
    return finished(chart, title=title, about=about, width=width, said=said)
