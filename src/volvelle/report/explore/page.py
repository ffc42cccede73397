"""The answers of a study as one self-contained page. Only this module knows Jinja."""

from collections.abc import Callable
from importlib import resources
from typing import Any, cast

from volvelle.errors import needs_extra
from volvelle.report.explore.pictures import (
    break_even_picture,
    front_picture,
    grid_picture,
    heat_picture,
    time_picture,
    tornado_picture,
)
from volvelle.report.explore.sheets import Tables, axis_sheet, best_facts, setting, unmet_lines
from volvelle.report.explore.words import explored_words, goal_title, kept_words, limit_words, measure_name
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.theme import WIDE, dark_rules
from volvelle.report.page.builder import STYLE, figure
from volvelle.studies.answers.answers import Answers
from volvelle.studies.answers.designs import Design, measure_text

_ROWS = 80
"""Rows of the front that the page lists."""


def explore_page(answers: Answers) -> str:
    """The report: question, recommendation, front, sensitivities, pictures, doubt, and what it all rests on."""
    with needs_extra("explore", "the report is a page made with Jinja"):
        import jinja2  # noqa: PLC0415 - an extra
        import markupsafe  # noqa: PLC0415 - comes with it
    text = (resources.files("volvelle.report") / "templates" / "explore.html").read_text("utf-8")
    room = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)

    def drawn(picture: Callable[..., Chart | None], *given: object) -> Any:
        """Our own SVG goes in as it is; its words were escaped when it was drawn."""
        wide = picture(*given)
        if wide is None:
            return None
        return markupsafe.Markup(
            figure(lambda width: wide if width == WIDE else cast(Chart, picture(*given, width=width)))
        )

    front = _front(answers)
    pictures = {
        "front_picture": None if front is None else drawn(front_picture, answers),
        "tornado": drawn(tornado_picture, answers),
        "heat": drawn(heat_picture, answers),
        "time": drawn(time_picture, answers),
        "break_even": drawn(break_even_picture, answers),
        "grids": [drawn(grid_picture, grid, answers) for grid in answers.grids],
    }
    style = markupsafe.Markup(STYLE + dark_rules("".join(map(str, pictures.values())), within="figure "))
    return room.from_string(text).render(style=style, front=front, **pictures, **_said(answers))


def _said(answers: Answers) -> dict[str, Any]:
    """What stands around the pictures."""
    study, best = answers.study, answers.best
    return {
        "answers": answers,
        "study": study,
        "tables": Tables(answers),
        "explored": explored_words(answers),
        "goal": goal_title(best.goal, study),
        "best": best,
        "figures": [] if best.design is None else _figures(answers, best.design),
        "facts": [] if best.design is None else best_facts(best.design, study, answers.taken_apart),
        "limit_words": limit_words,
        "unmet": unmet_lines(best.unmet, study) if best.unmet is not None else [],
        "anew": ", the best layout at each point" if study.form.mapping.policy == "best" else ", the layout as given",
        "break_even_says": _break_even(answers),
        "setting": setting(study),
        "axes": axis_sheet(study, answers),
    }


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


def _front(answers: Answers) -> dict[str, Any] | None:
    front = answers.front
    if not len(front) or len(front.objectives) < 2:
        return None
    tables = Tables(answers)
    designs = tables.front_designs(_ROWS)
    sheet, chosen = tables.front(designs, list(designs[0].fields)), tables.chosen()
    names = [goal.name for goal in front.objectives]
    values = [
        [design.number, *(design.measures[name] for name in names), *design.fields.values()] for design in designs
    ]
    return {
        "sheet": sheet,
        "rows": [
            {"chosen": design.number in chosen, "cells": list(zip(value, row, strict=True))}
            for design, value, row in zip(designs, values, sheet.rows, strict=True)
        ],
        "more": f"{len(designs)} of {len(front):,}; {kept_words(front)} are in front.csv."
        if len(designs) < len(front)
        else "",
    }


def _break_even(answers: Answers) -> str:
    line = None if answers.local is None else answers.local.break_even
    if line is None:
        return ""
    steps = (
        "; where the line has steps, another layout comes to fit" if any(point.jump for point in line.crossings) else ""
    )
    worth = measure_text(line.goal.name, line.reference)
    return f"Pairs at which {measure_name(line.goal.name)} is {worth}, found by bisection on the model itself{steps}."
