"""A comparison as a notebook shows it."""

from itertools import cycle

from volvelle.quantities import SECONDS, show
from volvelle.report.compare_text import PARTS_TITLE, change_text, figure_rows, layout_cell, part_rows
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.row_bars import BarRow, Piece, row_chart
from volvelle.report.figures.theme import GREY, PALETTE
from volvelle.report.notebook.shown import Presentation, Shown, itself, under
from volvelle.report.sheet import Sheet
from volvelle.verbs.compare import Comparison

_BESIDE = 4
"""Alternatives in one table; a frame has all."""
_PARTS = 6
"""Parts with a colour of their own; the rest is one."""


def _shown(comparison: Comparison) -> Shown:
    first, known = comparison.alternatives[0], _names(comparison)
    beside, told = comparison.alternatives[:_BESIDE], comparison.differences[: _BESIDE - 1]
    names = known[:_BESIDE]
    lines = [
        f"{name}: {change_text(difference.ratio)} for as many tokens, {difference.verdict}"
        for name, difference in zip(known[1:], comparison.differences, strict=True)
        if difference is not None
    ]
    figures = Sheet(
        title="Side by side",
        columns=("", *names),
        rows=tuple((name, *cells) for name, cells in figure_rows(beside, told)),
        numbers=frozenset(names),
    )
    parts = Sheet(
        title=PARTS_TITLE, columns=("part", *names), rows=tuple(part_rows(first, told)), numbers=frozenset(names)
    )
    return Shown(
        title=f"Against {known[0]}" + ("" if known[0] == first.name else f" ({first.name})"),
        figures=lines[:8],
        warnings=comparison.notes,
        pictures=(lambda width: _picture(comparison, width),),
        sheets=(figures, parts),
    )


def _names(comparison: Comparison) -> tuple[str, ...]:
    """Of the alternatives; where they are called alike, their layouts tell them apart."""
    names = tuple(one.name for one in comparison.alternatives)
    layouts = tuple(layout_cell(one) or one.name for one in comparison.alternatives)
    return layouts if len(set(names)) < len(names) and len(set(layouts)) == len(names) else names


def _picture(comparison: Comparison, width: float) -> Chart | None:
    """Steps side by side, by part, for as many tokens as the first has."""
    first = comparison.alternatives[0]
    both = zip(_names(comparison), comparison.alternatives, strict=True)
    timed = {name: one for name, one in both if one.time is not None}
    if not timed:
        return None
    whole: dict[str, float] = {}
    for one in timed.values():
        for part, seconds in one.parts.items():
            whole[part] = whole.get(part, 0.0) + seconds * first.tokens / one.tokens
    named = sorted(whole, key=lambda part: -whole[part])[:_PARTS]
    rows = []
    for name, one in timed.items():
        share = first.tokens / one.tokens
        own = {part: one.parts.get(part, 0.0) * share for part in named}
        own["all else"] = max((one.time or 0.0) * share - sum(own.values()), 0.0)
        rows.append(
            BarRow(
                label=name,
                pieces=tuple(
                    Piece(kind=part, value=seconds, tells=f"{name}, {part}: {show(seconds, SECONDS)}")
                    for part, seconds in own.items()
                    if seconds > 0
                ),
                text=show((one.time or 0.0) * share, SECONDS),
                span=None if one.range is None else (one.range.low * share, one.range.high * share),
            )
        )
    return row_chart(
        rows,
        name="time of a step",
        kind=SECONDS,
        colours={**dict(zip(named, cycle(part for part in PALETTE if part != GREY), strict=False)), "all else": GREY},
        title="Where the time goes, for as many tokens",
        about="Seconds of a step by part: " + ", ".join(f"{row.label} {row.text}" for row in rows),
        said="Thin line: 80 % range.",
        width=width,
    )


COMPARISON = Presentation(verb="compare", document=itself, rows=under("alternatives"), shown=_shown)
