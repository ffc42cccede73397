"""Stacked bars in groups and panels, with marks upon them, and a second quantity on an axis at the right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from volvelle.report.figures.axes import NUMBERS
from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import INK, PAPER, RUST, TELLS, WIDE, finished, legend

__all__ = ["Bar", "BarGroup", "BarPanel", "Slot", "bar_chart"]

_LEFT, _RIGHT, _APART = 62.0, 62.0, 16.0


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
    across: int = 1,
    height: float = 240.0,
    turned: bool = False,
    width: float = WIDE,
) -> Chart:
    """The picture; `logged` and `ours` say what marks are, `turned` writes slots' labels upwards."""
    wide = width / across
    keys = _Keys(colours=colours, marks=[name for name in (logged, ours) if name], width=width - _LEFT)
    drawn = [_panel(panel, keys, logged or "logged", wide, height, turned=turned) for panel in panels]
    chart = drawn[0] if len(drawn) == 1 else alt.concat(*drawn, columns=across, spacing={"row": 26, "column": 18})
    return finished(chart, title=title, about=about, width=width, said=said)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    colours: Mapping[str, str]
    marks: list[str]
    width: float

    @property
    def fill(self) -> "alt.Fill":
        names = list(self.colours)
        shown = legend(names, self.width) if len(names) > 1 or self.marks else None
        return alt.Fill("part:N", legend=shown).scale(domain=names, range=list(self.colours.values()))

    def mark(self, first: str) -> dict[str, Any]:
        """A hollow ring for what was logged, a filled dot for ours."""
        shown = legend(self.marks, self.width, symbolType="circle", symbolStrokeWidth=1.6) if self.marks else None
        hollow, full = [PAPER if name == first else INK for name in self.marks], list(self.marks)
        sizes = [58 if name == first else 20 for name in self.marks]
        return {
            "fill": alt.Fill("mark:N", legend=shown).scale(domain=full, range=hollow),
            "size": alt.Size("mark:N", legend=shown).scale(domain=full, range=sizes),
        }


def _panel(panel: BarPanel, keys: _Keys, logged: str, wide: float, height: float, *, turned: bool) -> Chart:
    slots = sum(len(group.slots) for group in panel.groups)
    right = _RIGHT if panel.right_title else 0.0
    room = wide - _LEFT - right - 26 - _APART * (len(panel.groups) - 1)
    top = panel.top or 1.04 * max(
        max(bar.height, bar.logged or 0.0, bar.ours or 0.0)
        for group in panel.groups
        for slot in group.slots
        for bar in slot.bars
    )
    charts = [
        _group(panel, group, keys, logged, top, first=place == 0, turned=turned).properties(
            width=room * len(group.slots) / slots, height=height
        )
        for place, group in enumerate(panel.groups)
    ]
    row = alt.hconcat(*charts, spacing=_APART) if len(charts) > 1 else charts[0]
    return row.properties(title=alt.TitleParams(text=panel.title, fontSize=13, offset=8)) if panel.title else row


def _group(
    panel: BarPanel, group: BarGroup, keys: _Keys, logged: str, top: float, *, first: bool, turned: bool
) -> "alt.LayerChart":
    labels = [slot.label.split("\n") for slot in group.slots]
    x = alt.X("slot:O").scale(paddingInner=0.16, paddingOuter=0.2)
    x = x.axis(
        title=group.label or None,
        labelAngle=-90 if turned else 0,
        labelExpr=f"{labels}[datum.value]",
        labelOverlap=False,
    )
    offset = alt.XOffset("bar:O").scale(paddingInner=0.05)
    left = {"title": panel.y_title if first else None, "labels": first, "domain": False}
    y = alt.Y("value:Q").scale(domain=[0, top], nice=False)
    y = y.axis(format=".0%" if panel.percent else NUMBERS, tickCount=5, **left)
    places = [
        ({"slot": at, "bar": number, "tells": bar.title}, bar)
        for at, slot in enumerate(group.slots)
        for number, bar in enumerate(slot.bars)
    ]
    where = {"x": x, **({"xOffset": offset} if any(len(slot.bars) > 1 for slot in group.slots) else {})}
    parts = [
        place | {"part": name, "order": order, "value": value, "tells": _tells(bar.title, name, value)}
        for place, bar in places
        for order, (name, value) in enumerate(bar.parts)
    ]
    layers: list[Any] = [
        marks_of(parts).mark_bar(aria=True).encode(**where, y=y, fill=keys.fill, order="order:Q", **TELLS)
    ]
    marked = [
        place | {"mark": name, "value": value, "tells": _tells(bar.title, name, value)}
        for place, bar in places
        for name, value in zip(
            keys.marks, (bar.logged, bar.ours) if logged in keys.marks else (bar.ours,), strict=False
        )
        if value is not None
    ]
    if marked:
        # A ring of paper beneath keeps a mark apart from whatever it lies on.
        under = marks_of(marked).mark_point(filled=False, stroke=PAPER, strokeWidth=4, size=52)
        ring = marks_of(marked).mark_point(filled=True, stroke=INK, strokeWidth=1.6, opacity=1, aria=True)
        layers += [under.encode(**where, y=y), ring.encode(**where, y=y, **keys.mark(logged), **TELLS)]
    texts = [
        place | {"text": bar.text, "value": max(bar.height, bar.logged or 0.0)} for place, bar in places if bar.text
    ]
    over = alt.layer(*_curve(panel, places, where)) if panel.right_title else None
    if texts:
        words = marks_of(texts).encode(**where, y=y, text="text:N")
        layers += [
            words.mark_text(dy=-10, fontSize=11.5, color=PAPER, stroke=PAPER, strokeWidth=4, strokeJoin="round"),
            words.mark_text(dy=-10, fontSize=11.5, color=INK),
        ]
    return alt.layer(*layers) if over is None else alt.layer(alt.layer(*layers), over).resolve_scale(y="independent")


def _curve(panel: BarPanel, places: Sequence[tuple[dict[str, Any], Bar]], where: dict[str, Any]) -> list[Any]:
    """The second quantity: its axis, its limit, its marks."""
    rows = [
        place | {"right": bar.right, "tells": f"{bar.title}: {bar.right:.3g} {panel.right_title}"}
        for place, bar in places
        if bar.right is not None
    ]
    y = alt.Y("right:Q").scale(type="log", nice=True)
    y = y.axis(orient="right", title=panel.right_title, titleColor=RUST, labelColor=RUST, grid=False, format=NUMBERS)
    marks = marks_of(rows).encode(**where, y=y)
    layers = [
        marks.mark_line(color=RUST, strokeWidth=1.4),
        marks.mark_point(filled=True, color=RUST, size=34, aria=True),
    ]
    layers[1] = layers[1].encode(**TELLS)
    if panel.limit is not None:
        limit = marks_of([{"right": panel.limit}]).mark_rule(color=RUST, strokeDash=[5, 4])
        layers.append(limit.encode(y=y))
    return layers


def _tells(title: str, name: str, value: float) -> str:
    return f"{title}: {name} {value:.4g}" if title else f"{name} {value:.4g}"
