"""An estimate as a page: the answer with its range, where time and memory go, runs like it, inputs with sources."""

from collections.abc import Mapping

from volvelle.applications.training.evidence import Input
from volvelle.quantities import BYTES, DOLLARS, JOULES, SECONDS, TOKEN_COUNT, WATTS, Quantity, show, whole_text
from volvelle.report.compare_text import difference_lines
from volvelle.report.estimate_text import fits_text, layout_text, money_words
from volvelle.report.layout_command import layout_facts
from volvelle.report.page.breakdown import (
    cite,
    laws_section,
    memory_section,
    sources_section,
    time_section,
    violation_parts,
)
from volvelle.report.page.builder import page
from volvelle.report.page.parts import (
    Cell,
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
from volvelle.report.range_words import range_words
from volvelle.report.run_text import run_figures
from volvelle.report.schedule_picture import schedule_picture
from volvelle.verbs.estimate import Answer
from volvelle.verbs.estimators import EVENT

_KINDS: Mapping[str, Quantity] = {
    "time": SECONDS,
    "memory": BYTES,
    "headroom": BYTES,
    "power": WATTS,
    "energy": JOULES,
    "dollars": DOLLARS,
}


def estimate_page(answer: Answer, *, command: str = "") -> str:
    """The page."""
    lead = (
        f"{answer.parameters / 1e9:.4g} B parameters, {answer.step.batch:,} sequences of {answer.sequence:,} tokens a "
        f"step, on {answer.cluster.accelerators:,} × {answer.cluster.chip.name}"
    )
    sections = [
        Section(title="", anchor="answer", parts=(_headline(answer),)),
        Section(title="Why it cannot run", anchor="cannot-run", parts=violation_parts(answer.estimate.violations)),
        *((time_section(answer.estimate),) if answer.speed is not None else ()),
        *((_schedule(answer),) if answer.speed is not None and answer.estimator == EVENT else ()),
        memory_section(answer.estimate, rank=answer.estimate.worst_rank, host=answer.cluster.host_memory),
        _runs_like_it(answer),
        _how_sure(answer),
        _question(answer),
        _inputs(answer),
        laws_section(answer.estimate, answer.references),
        sources_section(
            [*(used.figure.source for used in answer.inputs), *(law.paper for law in answer.laws)], answer.references
        ),
    ]
    return page(
        title=f"{answer.model} on {answer.cluster.name}",
        lead=f"{lead}.",
        verb="volvelle estimate: one training step",
        sections=sections,
        command=command,
    )


def _schedule(answer: Answer) -> Section:
    drawn = Picture(draw=lambda width: schedule_picture(answer.replayed, width=width))
    return Section(title="When stages work and wait", anchor="schedule", parts=(drawn,))


def _headline(answer: Answer) -> Headline:
    estimate, costs = answer.estimate, answer.costs
    speed = answer.speed
    held = f"{show(estimate.memory_bytes, BYTES)} of {show(estimate.capacity, BYTES)}"
    figures = [(held, f"memory of the fullest rank: {fits_text(estimate)}")]
    warned: list[Part] = [Warned(note) for note in answer.notes]
    if answer.stack and not answer.stack_timed:
        family = answer.cluster.chip.family
        warned.append(Warned(f"{answer.stack} was not timed on {family} chips; what is known of both counts."))
    warned += _crossings(answer)
    if speed is None:
        return Headline(
            value="no speed",
            says="counts do not divide, so there is no such layout",
            figures=tuple(figures),
            parts=tuple(warned),
            fails=True,
        )
    rate = speed.work / speed.time / speed.chips / 1e12
    figures = [
        (f"{100 * speed.utilisation:.1f} %", "of peak (MFU)"),
        (whole_text(speed.tokens_per_second), "tokens/s"),
        (f"{rate:.1f} TFLOP/s", "a chip"),
        *figures,
    ]
    if costs.energy is not None:
        power = show(float(costs.energy) / speed.time, WATTS)
        figures.append((power, f"{show(float(costs.energy), JOULES)}/step"))
    if costs.dollars is not None:
        figures.append((f"{show(float(costs.dollars), DOLLARS)}/step", "on owned hardware"))
    if answer.run is not None:
        figures += run_figures(answer.run)
    span = speed.time_range
    says = (
        ""
        if span is None
        else f"{show(span.low, SECONDS)} … {show(span.high, SECONDS)} ({100 * span.level:.0f} % range)"
    )
    return Headline(
        value=f"{show(speed.time, SECONDS)}/step",
        says=says + ("" if estimate.feasible else "; but it cannot run"),
        figures=tuple(figures),
        parts=(*_against(answer), *warned),
        fails=not estimate.feasible,
    )


def _against(answer: Answer) -> tuple[Part, ...]:
    """How it differs from the machine as it is, where numbers of it were set."""
    told = answer.difference
    return () if told is None else (Words("; ".join(difference_lines(told)) + "."),)


def _crossings(answer: Answer) -> list[Part]:
    """Where a range crosses what the machine has."""
    estimate, span = answer.estimate, answer.ranges.get("memory")
    if not estimate.feasible or span is None or span.high <= estimate.capacity:
        return []
    most = show(span.high, BYTES)
    return [Warned(f"It fits, but its range does not: up to {most} of {show(estimate.capacity, BYTES)} may be held.")]


def _runs_like_it(answer: Answer) -> Section:
    runs = answer.nearest_runs if answer.speed is not None else ()
    parts: tuple[Part, ...] = ()
    if runs:
        grid = Grid(
            title="Measured runs like it",
            columns=("model", "accelerators", "prediction is off by", "source"),
            rows=tuple(
                Row(
                    cells=(
                        run.model,
                        Cell(text=f"{run.chips:,} × {run.accelerator}", value=float(run.chips)),
                        Cell(text=f"{100 * run.error:+.0f} %", value=run.error),
                        cite(run.source, answer.references),
                    )
                )
                for run in runs
            ),
            numbers=frozenset({"prediction is off by"}),
        )
        parts = (grid,)
    elif answer.speed is not None:
        parts = (Words("No measured run on such chips with such software is in the catalogue."),)
    return Section(title="Measured runs like it", anchor="runs", parts=parts)


def _how_sure(answer: Answer) -> Section:
    rows = tuple(
        Row(cells=("money" if name == "dollars" else name, show(span.low, kind), show(span.high, kind)))
        for name, kind in _KINDS.items()
        if (span := answer.ranges.get(name)) is not None
    )
    if not rows:
        return Section(title="", anchor="ranges", parts=())
    level = next(iter(answer.ranges.values())).level
    grid = Grid(
        title="Ranges",
        columns=("of a step", "low", "high"),
        rows=rows,
        numbers=frozenset({"low", "high"}),
        note=f"{100 * level:.0f} % of sampled inputs end inside. {range_words(answer.basis)}",
    )
    return Section(title="How sure", anchor="ranges", parts=(grid,))


def _question(answer: Answer) -> Section:
    step, cluster, mapping = answer.step, answer.cluster, answer.estimate.mapping
    shape = " × ".join(f"{dimension.size} ({dimension.name})" for dimension in cluster.dimensions)
    others = ", ".join(f"{name} {time / answer.estimate.time - 1:+.0%}" for name, time in answer.other_stacks.items())
    software = (answer.stack or "as the chip's constants say") + (f"; with {others}" if others else "")
    pairs: list[tuple[str, str]] = [
        ("model", f"{answer.model}, {answer.parameters:,} parameters"),
        ("global batch", f"{step.batch:,} sequences of {answer.sequence:,} tokens"),
        ("element", step.element),
        ("system", f"{cluster.name}: {cluster.accelerators:,} × {cluster.chip.name}, {shape}"),
        ("software", software),
        ("layout", layout_text(mapping)),
        ("memory left free", f"{100 * answer.estimate.left_free:.3g} %"),
    ]
    if step.expert_load != 1.0:
        pairs.append(("busiest expert", f"{step.expert_load:g} times the even share of tokens"))
    if answer.run is not None:
        pairs.append(("tokens in all", show(answer.run.tokens, TOKEN_COUNT)))
    choices = Grid(
        title="Every choice of the layout",
        columns=("choice", "here", "option", "what it is"),
        rows=tuple(Row(cells=cells) for cells in layout_facts(mapping)),
    )
    more = More(title="Every choice of the layout, defaults too", parts=(choices,))
    return Section(title="The question, with every default", anchor="question", parts=(Facts(pairs=tuple(pairs)), more))


def _inputs(answer: Answer) -> Section:
    def row(used: Input) -> Row:
        figure = used.figure
        low, high = figure.bounds(0.8)
        between = "" if figure.spread is None else f"{used.shown(low)} … {used.shown(high)}"
        return Row(
            cells=(
                used.name,
                used.shown(figure.value),
                between,
                figure.evidence.word,
                cite(figure.source, answer.references),
            )
        )

    grid = Grid(
        title="Inputs and sources",
        columns=("number", "value", "between (80 %)", "evidence", "source"),
        rows=tuple(map(row, answer.inputs)),
        numbers=frozenset({"value", "between (80 %)"}),
    )
    parts: tuple[Part, ...] = (grid,)
    if answer.speed is not None:
        parts = (grid, Words(money_words(answer), note=True))
    return Section(title="Inputs and sources", anchor="inputs", parts=parts)
