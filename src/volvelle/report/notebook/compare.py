"""A comparison as a notebook shows it."""

from dataclasses import replace

from volvelle.report.compare_text import PARTS_TITLE, change_text, figure_rows, layout_cells, part_rows
from volvelle.report.notebook.shown import Presentation, Shown, itself, under
from volvelle.report.page.compare import parts_picture
from volvelle.report.sheet import Sheet
from volvelle.verbs.compare import Comparison

_BESIDE = 4
"""Alternatives in one table; a frame has all."""


def _shown(comparison: Comparison) -> Shown:
    called = _told_apart(comparison)
    first, others = called.alternatives[0], called.alternatives[1:]
    beside, told = called.alternatives[:_BESIDE], called.differences[: _BESIDE - 1]
    names = tuple(one.name for one in beside)
    lines = [
        f"{one.name}: {change_text(difference.ratio)} for as many tokens, {difference.verdict}"
        for one, difference in zip(others, called.differences, strict=True)
        if difference is not None
    ]
    known = (
        (name, *cells)
        for name, cells in figure_rows(beside, told)
        if len(cells) == len(names) and any(cell not in ("", "–") for cell in cells)
    )
    own = comparison.alternatives[0].name
    return Shown(
        title=f"Against {first.name}" + ("" if first.name == own else f" ({own})"),
        figures=lines[:8],
        warnings=comparison.notes,
        pictures=(lambda width: parts_picture(called, width=width),) if lines else (),
        sheets=(
            Sheet(title="Side by side", columns=("", *names), rows=tuple(known), numbers=frozenset(names)),
            Sheet(
                title=PARTS_TITLE,
                columns=("part", *names),
                rows=tuple(part_rows(first, told)),
                numbers=frozenset(names),
            ),
        ),
    )


def _told_apart(comparison: Comparison) -> Comparison:
    """The same; where alternatives are called alike, their layouts are their names."""
    names = [one.name for one in comparison.alternatives]
    cells = layout_cells(comparison.alternatives)
    layouts = [cell or one.name for one, cell in zip(comparison.alternatives, cells, strict=True)]
    if len(set(names)) == len(names) or len(set(layouts)) < len(names):
        return comparison
    pairs = zip(comparison.alternatives, layouts, strict=True)
    return replace(comparison, alternatives=tuple(replace(one, name=name) for one, name in pairs))


COMPARISON = Presentation(verb="compare", document=itself, rows=under("alternatives"), shown=_shown)
