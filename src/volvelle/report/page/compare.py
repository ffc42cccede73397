"""A comparison as a page: which is faster and how surely, by part, figures side by side."""

import itertools

from volvelle.mapping.axes import AXES
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.quantities import SECONDS, show
from volvelle.report.compare_text import change_text, figure_rows, more_text, span_text
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.row_bars import BarRow, Piece, row_chart
from volvelle.report.figures.theme import BLUE, GREEN, GREY, LEAF, LILAC, NAVY, ORANGE, RUST, SKY, VIOLET, WIDE
from volvelle.report.page.builder import page
from volvelle.report.page.parts import Bullets, Cell, Grid, Headline, Part, Picture, Row, Section, Warned, Words
from volvelle.verbs.compare import Alternative, Comparison

_PARTS = 9
"""Parts of a step that have a colour of their own, those that take longest."""
_COLOURS = (BLUE, SKY, RUST, ORANGE, GREEN, LEAF, VIOLET, LILAC, NAVY)


def compare_page(found: Comparison, *, command: str = "") -> str:
    """The page."""
    first, *others = found.alternatives
    sections = [Section(title="", anchor="answer", parts=_headlines(found))]
    timed = [one for one in found.alternatives if one.time is not None]
    if timed:
        drawn = Picture(draw=lambda width: parts_picture(found, width=width))
        sections.append(Section(title="Where the time goes", anchor="time", parts=(drawn, _parts(found))))
    sections.append(_figures(found))
    return page(
        title=f"{first.name} against {', '.join(one.name for one in others)}",
        lead="How much longer each takes than the first, for as many tokens, and whether that is real.",
        verb="volvelle compare",
        sections=sections,
        command=command,
    )


def _headlines(found: Comparison) -> tuple[Part, ...]:
    cards: list[Part] = [Warned(f"{note[0].upper()}{note[1:]}.") for note in found.notes]
    for one, told in zip(found.alternatives[1:], found.differences, strict=True):
        if told is None:
            cards.append(Headline(value="–", says=f"{one.name}: it, or the first, cannot exist", fails=True))
            continue
        sure = "" if told.ratio == 1.0 else f", {100 * told.chance:.0f} %"
        span = span_text(told.range.low, told.range.high)
        cards.append(
            Headline(
                value="no difference" if told.ratio == 1.0 else change_text(told.ratio),
                says=f"{one.name}: {span} (80 % range); {told.verdict}{sure}",
                figures=(
                    ()
                    if one.time is None
                    else ((f"{show(one.time, SECONDS)}/step", one.name), *_first(found.alternatives[0]))
                ),
                fails=not one.feasible,
                parts=(Words(f"The range of the difference rests on {told.rests_on}.", note=True),),
            )
        )
    return tuple(cards)


def _first(first: Alternative) -> tuple[tuple[str, str], ...]:
    return () if first.time is None else ((f"{show(first.time, SECONDS)}/step", first.name),)


def _scale(one: Alternative, found: Comparison) -> float:
    """What makes its times those of as many tokens as the first has in a step."""
    return found.alternatives[0].tokens / one.tokens


def parts_picture(found: Comparison, *, width: float = WIDE) -> Chart:
    """A bar for each, by part, for as many tokens as a step of the first has."""
    timed = [one for one in found.alternatives if one.time is not None]
    whole: dict[str, float] = {}
    for one in timed:
        for part, seconds in one.parts.items():
            whole[part] = whole.get(part, 0.0) + seconds / (one.time or 1.0)
    kept = sorted(whole, key=lambda part: -whole[part])[:_PARTS]
    colours = dict(zip(kept, itertools.cycle(_COLOURS), strict=False)) | {"all else": GREY}
    rows = []
    for one in timed:
        scale = _scale(one, found)
        pieces = [(part, one.parts.get(part, 0.0) * scale) for part in kept]
        rest = sum(seconds for part, seconds in one.parts.items() if part not in kept) * scale
        shown = [(part, seconds) for part, seconds in (*pieces, ("all else", rest)) if seconds > 0]
        rows.append(
            BarRow(
                label=one.name,
                pieces=tuple(
                    Piece(kind=part, value=seconds, tells=f"{part}, {one.name}: {show(seconds, SECONDS)}")
                    for part, seconds in shown
                ),
                text=show((one.time or 0.0) * scale, SECONDS),
                span=None if one.range is None else (one.range.low * scale, one.range.high * scale),
            )
        )
    return row_chart(
        rows,
        name="time",
        kind=SECONDS,
        colours=colours,
        title="Side by side, for as many tokens",
        about="Seconds of each, by part.",
        said="Thin lines: 80 % ranges, of each by itself.",
        width=width,
    )


def _parts(found: Comparison) -> Grid:
    first, others = found.alternatives[0], found.alternatives[1:]
    names = dict.fromkeys(part for one in found.alternatives for part in one.parts)

    def more(told: object, part: str) -> str | Cell:
        seconds = getattr(told, "parts", {}).get(part, 0.0)
        return "–" if told is None else Cell(text=more_text(seconds), value=seconds)

    rows = tuple(
        Row(
            cells=(
                part,
                Cell(text=show(first.parts.get(part, 0.0), SECONDS), value=first.parts.get(part, 0.0)),
                *(more(told, part) for told in found.differences),
            ),
            marks=f"{part}, ",
        )
        for part in sorted(names, key=lambda part: -first.parts.get(part, 0.0))
    )
    columns = ("part", first.name, *(f"{one.name}, more" for one in others))
    note = "Seconds of the first, and what others take more, for as many tokens."
    return Grid(title="By part", columns=columns, rows=rows, numbers=frozenset(columns[1:]), note=note)


def _figures(found: Comparison) -> Section:
    names = tuple(one.name for one in found.alternatives)
    rows = tuple(
        Row(cells=(name, *cells))
        for name, cells in figure_rows(found.alternatives, found.differences)
        if len(cells) == len(names) and any(cell not in ("", "–") for cell in cells)
    )
    grid = Grid(title="Figures side by side", columns=("figure", *names), rows=rows, numbers=frozenset(names))
    layouts = [f"{one.name}: {_layout(one)}" for one in found.alternatives if one.layout]
    return Section(title="Figures side by side", anchor="figures", parts=(grid, Bullets(layouts)))


def _layout(one: Alternative) -> str:
    """Degrees, and what else is not as it usually is."""
    usual = ParallelMapping().described()
    degrees = [axis.name for axis in AXES]
    told = {name: value for name, value in one.layout.items() if name in degrees or value != usual.get(name)}
    words = {True: "yes", False: "no"}
    return ", ".join(
        f"{name.replace('_', ' ')} {words[value] if isinstance(value, bool) else value}" for name, value in told.items()
    )
