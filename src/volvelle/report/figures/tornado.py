"""A tornado: how far each axis alone moves an objective from the chosen design, the widest on top."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from volvelle.quantities import Quantity
from volvelle.report.figures.axes import Measure
from volvelle.report.figures.engine import Chart, alt, marks_of, named
from volvelle.report.figures.theme import CLOUD, GREEN, INK, NARROW, ORANGE, TELLS, WIDE, finished, haloed, legend

_ROW = 38.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TornadoBar:
    """One axis: the objective's lowest and highest value along it, and the axis's values that give them."""

    name: str
    low: float
    high: float
    low_text: str
    high_text: str
    kept: tuple[float, float] | None = None
    """The lowest and highest value that meet every constraint; None: all do."""
    note: str = ""
    """Said below the name, such as where it cannot run."""


def tornado_chart(
    bars: Sequence[TornadoBar],
    *,
    at: float,
    at_text: str,
    name: str,
    kind: Quantity | None,
    less: bool,
    title: str,
    about: str,
    width: float = WIDE,
) -> Chart:
    """The picture around the objective `at` the chosen design."""
    seen = [at, *(bar.low for bar in bars), *(bar.high for bar in bars)]
    # Room for what is written beside the bars.
    axis = Measure.over(seen, name=name, kind=kind, margin=0.34 if width <= NARROW else 0.16)
    labels: list[str | list[str]] = [[bar.name, bar.note] if bar.note else bar.name for bar in bars]
    x = alt.X("start:Q").scale(axis.scale).axis(axis.axis(domain=False))
    y = alt.Y("bar:O").scale(paddingInner=0.48, paddingOuter=0.24)
    y = y.axis(domain=False, labelExpr=named(labels), title=None, labelOverlap=False, labelColor=INK)
    # What the names beside the bars leave.
    wide = width - 60 - 6.6 * max(max(len(bar.name), len(bar.note)) for bar in bars)
    kinds = ["better than chosen", "worse than chosen", "misses a constraint"]
    sides, words = [], []
    for place, bar in enumerate(bars):
        kept = bar.kept or (bar.low, bar.high)
        for value, met, text, lower in (
            (bar.low, kept[0], bar.low_text, True),
            (bar.high, kept[1], bar.high_text, False),
        ):
            base: dict[str, Any] = {"bar": place, "lower": lower}
            missed = " (misses a constraint)" if value != met else ""
            told = {"tells": f"{bar.name}: {text}{missed}"}
            if met != at:
                side = {"start": axis.of(met), "end": axis.of(at), "kind": kinds[less != lower]}
                sides.append(base | told | side)
            if value != met:
                sides.append(base | told | {"start": axis.of(value), "end": axis.of(met), "kind": kinds[2]})
            if value != at:
                words.append(base | {"start": axis.of(value), "text": text})
        if bar.low == bar.high:
            words.append({"bar": place, "start": axis.of(at), "text": "makes no difference", "lower": False})
    kinds = [word for word in kinds if any(side["kind"] == word for side in sides)]
    colours = {"better than chosen": GREEN, "worse than chosen": ORANGE, "misses a constraint": CLOUD}
    fill = alt.Fill("kind:N", legend=legend(kinds, wide, offset=28)).scale(
        domain=kinds, range=[colours[word] for word in kinds]
    )
    chosen = marks_of([{"start": axis.of(at), "text": at_text}])
    crowded = axis.share(at) * wide + 6.8 * len(at_text) > wide
    chart = alt.layer(
        marks_of(sides).mark_bar(aria=True).encode(x=x, x2="end:Q", y=y, fill=fill, **TELLS),
        chosen.mark_rule(color=INK, strokeWidth=1.4).encode(x=x),
        chosen.mark_text(
            align="right" if crowded else "left", dy=-8, dx=0, fontWeight="bold", color=INK, fontSize=12
        ).encode(x=x, y=alt.value(0), text="text:N"),
        *_words(words, x, y),
    ).properties(width=wide, height=_ROW * len(bars))
    return finished(chart, title=title, about=about, width=width)


def _words(rows: Sequence[dict[str, Any]], x: Any, y: Any) -> list[Any]:
    """What gives each end, beside it."""
    layers: list[Any] = []
    for lower, align, step in ((True, "right", -5), (False, "left", 5)):
        text = marks_of(row for row in rows if row["lower"] is lower).encode(x=x, y=y, text="text:N")
        layers += haloed(text, colour=INK, align=align, dx=step, fontSize=11.5)
    return layers
