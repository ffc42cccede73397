"""Heat maps with a number in every cell: groups of columns side by side, panels one below the other."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from volvelle.report.figures.engine import Chart, alt, data_of, named
from volvelle.report.figures.theme import (
    BLANK,
    FAINT,
    INK,
    NARROW,
    ON_DEEP,
    ON_PALE,
    RAMP,
    RAMP_DOWN,
    RAMP_UP,
    RUST,
    TELLS,
    WIDE,
    finished,
)

_CELL, _HIGH = 52.0, 31.0
_FAR_APART = 20.0
"""Highest over lowest value of a panel above which colours go by logarithms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One value, as it is shown."""

    value: float
    """Gives the colour; not a number: the cell is blank."""
    text: str
    other: str = ""
    """The value it is held against, shown where it differs; the cell is then outlined."""
    title: str = ""
    """Shown when the pointer rests on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatPanel:
    """A quantity over the same rows and columns as all other panels of a picture."""

    title: str
    cells: tuple[tuple[Cell, ...], ...]
    """Row by row."""


def heat_map(
    panels: Sequence[HeatPanel],
    *,
    title: str,
    about: str,
    rows: Sequence[str],
    groups: Sequence[str],
    columns: Sequence[str],
    note: str,
    x_title: str = "",
    y_title: str = "",
    even: float | None = None,
    width: float = WIDE,
) -> Chart:
    """The picture: `groups` of the same `columns` across, `rows` down; `note` below the title.

    With an `even` value colours have two ends, one for values below it and one for those above.
    """
    beside = 1 if width <= NARROW else len(groups)
    left = 34.0 + 6.4 * max(len(row) for row in rows) + (20.0 if y_title else 0.0)
    cell = min(_CELL, (width - left - 8.0 * (beside - 1)) / (beside * len(columns)))
    # No lower than the name beside the rows is long.
    high = max(_HIGH, 6.8 * len(y_title) / len(rows))
    longest = max(len(one.text) for panel in panels for row in panel.cells for one in row)
    drawn: list[Any] = []
    for panel in panels:
        first = not drawn or beside == 1
        plain = {"domain": False, "labelOverlap": False}
        names = named([column.split("\n") for column in columns])
        x = alt.X("column:O").scale(paddingInner=0.03, paddingOuter=0.015)
        # A facet has its axes outside the names of its groups, so there columns are named by marks.
        alone = first and len(groups) == 1
        x = (
            x.axis(orient="top", labelAngle=0, labelExpr=names, title=x_title or None, **plain)
            if alone
            else x.axis(None)
        )
        y = alt.Y("row:O").scale(paddingInner=0.05, paddingOuter=0.02)
        y = y.axis(labelExpr=named(rows), title=y_title or None, **plain)
        layers = _layers(x, y, min(12.0, 1.7 * cell / longest))
        if first and len(groups) > 1:
            heads = alt.Chart().transform_filter(alt.datum.row == 0).mark_text(baseline="bottom", lineBreak="\n")
            above = alt.value(-6 - 14 * max(column.count("\n") for column in columns))
            layers.append(heads.encode(x=x, y=above, text="head:N", color=alt.value(FAINT)))
        values = _rows(panel, columns, _colours(panel, even))
        chart = alt.layer(*layers, data=data_of(values))
        chart = chart.properties(width=cell * len(columns), height=high * len(rows))
        if len(groups) > 1:
            style = {"labelFontSize": 13 if first else 1, "labelFontWeight": "bold", "labelColor": INK}
            style |= {"labelExpr": named(groups if first else [""] * len(groups)), "labelPadding": 6 if first else 0}
            header = alt.Header(title=None, **style)
            chart = chart.facet(alt.Facet("group:O", header=header), columns=beside, spacing=8)
        heading = alt.TitleParams(text=panel.title, fontSize=13, offset=6)
        drawn.append(chart.properties(title=heading) if panel.title else chart)
    whole = alt.vconcat(*drawn, spacing=14) if len(drawn) > 1 else drawn[0]
    return finished(whole, title=title, about=about, width=width, said=note)


def _rows(
    panel: HeatPanel, columns: Sequence[str], colour: Callable[[float], tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    for down, row in enumerate(panel.cells):
        for place, cell in enumerate(row):
            group, column = divmod(place, len(columns))
            fill, ink = colour(cell.value)
            yield {
                "row": down,
                "column": column,
                "group": group,
                "head": columns[column],
                "fill": fill,
                "ink": ink,
                "text": cell.text,
                "other": f"({cell.other})" if cell.other else "",
                "tells": cell.title,
            }


def _layers(x: Any, y: Any, size: float) -> list[Any]:
    base = alt.Chart().encode(x=x, y=y)
    alone, held = base.transform_filter(alt.datum.other == ""), base.transform_filter(alt.datum.other != "")
    ink = alt.Color("ink:N", scale=None)
    return [
        base.mark_rect(aria=True).encode(fill=alt.Fill("fill:N", scale=None), **TELLS),
        held.mark_rect(fill="transparent", stroke=RUST, strokeWidth=2.2),
        alone.mark_text(fontSize=size).encode(text="text:N", color=ink),
        held.mark_text(fontSize=size, dy=-6).encode(text="text:N", color=ink),
        held.mark_text(fontSize=10.5, dy=7).encode(text="other:N", color=ink),
    ]


def _colours(panel: HeatPanel, even: float | None) -> Callable[[float], tuple[str, str]]:
    """From a value to the colour of its cell and of the words on it."""
    values = [cell.value for row in panel.cells for cell in row if not math.isnan(cell.value)] or [1.0]
    low, high = min(values), max(values)

    def colour(value: float) -> tuple[str, str]:
        if math.isnan(value):
            return BLANK, ON_PALE
        if even is None:
            share, ramp = _share(value, low, high), RAMP
        else:
            share, ramp = _from_even(value, low, high, even), RAMP_DOWN if value < even else RAMP_UP
        return ramp[round(share * (len(ramp) - 1))], ON_DEEP if share > (0.6 if even is None else 0.78) else ON_PALE

    return colour


def _share(value: float, low: float, high: float) -> float:
    """Between the palest and the deepest colour."""
    if high <= low * (1.0 + 1e-3):
        return 0.7
    if low > 0 and high / low > _FAR_APART:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def _from_even(value: float, low: float, high: float, even: float) -> float:
    """How far from the even value, by logarithms, as a share of the farthest."""
    farthest = max(math.log(even / low), math.log(high / even), 1e-3)
    # The root keeps values near it, which matter most, apart.
    return math.sqrt(abs(math.log(value / even)) / farthest)
