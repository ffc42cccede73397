"""A collective over sizes and over groups: time and bus rate, a panel each."""

from collections.abc import Sequence
from typing import Any

from volvelle.quantities import BYTES, BYTES_PER_SECOND, SECONDS, show
from volvelle.report.collective.text import title_text
from volvelle.report.figures.axes import NUMBERS
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import INK, PALETTE, TELLS, WIDE, finished, legend
from volvelle.verbs.collective.ask import CollectiveAnswer, MessagePoint

_HEIGHT, _BESIDE = 170.0, 100.0
"""Pixels of a panel, and of what is beside it."""
_SIZES = "datum.value >= 1e9 ? datum.value / 1e9 + ' GB' : datum.value >= 1e6 ? datum.value / 1e6 + ' MB' : \
datum.value / 1e3 + ' kB'"


def collective_picture(answer: CollectiveAnswer, width: float = WIDE) -> Chart:
    """Time over sizes, bus rate over sizes by every algorithm, bus rate over groups."""
    sizes = alt.X("x:Q", title="size").scale(type="log", nice=False)
    sizes = sizes.axis(labelExpr=_SIZES, values=[10.0**power for power in range(3, 11)])
    chips = alt.X("x:Q", title=f"chips, at {show(answer.size, BYTES)}").scale(type="log", base=2, nice=False)
    chips = chips.axis(format=NUMBERS, values=[2.0**power for power in range(1, 28)])
    names = list(answer.algorithms)
    own = answer.algorithm if answer.algorithm in names else names[0]  # a ring by another name
    by_size = [(point.size, point) for point in answer.by_size]
    by_group = [(float(point.chips), point) for point in answer.by_group]
    panels = [
        _times(by_size, sizes, answer),
        _rates(by_size, names, sizes, (answer.size, answer), width),
        _rates(by_group, [own], chips, (float(answer.chips), answer), width),
    ]
    sized = [panel.properties(width=width - _BESIDE, height=_HEIGHT) for panel in panels]
    return finished(
        alt.vconcat(*sized, spacing=12),
        title=title_text(answer),
        about=f"{title_text(answer)}: time and bus rate over sizes from 1 KiB to 16 GiB, bus rate over groups.",
        width=width,
        said=f"{show(answer.time, SECONDS)}, bus rate {show(answer.bus_rate, BYTES_PER_SECOND)} (a circle), bound by "
        f"{answer.bound}",
    )


def _times(points: Sequence[tuple[float, MessagePoint]], x: Any, answer: CollectiveAnswer) -> Any:
    rows = [{"x": place, "y": 1e6 * point.time, "tells": _told(point)} for place, point in points]
    y = alt.Y("y:Q", title="time, us").scale(type="log", nice=False)
    y = y.axis(format=NUMBERS, values=[10.0**power for power in range(13)], domain=False)
    return alt.layer(
        marks_of(rows).mark_line(strokeWidth=2, color=PALETTE[0]).encode(x=x, y=y),
        _circle(answer.size, 1e6 * answer.time, x, y),
    )


def _rates(
    points: Sequence[tuple[float, MessagePoint]],
    names: Sequence[str],
    x: Any,
    asked: tuple[float, CollectiveAnswer],
    width: float,
) -> Any:
    place, answer = asked
    rows = [
        {"x": at, "y": answer.bus_rate_of(point, name) / 1e9, "line": name, "tells": f"{name}, {_told(point)}"}
        for at, point in points
        for name in names
        if name in point.algorithms
    ]
    shown = legend(names, width - _BESIDE, symbolType="stroke", symbolStrokeWidth=3) if len(names) > 1 else None
    colour = alt.Color("line:N", legend=shown).scale(domain=[*names], range=[*PALETTE[: len(names)]])
    y = alt.Y("y:Q", title="bus rate, GB/s").scale(zero=True).axis(format=NUMBERS, tickCount=4, domain=False)
    marks = marks_of(rows).encode(x=x, y=y, color=colour)
    dots = marks.mark_point(filled=True, size=24, opacity=1, aria=True).encode(**TELLS)
    return alt.layer(marks.mark_line(strokeWidth=2), dots, _circle(place, answer.bus_rate / 1e9, x, y))


def _circle(across: float, up: float, x: Any, y: Any) -> Any:
    """Around what was asked about."""
    mark = marks_of([{"x": across, "y": up}]).mark_point(filled=False, size=130, stroke=INK, strokeWidth=2, opacity=1)
    return mark.encode(x=x, y=y)


def _told(point: MessagePoint) -> str:
    return f"{show(point.size, BYTES)} over {point.chips:,} chips: {show(point.time, SECONDS)}"
