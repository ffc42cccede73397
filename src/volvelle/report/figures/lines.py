"""Lines over an axis of numbers or of a few named steps, each with its name at its end, and measured points."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from types import MappingProxyType
from typing import Any

from volvelle.report.figures.axes import NUMBERS
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import INK, NARROW, PALETTE, PAPER, TELLS, WIDE, finished, haloed, legend

_APART = 15.0
"""Least distance between two names, in pixels."""
_DASHES = ([1, 0], [6, 4], [2, 3], [8, 3, 2, 3])


def line_chart(
    lines: Mapping[str, Sequence[float]],
    *,
    places: Sequence[float] | Sequence[str],
    title: str,
    about: str,
    x_title: str,
    y_title: str,
    logarithmic: bool = False,
    limits: Sequence[tuple[float, str]] = (),
    points: Mapping[str, tuple[float, float]] = MappingProxyType({}),
    said: str = "",
    height: float = 320.0,
    width: float = WIDE,
) -> Chart:
    """The picture: by name, each line's values at the places, and measured `points`.

    `limits` are dashed lines across, with words; names of lines are a legend on a telephone.
    """
    steps = all(isinstance(place, str) for place in places)
    values = [value for line in lines.values() for value in line] + [limit for limit, _ in limits]
    values += [y for _, y in points.values()]
    low, high = (min(values) / 1.4, max(values) * 1.4) if logarithmic else (0.0, max(values) * 1.06)
    names = list(lines)
    rows = [
        {"line": name, "x": place, "y": value, "tells": f"{name}, {place}: {value:.4g}"}
        for name, line in lines.items()
        for place, value in zip(places, line, strict=True)
    ]
    beside = width > NARROW and steps
    kind = "O" if steps else "Q"
    crowded = 6.4 * max(len(str(place)) for place in places) * len(places) > width - 90
    x = alt.X(f"x:{kind}", sort=list(places) if steps else alt.Undefined, title=wrap(x_title, int(width / 7)))
    x = x.scale(padding=0.4) if steps else x.scale(zero=True, nice=False)
    x = x.axis(
        labelAngle=-90 if steps and crowded else 0,
        grid=not steps,
        **({} if steps else {"format": NUMBERS, "tickCount": 8}),
    )
    y = alt.Y("y:Q", title=y_title).scale(type="log" if logarithmic else "linear", domain=[low, high], nice=False)
    y = y.axis(format=NUMBERS, tickCount=5, domain=False)
    shown = None if beside else legend(names, width - 60, symbolType="stroke", symbolSize=400, symbolStrokeWidth=2)
    colour = alt.Color("line:N", legend=shown).scale(
        domain=names, range=[*itertools.islice(itertools.cycle(PALETTE), len(names))]
    )
    dash = alt.StrokeDash("line:N", legend=shown)
    dash = dash.scale(domain=names, range=[*itertools.islice(itertools.cycle(_DASHES), len(names))])
    base = marks_of(rows).encode(x=x, y=y, color=colour)
    layers: list[Any] = [
        marks_of([{"y": limit}]).mark_rule(color=INK, strokeDash=[5, 4]).encode(y=y) for limit, _ in limits
    ]
    layers.append(base.mark_line(strokeWidth=2).encode(**({} if steps else {"strokeDash": dash})))
    if steps:
        layers.append(
            base.mark_point(filled=True, size=42, opacity=1, stroke=PAPER, strokeWidth=0.8, aria=True).encode(**TELLS)
        )
    for limit, words in limits:
        text = marks_of([{"y": limit, "text": words}]).encode(x=alt.value(4), y=y, text="text:N")
        layers += haloed(text, colour=INK, align="left", dy=-8, fontSize=12)
    if points:
        layers.append(_points(points, y))
    chart = alt.layer(*layers).properties(width=width - (180 if beside else 90), height=height)
    if beside:

        def down(value: float) -> float:
            share = math.log(value / low) / math.log(high / low) if logarithmic else (value - low) / (high - low)
            return height * (1.0 - share)

        ends = [{"line": name, "x": places[-1], "y": line[-1]} for name, line in lines.items()]
        chart = alt.layer(*layers, *_names(ends, down, x=x, y=y, color=colour))
        longest = max(len(name) for name in names)
        chart = chart.properties(width=width - 100 - 7.2 * longest, height=height)
    return finished(chart, title=title, about=about, width=width, said=said)


def _points(points: Mapping[str, tuple[float, float]], y: Any) -> Any:
    names = list(points)
    rows = [{"x": across, "y": up, "point": name, "tells": name} for name, (across, up) in points.items()]
    shape = alt.Shape("point:N", legend=alt.Legend(symbolType="circle", symbolFillColor=INK)).scale(
        domain=names, range=["circle", "square", "diamond"][: len(names)]
    )
    mark = marks_of(rows).mark_point(filled=True, color=INK, size=80, opacity=1, aria=True)
    return mark.encode(x="x:Q", y=y, shape=shape, **TELLS)


def _names(ends: Sequence[dict[str, Any]], down: Callable[[float], float], **where: Any) -> list[Any]:
    """Names at the ends of lines, moved apart where they would lie upon each other."""
    drawn, last = [], -math.inf
    for row in sorted(ends, key=lambda row: down(row["y"])):
        own = down(row["y"])
        last = max(own, last + _APART)
        text = marks_of([row]).encode(**where, text="line:N")
        drawn.append(text.mark_text(align="left", dx=12, dy=last - own, fontSize=12, fontWeight="bold"))
    return drawn
