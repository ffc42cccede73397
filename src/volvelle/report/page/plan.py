"""A plan as a page: the first layout with its range, the best of each kind, where its time goes, what would help."""

from collections.abc import Mapping, Sequence

from volvelle.catalogue.schema import Reference
from volvelle.estimators.calibration import fitted_constants
from volvelle.mapping.axes import AXES
from volvelle.mapping.kinds import Kind
from volvelle.quantities import BYTES, SECONDS, show, whole_text
from volvelle.report.compare_text import difference_lines
from volvelle.report.estimate_text import fits_text
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.row_bars import BarRow, Piece, row_chart
from volvelle.report.figures.theme import BLUE, GREEN, GREY, NAVY, ORANGE, RUST, VIOLET, WIDE
from volvelle.report.layout_command import estimate_command, layout_facts, legend_of_letters
from volvelle.report.page.breakdown import (
    laws_of,
    laws_section,
    memory_section,
    sources_section,
    time_section,
)
from volvelle.report.page.builder import page
from volvelle.report.page.parts import (
    Cell,
    Command,
    Facts,
    Grid,
    Headline,
    More,
    Part,
    Picture,
    Row,
    Section,
    Warned,
    Words,
)
from volvelle.report.plan_words import (
    choices_text,
    dead_end_words,
    degrees_text,
    layout_cells,
    layout_names,
    nearest_words,
    why_words,
)
from volvelle.report.run_text import run_figures
from volvelle.verbs.layouts import Layout
from volvelle.verbs.plan import Plan

_DRAWN = 16
"""Layouts that the picture shows."""
_COLOURS = dict(zip(Kind, (BLUE, NAVY, GREEN, VIOLET, ORANGE, RUST, GREY), strict=True))


def plan_page(plan: Plan, *, references: Mapping[str, Reference], asked: Sequence[str] = (), command: str = "") -> str:
    """The page; `asked` are the words of ``volvelle estimate`` that ask about one layout, but for the layout."""
    words = asked or [plan.model, "--on", plan.cluster.name, "--batch", str(plan.step.batch)]
    best = plan.best
    sections = [Section(title="", anchor="answer", parts=(_headline(plan, words),))]
    if best is not None:
        sections += [
            _ranking(plan, words),
            time_section(best),
            memory_section(best, rank=best.worst_rank, host=plan.cluster.host_memory),
            _what_would_help(plan, words),
            _question(plan),
            laws_section(best, references),
            sources_section([law.paper for law in laws_of(best)], references),
        ]
    else:
        sections += [_ways_out(plan), _question(plan)]
    return page(
        title=f"{plan.model} on {plan.cluster.name}",
        lead=f"The fastest layouts for {plan.step.batch:,} sequences of {plan.sequence:,} tokens a step, of "
        f"{plan.ranking.configurations:,} that were looked at.",
        verb="volvelle plan: the best layout",
        sections=sections,
        command=command,
    )


def shown_layouts(plan: Plan) -> tuple[Layout, ...]:
    """The fastest of each kind and the fastest of all, each once, fastest first."""
    found = {layout.mapping: layout for layout in (*plan.kinds, *plan.layouts)}
    ties = {layout.mapping: layout for layout in plan.layouts}
    return tuple(sorted((ties.get(key, found[key]) for key in found), key=lambda layout: layout.time))


def _headline(plan: Plan, asked: Sequence[str]) -> Headline:
    notes: list[Part] = [
        Warned(f"{note[0].upper()}{note[1:]}.") for note in (*plan.notes, *plan.cluster.notes_on_power)
    ]
    best = plan.best
    if best is None:
        looked = f"{plan.ranking.configurations:,} layouts were looked at"
        return Headline(value="none fits", says=looked, parts=tuple(notes), fails=True)
    notes += [Warned(f"{note[0].upper()}{note[1:]}.") for note in plan.warnings]
    span = best.time_range
    held = f"{show(best.memory_bytes, BYTES)} of {show(best.capacity, BYTES)}"
    figures = [
        (f"{100 * best.utilisation:.1f} %", "of peak (MFU)"),
        (whole_text(best.tokens_per_second), "tokens/s"),
        (held, f"memory of the fullest rank: {fits_text(best)}"),
        *(run_figures(plan.run) if plan.run is not None else ()),
    ]
    against = () if plan.difference is None else (Words("; ".join(difference_lines(plan.difference)) + "."),)
    layout = Facts(pairs=(("layout", f"{degrees_text(best.mapping)}; {choices_text(best.mapping)}"),))
    says = (
        ""
        if span is None
        else f"{show(span.low, SECONDS)} … {show(span.high, SECONDS)} ({100 * span.level:.0f} % range)"
    )
    return Headline(
        value=f"{show(best.time, SECONDS)}/step",
        says=says,
        figures=tuple(figures),
        parts=(
            *against,
            layout,
            Command(estimate_command(asked, best.mapping)),
            Words(legend_of_letters(), note=True),
            *notes,
        ),
    )


def _tells(place: int, layout: Layout) -> str:
    return (
        f"{place}. {layout.kind.word}: {degrees_text(layout.mapping)}, {choices_text(layout.mapping)}: "
        f"{show(layout.time, SECONDS)}, {show(layout.memory_bytes, BYTES)} a chip"
    )


