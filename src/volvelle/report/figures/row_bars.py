"""Bars that lie, one row below the other: parts of a whole from the left, a name before and a figure behind each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from volvelle.quantities import Quantity
from volvelle.report.figures.axes import Measure
from volvelle.report.figures.engine import Chart, alt, marks_of, named
from volvelle.report.figures.theme import BLANK, FAINT, INK, NARROW, PAPER, TELLS, WIDE, finished, haloed, legend

_ROW, _TALL_ROW = 27.0, 43.0
"""Height of a row, and of one whose name stands above its bar."""
_LETTER = 6.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a row."""

    kind: str
    """Gives the colour, and is in the legend."""
    value: float
    tells: str
    """Said when the pointer rests on it."""
    hollow: bool = False
    """Drawn as an outline: it is there, and does not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BarRow:
    """Pieces beside each other."""

    label: str
    pieces: tuple[Piece, ...]
    text: str = ""
    """Written behind it."""
    span: tuple[float, float] | None = None
    """Where its end may lie, as a thin line across it."""

    @property
    def reach(self) -> float:
        """Where it ends at the most."""
        return max(self.whole, self.span[1]) if self.span else self.whole

    @property
    def least(self) -> float:
        """Where it may end at the least."""
        return min(self.whole, self.span[0]) if self.span else self.whole

    @property
    def whole(self) -> float:
        """Of its pieces together."""
        return sum(piece.value for piece in self.pieces)


def row_chart(
    rows: Sequence[BarRow],
    *,
    name: str,
    kind: Quantity | None,
    colours: Mapping[str, str],
    title: str,
    about: str,
    said: str = "",
    limits: Sequence[tuple[float, str]] = (),
    dots: bool = False,
    width: float = WIDE,
) -> Chart:
    """The picture; `limits` are dashed lines from top to bottom, with words above them.

    Rows that hardly differ are `dots` at their ends, on an axis that need not begin at zero.
    """
    beside = width > NARROW
    before = _LETTER * max(len(row.label) for row in rows) + 16.0 if beside else 0.0
    wide = width - before - 30.0
    behind = _LETTER * max(len(row.text) for row in rows) + 8.0
    reach = max([row.reach for row in rows] + [value for value, _ in limits]) or 1.0
    fitted = max(row.reach for row in rows) / max(1.0 - behind / wide, 0.4)
    axis = Measure(name=name, kind=kind, low=0.0, high=max(fitted, reach * 1.02))
    if dots:
        least = min(row.least for row in rows)
        room = (reach - least or 0.1 * reach) / max(1.0 - behind / wide - 0.06, 0.3)
        axis = Measure(name=name, kind=kind, low=max(least - 0.06 * room, 0.0), high=least + 0.94 * room)
    step = _ROW if beside else _TALL_ROW
    x = alt.X("start:Q").scale(axis.scale).axis(axis.axis(domain=False))
    y = alt.Y("row:O").scale(paddingInner=0.3 if beside else 0.62, paddingOuter=0.15 if beside else 0.62)
    labels = alt.Axis(domain=False, title=None, labelExpr=named([row.label for row in rows]), labelColor=INK)
    y = y.axis(labels if beside else None)
    drawn = list(dict.fromkeys(piece.kind for row in rows for piece in row.pieces))
    kinds = [word for word in colours if word in drawn]
    above = {"offset": 28} if limits else {}
    shown = legend(kinds, width - 40, **above) if len(kinds) > 1 else None
    scale = {"domain": kinds, "range": [colours[word] for word in kinds]}
    full, hollow = _pieces(rows, axis)
    colour = alt.Color("kind:N", legend=shown).scale(**scale)
    if dots:
        mark = marks_of(full).mark_point(filled=True, size=110, opacity=1, stroke=PAPER, strokeWidth=1, aria=True)
        layers: list[Any] = [
            *_spans(rows, axis, x, y),
            mark.encode(x=alt.X("end:Q").scale(axis.scale), y=y, color=colour, **TELLS),
        ]
    else:
        bars = marks_of(full).mark_bar(aria=True)
        layers = [bars.encode(x=x, x2="end:Q", y=y, color=colour, **TELLS), *_spans(rows, axis, x, y)]
    if hollow:
        outline = marks_of(hollow).mark_bar(aria=True, fill=BLANK, strokeWidth=1.2, strokeDash=[3, 2])
        stroke = alt.Stroke("kind:N", legend=None).scale(**scale)
        layers.append(outline.encode(x=x, x2="end:Q", y=y, stroke=stroke, **TELLS))
    layers += _limits(limits, axis, x, wide)
    ends = [{"row": place, "start": axis.of(row.reach), "text": row.text} for place, row in enumerate(rows)]
    layers += haloed(marks_of(ends).encode(x=x, y=y, text="text:N"), colour=INK, align="left", dx=6, fontSize=12)
    if not beside:
        names = marks_of({"row": place, "text": row.label} for place, row in enumerate(rows))
        layers.append(
            names.mark_text(align="left", dy=-15, color=INK, fontSize=12).encode(x=alt.value(0), y=y, text="text:N")
        )
    chart = alt.layer(*layers).properties(width=wide, height=step * len(rows) + (8 if beside else 0))
    return finished(chart, title=title, about=about, width=width, said=said)


def _pieces(rows: Sequence[BarRow], axis: Measure) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of the chart's data: those that are full, and those that are outlines."""
    full, hollow = list[dict[str, Any]](), list[dict[str, Any]]()
    for place, row in enumerate(rows):
        start = 0.0
        for piece in row.pieces:
            found = {"row": place, "start": axis.of(start), "end": axis.of(start + piece.value)}
            (hollow if piece.hollow else full).append(found | {"kind": piece.kind, "tells": piece.tells})
            start += piece.value
    return full, hollow


def _spans(rows: Sequence[BarRow], axis: Measure, x: Any, y: Any) -> list[Any]:
    found = [
        {"row": place, "start": axis.of(row.span[0]), "end": axis.of(row.span[1])}
        for place, row in enumerate(rows)
        if row.span is not None
    ]
    if not found:
        return []
    line = marks_of(found).encode(y=y)
    ticks = [line.mark_tick(color=INK, thickness=1.4, size=9).encode(x=alt.X(f"{end}:Q")) for end in ("start", "end")]
    return [line.mark_rule(color=INK, strokeWidth=1.4).encode(x=x, x2="end:Q"), *ticks]


def _limits(limits: Sequence[tuple[float, str]], axis: Measure, x: Any, wide: float) -> list[Any]:
    """Dashed lines, each with its words above it, to the side that has room."""
    layers: list[Any] = []
    for value, words in limits:
        line = marks_of([{"start": axis.of(value), "text": words}])
        side = {"align": "right", "dx": 4} if axis.share(value) * wide > wide / 2 else {"align": "left", "dx": -4}
        layers.append(line.mark_rule(color=FAINT, strokeDash=[5, 4], strokeWidth=1.4).encode(x=x))
        text = line.encode(x=x, y=alt.value(-7), text="text:N")
        layers.append(text.mark_text(color=INK, fontSize=12, **side))
    return layers
