"""A mapped graph as a page: the time and its proof, partitions, splits, the graph and a roofline."""

from collections.abc import Mapping

from volvelle.catalogue.schema import Reference
from volvelle.quantities import BYTES, SECONDS, show
from volvelle.report.figures.engine import Chart
from volvelle.report.map_text import (
    certificate_words,
    degrees_words,
    graph_pictures,
    looked_words,
    roofline_picture,
    split_lines,
)
from volvelle.report.page.breakdown import (
    laws_of,
    laws_section,
    memory_section,
    sources_section,
    time_section,
    violation_parts,
)
from volvelle.report.page.builder import page
from volvelle.report.page.parts import Bullets, Cell, Facts, Grid, Headline, Part, Picture, Row, Section, Words
from volvelle.search.graph.answer import FusedBlock, MappedPlan
from volvelle.verbs.map import MapAnswer


def map_page(answer: MapAnswer, *, references: Mapping[str, Reference], command: str = "") -> str:
    """The page."""
    found, plan = answer.mapping, answer.mapping.plan
    sections = [Section(title="", anchor="answer", parts=(_headline(answer),))]
    if plan is None:
        parts = violation_parts(found.violations)
        sections.append(Section(title="Why nothing fits", anchor="cannot-run", parts=parts))
    else:
        sections += [
            time_section(plan),
            memory_section(plan),
            _graph(answer, plan),
            _partitions(plan),
            _splits(plan),
            _binding(plan),
        ]
    sections.append(_question(answer))
    if plan is not None:
        sections += [
            laws_section(plan, references),
            sources_section([law.paper for law in laws_of(plan)], references),
        ]
    return page(
        title=f"{found.workload} on {found.cluster}",
        lead=f"{answer.parameters / 1e9:.4g} B parameters, {answer.graph}, {answer.execution} execution, on "
        f"{found.chips:,} × {answer.cluster.chip.name}.",
        verb="volvelle map: the best mapping of a graph",
        sections=sections,
        command=command,
    )


def _headline(answer: MapAnswer) -> Headline:
    found, plan = answer.mapping, answer.mapping.plan
    if plan is None:
        return Headline(
            value="nothing fits" if found.proven else "nothing was found in time",
            says=looked_words(found),
            fails=True,
        )
    return Headline(
        value=f"{show(plan.time, SECONDS)}/step",
        says=f"of {plan.micro_batches * plan.degrees.data:,} micro-batches; {certificate_words(found)}",
        figures=(
            (f"{100 * plan.utilisation:.1f} %", "of peak"),
            (f"{plan.throughput:,.4g}", "micro-batches/s"),
            (f"{show(plan.memory_bytes, BYTES)} of {show(plan.capacity, BYTES)}", "memory of the fullest stage"),
        ),
        parts=(Facts(pairs=(("mapping", degrees_words(plan)),)),),
    )


def _graph(answer: MapAnswer, plan: MappedPlan) -> Section:
    parts: list[Part] = [
        Picture(draw=lambda width, name=name: graph_pictures(answer)[name], at_its_size=True)  # type: ignore[misc]
        for name in graph_pictures(answer)
    ]
    if plan.fused:

        def drawn(width: float) -> Chart:
            return roofline_picture(answer, plan, width=width)

        parts.append(Picture(draw=drawn))
    return Section(title="The graph, and what bounds its partitions", anchor="graph", parts=tuple(parts))


def _partitions(plan: MappedPlan) -> Section:
    numbers = ("time", "compute", "memory", "network", "SRAM")

    def grid(block: FusedBlock, first: int) -> Grid:
        tile = f", tiles of {block.tile}" if block.tile else ""
        often = f", {block.repeat} times" if block.repeat > 1 else ""
        return Grid(
            title=f"Partitions of {block.name}",
            columns=("number", "kernels", *numbers, "bound by"),
            rows=tuple(
                Row(
                    cells=(
                        Cell(text=str(number), value=float(number)),
                        ", ".join(part.kernels),
                        *(
                            Cell(text=show(value, kind), value=value)
                            for value, kind in (
                                (part.time, SECONDS),
                                (part.compute, SECONDS),
                                (part.memory, SECONDS),
                                (part.network, SECONDS),
                                (part.sram, BYTES),
                            )
                        ),
                        part.binding,
                    ),
                    marks=f"{number}, ",
                )
                for number, part in enumerate(block.partitions, start=first)
                if part.kernels
            ),
            numbers=frozenset(("number", *numbers)),
            note=f"{block.name}: partitions in the order they run{tile}{often}.",
        )

    parts, first = list[Part](), 1
    for block in plan.fused:
        parts.append(grid(block, first))
        first += len(block.partitions)
    return Section(title="What runs together", anchor="partitions", parts=tuple(parts))


def _splits(plan: MappedPlan) -> Section:
    parts: list[Part] = []
    for title, lines in split_lines(plan):
        parts += [Words(title), Bullets(lines)]
    return Section(title="How kernels are split", anchor="splits", parts=tuple(parts))


def _binding(plan: MappedPlan) -> Section:
    gains = [
        f"{limit.name}: {100 * limit.gain / plan.time:.1f} % of the step" for limit in plan.limits if limit.gain > 0
    ]
    parts: tuple[Part, ...] = (Words("Of the step, gone without it:", note=True), Bullets(gains)) if gains else ()
    return Section(title="What binds", anchor="binds", parts=parts)


def _question(answer: MapAnswer) -> Section:
    shape = " × ".join(f"{dimension.size} ({dimension.name})" for dimension in answer.cluster.dimensions)
    pairs = (
        ("graph", f"{answer.mapping.workload}: {answer.graph}, {answer.parameters:,} parameters"),
        ("system", f"{answer.cluster.name}: {answer.mapping.chips:,} × {answer.cluster.chip.name}, {shape}"),
        ("execution", answer.execution),
        ("micro-batches", f"{answer.micro_batches:,} a step, over all replicas"),
        ("looked at", looked_words(answer.mapping)),
    )
    return Section(title="The question, with every default", anchor="question", parts=(Facts(pairs=pairs),))
