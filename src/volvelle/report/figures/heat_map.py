"""Heat maps with a number in every cell: groups of columns side by side, panels one below the other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from volvelle.report.figures.engine import Chart, alt, marks_of
from volvelle.report.figures.theme import (
    BLANK,
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

__all__ = ["Cell", "HeatPanel", "heat_map"]

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
    stacked = width <= NARROW
    left = 34.0 + 6.4 * max(len(row) for row in rows) + (20.0 if y_title else 0.0)
    beside = 1 if stacked else len(groups)
    cell = min(_CELL, (width - left - 8.0 * (beside - 1)) / (beside * len(columns)))
    drawn = []
    for number, panel in enumerate(panels):
        colour = _colours(panel, even)
        shown = []
        for place, group in enumerate(groups):
            head = number == 0 or stacked
            cells = [row[place * len(columns) : (place + 1) * len(columns)] for row in panel.cells]
            chart = _group(cells, rows, columns, colour, head=head, first=stacked or place == 0, x=x_title, y=y_title)
            chart = chart.properties(width=cell * len(columns), height=_HIGH * len(rows))
            heading = alt.TitleParams(text=group, fontSize=13, anchor="middle", frame="group", offset=4)
            shown.append(chart.properties(title=heading) if head and group else chart)
        row = alt.concat(*shown, columns=beside, spacing=8) if len(shown) > 1 else shown[0]
        if panel.title:
            named = alt.TitleParams(text=panel.title, fontSize=13, offset=8)
            row = alt.vconcat(row).properties(title=named)
        drawn.append(row)
    chart = alt.vconcat(*drawn, spacing=16) if len(drawn) > 1 else drawn[0]
    return finished(chart, title=title, about=about, width=width, said=note)


def _group(
    cells: Sequence[Sequence[Cell]],
    rows: Sequence[str],
    columns: Sequence[str],
    colour: Any,
    *,
    head: bool,
    first: bool,
    x: str,
    y: str,
) -> "alt.LayerChart":
    values = []
    for down, row in enumerate(cells):
        for across, cell in enumerate(row):
            fill, ink = colour(cell.value)
            said = {"text": cell.text, "other": f"({cell.other})" if cell.other else "", "tells": cell.title}
            values.append({"row": down, "column": across, "fill": fill, "ink": ink, **said})
    plain = {"domain": False, "labelOverlap": False}
    names, lines = [str(row) for row in rows], [column.split("\n") for column in columns]
    across = alt.X("column:O").scale(paddingInner=0.03, paddingOuter=0.015)
    across = (
        across.axis(orient="top", labelAngle=0, labelExpr=f"{lines}[datum.value]", title=x or None, **plain)
        if (head)
        else across.axis(None)
    )
    down = alt.Y("row:O").scale(paddingInner=0.05, paddingOuter=0.02)
    down = down.axis(labelExpr=f"{names}[datum.value]", title=y or None, **plain) if first else down.axis(None)
    base = marks_of(values).encode(x=across, y=down)
    differs = marks_of(one for one in values if one["other"]).encode(x=across, y=down)
    ink = alt.Color("ink:N", scale=None)
    alone, above = alt.datum.other == "", alt.datum.other != ""
    return alt.layer(
        base.mark_rect(aria=True).encode(fill=alt.Fill("fill:N", scale=None), **TELLS),
        differs.mark_rect(fillOpacity=0, stroke=RUST, strokeWidth=2.2),
        base.transform_filter(alone).mark_text(fontSize=12).encode(text="text:N", color=ink),
        base.transform_filter(above).mark_text(fontSize=12, dy=-6).encode(text="text:N", color=ink),
        differs.mark_text(fontSize=10.5, dy=7).encode(text="other:N", color=ink),
    )


def _colours(panel: HeatPanel, even: float | None) -> Any:
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
