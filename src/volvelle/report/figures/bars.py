"""Stacked bars in groups and panels, with marks upon them, and a second quantity on an axis at the right."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from volvelle.report.figures.axes import NUMBERS
from volvelle.report.figures.engine import Chart, alt, data_of, marks_of, named
from volvelle.report.figures.theme import INK, PAPER, RUST, TELLS, WIDE, finished, haloed, legend

_LEFT, _RIGHT, _APART = 62.0, 62.0, 16.0
_INNER, _OUTER = 0.16, 0.2
"""Room between bars and beside them, in steps."""
_THIN, _LETTER = 13.0, 7.2
"""Least width of a slot, and width of a letter of the labels; where they have no room they are written upwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Parts upon each other, and marks on the same scale."""

    parts: tuple[tuple[str, float], ...]
    """Name, which gives the colour, and value."""
    logged: float | None = None
    ours: float | None = None
    """Marked apart, where it is not the height of the bar."""
    right: float | None = None
    """A second quantity, on the axis at the right."""
    title: str = ""
    text: str = ""
    """Written above it."""

    @property
    def height(self) -> float:
        """Of the parts together."""
        return sum(value for _, value in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A place on the axis with one bar or several side by side."""

    label: str
    """May have several lines."""
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarGroup:
    """Slots under one name."""

    label: str
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPanel:
    """One pair of axes, or three."""

    title: str
    groups: tuple[BarGroup, ...]
    y_title: str
    percent: bool = False
    top: float | None = None
    """End of the axis; without it, the highest value."""
    right_title: str = ""
    limit: float | None = None
    """A dashed line on the axis at the right."""


def bar_chart(
    panels: Sequence[BarPanel],
    *,
    title: str,
    about: str,
    colours: Mapping[str, str],
    logged: str = "",
    ours: str = "",
    said: str = "",
    height: float = 240.0,
    width: float = WIDE,
) -> Chart:
    """The picture; `logged` and `ours` say what marks are."""
    keys = _Keys(colours=colours, logged=logged, ours=ours, width=width - _LEFT)
    drawn = [_panel(panel, keys, width, height) for panel in panels]
    chart = drawn[0] if len(drawn) == 1 else alt.vconcat(*drawn, spacing=26)
    return finished(chart, title=title, about=about, width=width, said=said)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    """What colours and marks mean."""

    colours: Mapping[str, str]
    logged: str
    ours: str
    width: float

    @property
    def marks(self) -> list[str]:
        return [name for name in (self.logged, self.ours) if name]

    @property
    def colour(self) -> Any:
        """Of parts."""
        names = list(self.colours)
        shown = legend(names, self.width) if len(names) > 1 or self.marks else None
        return alt.Color("part:N", legend=shown).scale(domain=names, range=list(self.colours.values()))

    @property
    def fills(self) -> dict[str, Any]:
        """Of marks: a hollow ring for what was logged, a filled dot for ours."""
        shown = legend(self.marks, self.width, symbolType="circle", symbolStrokeWidth=1.6, values=self.marks)
        kinds = [self.logged or "logged", self.ours or "ours"]
        return {
            "fill": alt.Fill("mark:N", legend=shown).scale(domain=kinds, range=[PAPER, INK]),
            "size": alt.Size("mark:N", legend=shown).scale(domain=kinds, range=[58, 8]),
        }


def _panel(panel: BarPanel, keys: _Keys, wide: float, height: float) -> Any:
    slots = [slot for group in panel.groups for slot in group.slots]
    beside, step = _room(panel.groups, wide - _LEFT - (_RIGHT if panel.right_title else 0.0) - 26)
    top = panel.top or 1.06 * max(
        max(bar.height, bar.logged or 0.0, bar.ours or 0.0) for slot in slots for bar in slot.bars
    )
    y = alt.Y("value:Q").scale(domain=[0, top], nice=False)
    y = y.axis(title=panel.y_title, format=".0%" if panel.percent else NUMBERS, tickCount=5, domain=False)
    where = {"x": _across(slots, step)}
    most = max(len(slot.bars) for slot in slots)
    if most > 1:
        where["xOffset"] = alt.XOffset("bar:O").scale(paddingInner=0.05)
    bars = alt.Chart().mark_bar(aria=True).transform_filter(alt.datum.what == "part")
    layers: list[Any] = [bars.encode(**where, y=y, color=keys.colour, order="order:Q", **TELLS)]
    if keys.marks:
        marks = alt.Chart().transform_filter(alt.datum.what == "mark").encode(**where, y=y)
        # A ring of paper beneath keeps a mark apart from whatever it lies on.
        layers.append(marks.mark_point(filled=False, stroke=PAPER, strokeWidth=4, size=52, opacity=1))
        ring = marks.mark_point(filled=True, stroke=INK, strokeWidth=1.6, opacity=1, aria=True)
        layers.append(ring.encode(**keys.fills, **TELLS))
    texts = _texts(where, y.axis(None) if panel.right_title else y)
    if panel.right_title:
        layers = [alt.layer(*layers), alt.layer(*_curve(panel, where)), alt.layer(*texts)]
    else:
        layers += texts
    chart = alt.layer(*layers, data=data_of(_rows(panel, keys, step))).properties(
        width=alt.Step(step if most == 1 else step * (1 - _INNER) / most), height=height
    )
    if panel.right_title:
        chart = chart.resolve_scale(y="independent")
    if len(panel.groups) > 1 or panel.groups[0].label:
        lines = [wrap(group.label, max(8, int(step * len(group.slots) / 6.4))) for group in panel.groups]
        style = {"labelOrient": "bottom", "labelFontSize": 12, "labelColor": INK, "labelExpr": named(lines)}
        header = alt.Header(title=None, **style)
        chart = chart.facet(alt.Facet("group:O", header=header), columns=beside, spacing=_APART)
        chart = chart.resolve_scale(x="independent")
    return chart.properties(title=alt.TitleParams(text=panel.title, fontSize=13, offset=8)) if panel.title else chart