def ranking_picture(plan: Plan, *, width: float = WIDE) -> Chart:
    """A dot for every layout at its time, in the colour of its kind; the range of the first as a line."""
    layouts = shown_layouts(plan)[:_DRAWN]
    span = plan.best.time_range if plan.best is not None else None
    first = None if plan.best is None else plan.best.mapping
    names = layout_names([layout.mapping for layout in layouts])
    rows = [
        BarRow(
            label=f"{place}. {name}",
            pieces=(Piece(kind=layout.kind.word, value=layout.time, tells=_tells(place, layout)),),
            text=show(layout.time, SECONDS),
            span=(span.low, span.high) if span is not None and layout.mapping == first else None,
        )
        for place, (layout, name) in enumerate(zip(layouts, names, strict=True), start=1)
    ]
    return row_chart(
        rows,
        name="time of a step",
        kind=SECONDS,
        colours={kind.word: colour for kind, colour in _COLOURS.items()},
        title="Layouts, fastest first",
        about="Seconds of a step of every layout of the table.",
        said="Colours: kinds of layouts. The line is the range of the first; layouts inside it may be as fast.",
        dots=True,
        width=width,
    )


def _ranking(plan: Plan, asked: Sequence[str]) -> Section:
    layouts = shown_layouts(plan)
    best_of_kind = {layout.mapping for layout in plan.kinds}
    used = [axis for axis in AXES if axis.plain or any(getattr(one.mapping, axis.name) > 1 for one in layouts)]

    def row(place: int, layout: Layout) -> Row:
        *figures, kind, _, choices, launched = layout_cells(layout)
        values = (layout.time, layout.utilisation, layout.memory_bytes)
        degrees = (getattr(layout.mapping, axis.name) for axis in used)
        first = f" ({plan.order})" if layout.mapping in best_of_kind else ""
        return Row(
            cells=(
                Cell(text=str(place), value=float(place)),
                *(Cell(text=text, value=value) for text, value in zip(figures, values, strict=True)),
                *(Cell(text=str(degree), value=float(degree)) for degree in degrees),
                f"{kind}{first}",
                choices,
                launched,
                Cell(text=estimate_command(asked, layout.mapping), copied=True),
            ),
            chosen=plan.best is not None and layout.mapping == plan.best.mapping,
            marks=f"{place}. ",
        )

    grid = Grid(
        title="Layouts, fastest first",
        columns=(
            "rank",
            "step",
            "MFU",
            "memory",
            *(axis.word for axis in used),
            "kind",
            "choices",
            "launched by",
            "the same as an estimate",
        ),
        rows=tuple(row(place, layout) for place, layout in enumerate(layouts, start=1)),
        numbers=frozenset({"rank", "step", "MFU", "memory", *(axis.word for axis in used)}),
        note=why_words(plan),
    )
    drawn = Picture(draw=lambda width: ranking_picture(plan, width=width))
    return Section(title="Layouts", anchor="layouts", parts=(drawn, grid))


def _what_would_help(plan: Plan, asked: Sequence[str]) -> Section:
    helps = sorted((item for item in plan.sensitivity if item.gain > 5e-4), key=lambda item: -item.gain)
    parts: list[Part] = []
    if helps:

        def drawn(width: float) -> Chart:
            return row_chart(
                [
                    BarRow(
                        label=item.name,
                        pieces=(Piece(kind="saved", value=item.gain, tells=f"{item.name}: {100 * item.gain:.1f} %"),),
                        text=f"{100 * item.gain:.1f} %",
                    )
                    for item in helps
                ],
                name="saved of the step",
                kind=None,
                colours={"saved": GREEN},
                title="A tenth more of a resource saves of the step",
                about="; ".join(f"{item.name} {100 * item.gain:.1f} %" for item in helps),
                width=width,
            )

        parts.append(Picture(draw=drawn))
    if plan.nearest is not None:
        parts += [Words(nearest_words(plan.nearest)), Command(estimate_command(asked, plan.nearest.mapping))]
    return Section(title="What would help", anchor="helps", parts=tuple(parts))


def _ways_out(plan: Plan) -> Section:
    told, ways = dead_end_words(plan)
    commands = (part for command, gives in ways for part in (Words(f"{gives}:"), Command(command)))
    return Section(title="What would fit", anchor="ways-out", parts=(*map(Words, told), *commands))


def _question(plan: Plan) -> Section:
    step, cluster, ranking = plan.step, plan.cluster, plan.ranking
    shape = " × ".join(f"{dimension.size} ({dimension.name})" for dimension in cluster.dimensions)
    pairs = (
        ("model", f"{plan.model}, {step.model.parameters():,} parameters"),
        ("global batch", f"{step.batch:,} sequences of {plan.sequence:,} tokens"),
        ("element", step.element),
        ("system", f"{cluster.name}: {cluster.accelerators:,} × {cluster.chip.name}, {shape}"),
        ("memory left free", f"{100 * max(fitted_constants(cluster, step.element).memory_margin, 0.0):.3g} %"),
        (
            "looked at",
            f"{ranking.configurations:,} layouts: {ranking.evaluated:,} timed, {ranking.pruned:,} ruled out by their "
            f"states alone, {ranking.feasible:,} can run",
        ),
    )
    parts: tuple[Part, ...] = (Facts(pairs=pairs),)
    if plan.best is not None:
        grid = Grid(
            title="Every choice of the first layout",
            columns=("choice", "here", "option", "what it is"),
            rows=tuple(Row(cells=cells) for cells in layout_facts(plan.best.mapping)),
        )
        parts = (*parts, More(title="Every choice of the first layout, defaults too", parts=(grid,)))
    return Section(title="The question, with every default", anchor="question", parts=parts)
