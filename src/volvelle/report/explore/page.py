"""The answers of a study as one self-contained page."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from volvelle.quantities import numbered
from volvelle.report.explore.best_words import crossed_limits, estimate_of
from volvelle.report.explore.pictures import (
    break_even_picture,
    front_picture,
    grid_picture,
    heat_picture,
    time_picture,
    tornado_picture,
)
from volvelle.report.explore.sheets import Tables, axis_sheet, best_facts, setting, unmet_lines
from volvelle.report.explore.words import (
    explored_words,
    goal_title,
    kept_words,
    limit_words,
    measure_name,
    unasked_words,
)
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.theme import WIDE
from volvelle.report.layout_command import legend_of_letters
from volvelle.report.page.builder import page, source_link
from volvelle.report.page.parts import (
    Bullets,
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
from volvelle.studies.answers.answers import Answers
from volvelle.studies.answers.designs import Design, measure_text

_ROWS = 80
"""Rows of the front that the page lists."""


def explore_page(answers: Answers, *, command: str = "") -> str:
    """The report: question, recommendation, front, sensitivities, pictures, how sure, and what it all rests on."""
    study = answers.study
    anew = ", the best layout at each point" if study.form.mapping.policy == "best" else ", the layout as given"
    sections = [
        _recommendation(answers),
        _every_point(answers),
        _facets(answers),
        _front(answers),
        _matters(answers, anew),
        _pictured(
            answers,
            "tornado",
            "How far each axis reaches",
            tornado_picture,
            f"One axis at a time; all others as in the best design{anew}. Grey: beyond what the constraints allow.",
        ),
        Section(
            title="Every point",
            anchor="grids",
            parts=tuple(
                part
                for grid in answers.grids
                for part in _drawn(lambda *a, g=grid, **k: grid_picture(g, *a, **k), answers)
            ),
        ),
        _pictured(
            answers,
            "heat",
            "The two axes that matter most",
            heat_picture,
            "The best over all other axes, among points that run and meet the constraints.",
        ),
        _pictured(
            answers,
            "where-time-goes",
            "Where the time goes",
            time_picture,
            "Exposed time only; what runs behind other work does not lengthen the step.",
        ),
        _pictured(answers, "break-even", "Break-even", break_even_picture, _break_even(answers)),
        _how_sure(answers),
        _explored(answers),
        _money(answers),
    ]
    return page(
        title=study.form.name,
        lead=study.form.question,
        verb="volvelle explore: a design space",
        sections=sections,
        command=command,
        ends=f"Study {study.fingerprint}.",
    )


def _drawn(picture: Callable[..., Chart | None], answers: Answers, caption: str = "") -> tuple[Part, ...]:
    """A picture; nothing where there is none to draw."""
    wide = picture(answers)
    if wide is None:
        return ()
    return (
        Picture(
            draw=lambda width: wide if width == WIDE else cast(Chart, picture(answers, width=width)), caption=caption
        ),
    )


def _pictured(answers: Answers, anchor: str, title: str, picture: Callable[..., Chart | None], caption: str) -> Section:
    return Section(title=title, anchor=anchor, parts=_drawn(picture, answers, caption))


def _recommendation(answers: Answers) -> Section:
    study, best = answers.study, answers.best
    explored = Words(f"{explored_words(answers)}.", note=True)
    if best.design is None:
        first, *others = unmet_lines(best.unmet, study) if best.unmet is not None else [""]
        cures = best.unmet.cures if best.unmet is not None else ()
        card = Headline(
            value="none", says=first, fails=True, parts=(Bullets(others), Words("What would help:"), Bullets(cures))
        )
        return Section(title="No design meets the constraints", anchor="recommendation", parts=(explored, card))
    design, apart = best.design, answers.taken_apart
    (value, says), *figures = _figures(answers, design)
    with_limits = f", with {', '.join(best.conditions)}" if best.conditions else ""
    ties = f" ({numbered(best.ties, 'other point')} as good)" if best.ties else ""
    parts: list[Part] = [
        Words(f"By {goal_title(best.goal, study)}{with_limits}: point {design.number:,}{ties}."),
        *(Warned(text) for text in crossed_limits(answers)),
        Facts(pairs=tuple(best_facts(design, study, apart))),
    ]
    if apart is not None:
        asked = estimate_of(answers)
        parts += [Words("To take it apart:", note=True), Command(asked)] if asked else []
        parts.append(Words(legend_of_letters(), note=True))
    card = Headline(value=value, says=says, figures=tuple(figures), parts=tuple(parts))
    why: list[Part] = []
    if apart is not None:
        bound = limit_words(apart.resources)
        why.append(Words(f"Why: its time goes to {limit_words(apart.parts)}; what bounds it is {bound}."))
    if answers.balanced is not None:
        why.append(Words(Tables(answers).balanced()))
    return Section(title="Recommendation", anchor="recommendation", parts=(explored, card, *why))


def _figures(answers: Answers, design: Design) -> list[tuple[str, str]]:
    """Measures of the best design, each with its name and range."""
    study = answers.study
    ranges = {figure.name: figure for figure in answers.local.ranges} if answers.local is not None else {}
    shown = dict.fromkeys([*(goal.name for goal in study.objectives), *study.measures])
    figures = []
    for name in (name for name in shown if name != "memory"):
        ends = ""
        if name in ranges:
            ends = f", {measure_text(name, ranges[name].low)} … {measure_text(name, ranges[name].high)}"
        figures.append((measure_text(name, design.measures[name]), measure_name(name) + ends))
    return figures


def _every_point(answers: Answers) -> Section:
    sheet = Tables(answers).every_point() if answers.every_point is not None else None
    parts = () if sheet is None else (Grid.of(sheet),)
    return Section(title="" if sheet is None else sheet.title, anchor="points", parts=parts)


def _facets(answers: Answers) -> Section:
    sheet = Tables(answers).facets() if answers.facets else None
    parts = () if sheet is None else (Grid.of(sheet),)
    return Section(title="" if sheet is None else sheet.title, anchor="facets", parts=parts)


def _front(answers: Answers) -> Section:
    front = answers.front
    if not len(front) or len(front.objectives) < 2:
        return Section(title="", anchor="front", parts=())
    tables = Tables(answers)
    designs = tables.front_designs(_ROWS)
    sheet, chosen = tables.front(designs, list(designs[0].fields)), tables.chosen()
    names = [goal.name for goal in front.objectives]

    def row(design: Design, cells: tuple[str, ...]) -> Row:
        values = [design.number, *(design.measures[name] for name in names), *design.fields.values()]
        return Row(
            cells=tuple(
                Cell(text=text, value=None if isinstance(value, str) else float(value))
                for text, value in zip(cells, values, strict=True)
            ),
            chosen=design.number in chosen,
            marks=f"point {design.number:,}: ",
        )

    words = {path for path, value in designs[0].fields.items() if isinstance(value, str)}
    named = dict(zip(sheet.columns[1 + len(names) :], designs[0].fields, strict=True))
    more = ""
    if len(designs) < len(front):
        more = f" {len(designs)} of {len(front):,} are listed; {kept_words(front)} are in front.csv."
    grid = Grid(
        title=sheet.title,
        columns=sheet.columns,
        rows=tuple(row(design, cells) for design, cells in zip(designs, sheet.rows, strict=True)),
        numbers=frozenset(name for name in sheet.columns if named.get(name) not in words),
        note=sheet.note + more,
    )
    return Section(title="The front", anchor="front", parts=(*_drawn(front_picture, answers), grid))


def _matters(answers: Answers, anew: str) -> Section:
    if answers.local is None or answers.local.sensitivity is None:
        if answers.best.design is None:
            return Section(title="", anchor="sensitivity", parts=())
        return Section(title="What matters", anchor="sensitivity", parts=(Words(unasked_words(answers.study)),))
    tables = Tables(answers)
    grid = replace(
        Grid.of(tables.matters(), title="What matters"),
        note=f"At the best design; every figure is the model itself run a hundredth to either side{anew}.",
    )
    return Section(
        title="What matters, and what pays", anchor="sensitivity", parts=(grid, Bullets(tables.step_lines()))
    )


def _how_sure(answers: Answers) -> Section:
    if answers.local is None or not answers.local.ranges:
        return Section(title="", anchor="doubt", parts=())
    tables = Tables(answers)
    varied = More(title="What was varied", parts=(Bullets([*tables.varied_lines(), *tables.basis_lines()]),))
    return Section(title=tables.ranges().title, anchor="doubt", parts=(Grid.of(tables.ranges()), varied))


def _explored(answers: Answers) -> Section:
    study, fallen = answers.study, Tables(answers).fallen_out()
    parts: list[Part] = [
        Facts(pairs=tuple(setting(study))),
        Grid.of(axis_sheet(study, answers)),
        *((Grid.of(fallen, title="Points that fell out"),) if fallen.rows else ()),
    ]
    return Section(title="What was explored", anchor="explored", parts=tuple(parts))


def _money(answers: Answers) -> Section:
    if answers.local is None or not answers.local.assumptions:
        return Section(title="", anchor="cost", parts=())
    sheet = Tables(answers).prices()
    links = [
        source_link(price.reference.place) if price.reference is not None else "" for price in answers.local.assumptions
    ]
    rows = tuple(
        Row(cells=(*cells[:-1], Cell(text=cells[-1], link=link))) for cells, link in zip(sheet.rows, links, strict=True)
    )
    return Section(title=sheet.title, anchor="cost", parts=(replace(Grid.of(sheet), rows=rows),))


def _break_even(answers: Answers) -> str:
    line = None if answers.local is None else answers.local.break_even
    if line is None:
        return ""
    steps = (
        "; where the line has steps, another layout comes to fit" if any(point.jump for point in line.crossings) else ""
    )
    worth = measure_text(line.goal.name, line.reference)
    return f"Pairs at which {measure_name(line.goal.name)} is {worth}, found by bisection on the model itself{steps}."
