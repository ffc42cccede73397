"""A plan of how to serve as a page."""

from volvelle.report.page.builder import page
from volvelle.report.page.parts import Bullets, Command, Grid, Headline, Part, Picture, Section, Warned, Words
from volvelle.report.plan_serving.picture import tradeoff_picture
from volvelle.report.plan_serving.split_words import split_command, split_lines
from volvelle.report.plan_serving.words import (
    COLUMNS,
    NUMBERS,
    asked_text,
    change_rows,
    counts_text,
    dead_end_lines,
    option_cells,
    option_lines,
    title_text,
)
from volvelle.report.sheet import Sheet
from volvelle.verbs.plan_serving.plan import ServingPlan
from volvelle.verbs.plan_serving.tradeoff import tradeoff


def serving_plan_page(plan: ServingPlan, *, command: str = "") -> str:
    """The page."""
    points = tradeoff(plan)
    best = plan.best
    notes: tuple[Part, ...] = tuple(Warned(f"{note[0].upper()}{note[1:]}.") for note in plan.notes)
    sections = []
    if best is None:
        told = Bullets(tuple(dead_end_lines(plan)))
        value = "nothing serves it" if plan.split is None else "no instance that does both serves it"
        head = Headline(value=value, says=asked_text(plan), parts=(told, *notes), fails=True)
        sections.append(Section(title="", anchor="answer", parts=(head,)))
    else:
        first, *others = option_lines(plan, best)
        head = Headline(
            value=first,
            says=asked_text(plan),
            parts=(Bullets(tuple(others)), Command(best.question.command), *notes),
        )
        rows = tuple(option_cells(plan, option) for option in plan.options)
        ranked = Sheet(title="", columns=COLUMNS, rows=rows, numbers=frozenset(NUMBERS))
        columns = ("change", "goodput", "replicas")
        changes = Sheet(title="", columns=columns, rows=tuple(change_rows(plan)), numbers=frozenset(columns[1:]))
        sections = [
            Section(title="", anchor="answer", parts=(head,)),
            Section(title="The best of each layout", anchor="options", parts=(Grid.of(ranked),)),
            Section(title="What would change it", anchor="changes", parts=(Grid.of(changes),)),
        ]
    if plan.split_pools is not None:
        asks = (Command(split_command(plan)),) if split_command(plan) else ()
        pools = (Bullets(tuple(split_lines(plan))), *asks)
        sections.append(Section(title="Split pools", anchor="split", parts=pools))
    if points:
        drawn = Picture(draw=lambda width: tradeoff_picture(plan, points, width=width))
        sections.append(Section(title="What a user gets, what a chip gives", anchor="tradeoff", parts=(drawn,)))
    sections.append(Section(title="The search", anchor="search", parts=(Words(counts_text(plan)),)))
    return page(
        title=title_text(plan), lead=asked_text(plan), verb="volvelle plan: serving", sections=sections, command=command
    )
