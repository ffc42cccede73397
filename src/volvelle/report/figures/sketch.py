"""Drawings that are no charts, of boxes, wires and words at places in pixels: graphs, machines."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import FAINT, INK, TELLS, finished


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    stroke: str = "transparent"
    rounded: float = 0.0
    tells: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A line through some points, or drawn towards them where it is `curved`."""

    points: tuple[tuple[float, float], ...]
    colour: str = FAINT
    thick: float = 1.0
    dash: tuple[int, ...] = ()
    curved: bool = False
    tip: bool = False
    """Whether it ends in an arrow downwards."""
    tells: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A line of text."""

    x: float
    y: float
    text: str
    size: float = 12.0
    align: str = "left"
    colour: str = INK
    bold: bool = False


def sketch(
    items: Sequence[Box | Wire | Words], *, width: float, height: float, title: str, about: str, said: str = ""
) -> Chart:
    """The drawing, in the order of its items; y goes downwards."""
    place = {
        "x": alt.X("x:Q", axis=None).scale(domain=[0, width], nice=False),
        "y": alt.Y("y:Q", axis=None).scale(domain=[height, 0], nice=False),
    }
    layers = [_layer(list(alike), place) for _, alike in groupby(items, key=_style)]
    drawn = [layer for group in layers for layer in group]
    chart = alt.layer(*drawn).properties(width=width, height=height)
    return finished(chart, title=title, about=about, width=width, said=said)


def _style(item: Box | Wire | Words) -> tuple[object, ...]:
    """What marks of one layer have in common."""
    if isinstance(item, Box):
        return "box", item.rounded
    if isinstance(item, Wire):
        return "wire", item.dash, item.thick, item.curved, item.tip
    return "words", item.size, item.align, item.bold


def _layer(items: Sequence[Any], place: dict[str, Any]) -> list[Any]:
    first = items[0]
    fill, stroke = alt.Fill("fill:N", scale=None), alt.Stroke("stroke:N", scale=None)
    tells = TELLS if getattr(first, "tells", "") else {}
    if isinstance(first, Box):
        rows = [asdict(box) | {"right": box.x + box.width, "bottom": box.y + box.height} for box in items]
        mark = marks_of(rows).mark_rect(cornerRadius=first.rounded, aria=bool(first.tells))
        return [mark.encode(**place, x2="right:Q", y2="bottom:Q", fill=fill, stroke=stroke, **tells)]
    if isinstance(first, Words):
        rows = [{"x": words.x, "y": words.y, "text": words.text, "fill": words.colour} for words in items]
        mark = marks_of(rows).mark_text(
            fontSize=first.size, align=first.align, fontWeight="bold" if first.bold else "normal"
        )
        return [mark.encode(**place, text="text:N", fill=fill)]
    rows = [
        {"x": x, "y": y, "wire": number, "order": order, "stroke": wire.colour, "tells": wire.tells}
        for number, wire in enumerate(items)
        for order, (x, y) in enumerate(wire.points)
    ]
    bend = "basis" if first.curved else "linear"
    line = marks_of(rows).mark_line(
        interpolate=bend, strokeWidth=first.thick, strokeDash=list(first.dash) or [1, 0], aria=bool(first.tells)
    )
    layers = [line.encode(**place, detail="wire:N", order="order:Q", stroke=stroke, **tells)]
    if first.tip:
        ends = [{"x": wire.points[-1][0], "y": wire.points[-1][1] - 3, "fill": wire.colour} for wire in items]
        tip = marks_of(ends).mark_point(shape="triangle-down", filled=True, size=34, opacity=1, strokeWidth=0)
        layers.append(tip.encode(**place, fill=fill))
    return layers