def _room(groups: Sequence[BarGroup], room: float) -> tuple[int, float]:
    """How many groups go side by side, and the width of a slot; fewer where slots would be too thin for a label."""
    beside = len(groups)
    while True:
        rows = [groups[place : place + beside] for place in range(0, len(groups), beside)]
        slots = max(sum(len(group.slots) + 2 * _OUTER - _INNER for group in row) for row in rows)
        step = (room - _APART * (beside - 1)) / slots
        if step >= _THIN or beside == 1:
            return beside, step
        beside = -(-beside // 2)


def _across(slots: Sequence[Slot], step: float) -> Any:
    """Slots by number, under their labels; those that have no room are written upwards, in one line if need be."""
    labels: list[str | list[str]] = [slot.label.split("\n") for slot in slots]
    turned = _LETTER * max(len(line) for label in labels for line in label) > step
    if turned and 2.2 * _LETTER * max(len(label) for label in labels) > step:
        labels = [" ".join(label) for label in labels]
    axis = alt.Axis(title=None, labelAngle=-90 if turned else 0, labelExpr=named(labels), labelOverlap=False)
    return alt.X("slot:O").scale(paddingInner=_INNER, paddingOuter=_OUTER).axis(axis)


def _rows(panel: BarPanel, keys: _Keys, step: float) -> Iterator[dict[str, Any]]:
    """One row for each part, mark, text and value on the axis at the right."""
    slots = [(number, slot) for number, group in enumerate(panel.groups) for slot in group.slots]
    for at, (group, slot) in enumerate(slots):
        for number, bar in enumerate(slot.bars):
            place = {"group": group, "slot": at, "bar": number}
            for order, (name, value) in enumerate(bar.parts):
                told = {"order": order, "tells": _tells(bar.title, name, value)}
                yield place | {"what": "part", "part": name, "value": value} | told
            for name, marked in ((keys.logged, bar.logged), (keys.ours, bar.ours)):
                if name and marked is not None:
                    told = {"tells": _tells(bar.title, name, marked)}
                    yield place | {"what": "mark", "mark": name, "value": marked} | told
            if bar.text and _LETTER * len(bar.text) <= step:
                yield place | {"what": "text", "text": bar.text, "value": max(bar.height, bar.logged or 0.0)}
            if bar.right is not None:
                told = {"tells": f"{bar.title}: {bar.right:.3g} {panel.right_title}"}
                yield place | {"what": "right", "right": bar.right} | told


def _texts(where: dict[str, Any], y: Any) -> list[Any]:
    """Figures above bars, on a strip of paper."""
    words = alt.Chart().transform_filter(alt.datum.what == "text").encode(**where, y=y, text="text:N")
    return haloed(words, colour=INK, dy=-10, fontSize=11.5)


def _curve(panel: BarPanel, where: dict[str, Any]) -> list[Any]:
    """The second quantity: its axis, its limit, its marks."""
    y = alt.Y("right:Q").scale(type="log", nice=True)
    y = y.axis(orient="right", title=panel.right_title, titleColor=RUST, labelColor=RUST, grid=False, format=NUMBERS)
    marks = alt.Chart().transform_filter(alt.datum.what == "right").encode(**where, y=y)
    layers = [
        marks.mark_line(color=RUST, strokeWidth=1.4),
        marks.mark_point(filled=True, color=RUST, size=34, opacity=1, aria=True).encode(**TELLS),
    ]
    if panel.limit is not None:
        limit = marks_of([{"right": panel.limit}]).mark_rule(color=RUST, strokeDash=[5, 4])
        layers.append(limit.encode(y=y))
    return layers


def _tells(title: str, name: str, value: float) -> str:
    return f"{title}: {name} {value:.4g}" if title else f"{name} {value:.4g}"
