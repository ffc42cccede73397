"""The answers of a study as one self-contained page. Only this module knows Jinja."""

from collections.abc import Callable
from importlib import resources
from typing import Any, cast

from volvelle.errors import MissingExtraError
from volvelle.quantities import BYTES, DOLLARS, show
from volvelle.report.explore.pictures import (
    break_even_picture,
    front_picture,
    grid_picture,
    heat_picture,
    time_picture,
    tornado_picture,
)
from volvelle.report.explore.words import (
    design_words,
    elasticity_sentences,
    explored_words,
    facet_rows,
    field_name,
    goal_title,
    kept_words,
    layout_words,
    limit_words,
    measure_name,
    measures_words,
    step_sentence,
    value_sentences,
)
from volvelle.report.figures.engine import Chart
from volvelle.report.figures.theme import WIDE, dark_rules
from volvelle.report.page import STYLE, figure
from volvelle.report.price_words import price_text
from volvelle.studies.answers.answers import Answers, Local
from volvelle.studies.answers.best import WHY, Unmet
from volvelle.studies.answers.designs import Design, field_text, measure_text
from volvelle.studies.answers.pivot import spread_of
from volvelle.studies.design_space.design_study import DesignStudy

__all__ = ["explore_page"]

_ROWS = 80
"""Rows of the front that the page lists."""
_FEW = 6
_NOTHING = 5e-4
"""Change in % below which there is none."""


def explore_page(answers: Answers) -> str:
    """The report: question, recommendation, front, sensitivities, pictures, doubt, and what it all rests on."""
    try:
        import jinja2  # noqa: PLC0415 - an extra
        import markupsafe  # noqa: PLC0415 - comes with it
    except ImportError:
        raise MissingExtraError(
            "the report is a page made with Jinja, which is not installed; run pip install 'volvelle[explore]'"
        ) from None
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

    pictures = {
        "tornado": drawn(tornado_picture, answers),
        "heat": drawn(heat_picture, answers),
        "time": drawn(time_picture, answers),
        "break_even": drawn(break_even_picture, answers),
        "grids": [drawn(grid_picture, grid, answers) for grid in answers.grids],
    }
    front = _front(answers)
    if front is not None:
        front["picture"] = drawn(front_picture, answers)
    shown = "".join(map(str, (*pictures.values(), (front or {}).get("picture"))))
    style = markupsafe.Markup(STYLE + dark_rules(shown, within="figure "))
    return room.from_string(text).render(style=style, front=front, **pictures, **_head(answers), **_rest(answers))


def _head(answers: Answers) -> dict[str, Any]:
    study, best = answers.study, answers.best
    ties = f"{best.ties:,} other points are as good" if best.ties else ""
    balanced = answers.balanced
    names = tuple(one.name for one in answers.front.objectives)
    same = balanced is not None and best.design is not None and balanced.number == best.design.number
    return {
        "name": study.form.name,
        "question": study.form.question,
        "explored": explored_words(answers),
        "goal": goal_title(best.goal, study),
        "conditions": best.conditions,
        "ties": ties,
        "best": None if best.design is None else _best(answers, best.design, answers.local),
        "facets": dict(zip(("heads", "rows"), facet_rows(answers), strict=True)) if answers.facets else None,
        "balanced": None
        if balanced is None or same
        else f"Nearest to the best of every objective at once is point {balanced.number:,}: "
        f"{measures_words(balanced, names)}; it has {design_words(balanced, study)}.",
        "unmet": None if best.unmet is None else _unmet(best.unmet, study),
        "policy_note": ", layouts found anew" if study.form.mapping.policy == "best" else ", the layout as given",
    }


def _best(answers: Answers, design: Design, local: Local | None) -> dict[str, Any]:
    study = answers.study
    ranges = {one.name: one for one in local.ranges} if local is not None else {}
    shown = list(dict.fromkeys([*(one.name for one in study.objectives), *study.measures]))
    own = next((one for one in answers.breakdowns if one.design.number == design.number), None)
    layouts = {} if own is None else own.layouts
    return {
        "number": f"{design.number:,}",
        "figures": [
            {
                "name": measure_name(name),
                "value": measure_text(name, design.measures[name]),
                "ends": f"{measure_text(name, ranges[name].low)} … {measure_text(name, ranges[name].high)}"
                if name in ranges
                else "",
            }
            for name in shown
            if name != "memory"
        ],
        "fields": [
            {"name": field_name(path), "value": field_text(path, value, study)} for path, value in design.fields.items()
        ],
        "layouts": [
            {"name": name if len(layouts) > 1 else "", "value": layout_words(one)} for name, one in layouts.items()
        ],
        "memory": f"{show(own.memory, BYTES)} of {show(own.capacity, BYTES)} on the fullest chip" if own else "",
        "parts": limit_words(own.parts) if own else "",
        "resources": limit_words(own.resources) if own else "",
    }


def _unmet(unmet: Unmet, study: DesignStudy) -> dict[str, Any]:
    nearest = ""
    if unmet.nearest is not None and unmet.miss is not None:
        nearest = (
            f"Point {unmet.nearest.number:,} is {100 * unmet.miss:.1f} % off: {design_words(unmet.nearest, study)}; it "
            f"gives {measures_words(unmet.nearest, study.measures)}."
        )
    return {
        "says": f"Of {unmet.points:,} points {unmet.runs:,} run, and none of them meets every condition.",
        "lines": [f"{one.text}: {one.failing:,} fail it, {one.alone:,} of them it alone" for one in unmet.shortfalls],
        "nearest": nearest,
        "cures": unmet.cures,
    }


def _front(answers: Answers) -> dict[str, Any] | None:
    front, study = answers.front, answers.study
    if not len(front) or len(front.objectives) < 2:
        return None
    names = [one.name for one in front.objectives]
    paths = list(front.designs[0].fields)
    # With many designs, every so-manieth along the front.
    step = -(-len(front.designs) // _ROWS)
    chosen = {one.number for one in (answers.best.design, answers.balanced) if one is not None}
    rows = [one for place, one in enumerate(front.designs) if place % step == 0 or one.number in chosen]
    ties = f" {front.ties:,} points equal to one of them are left out." if front.ties else ""
    return {
        "says": f"None of {front.considered:,} points is better than one of these {len(front):,} in one objective "
        f"without being worse in another.{ties}",
        "heads": ["point", *(measure_name(name) for name in names), *(field_name(path) for path in paths)],
        "rows": [
            {
                "chosen": one.number in chosen,
                "cells": [
                    {"value": one.number, "text": f"{one.number:,}"},
                    *({"value": one.measures[name], "text": measure_text(name, one.measures[name])} for name in names),
                    *({"value": value, "text": field_text(path, value, study)} for path, value in one.fields.items()),
                ],
            }
            for one in rows
        ],
        "more": f"{len(rows)} of {len(front):,}; {kept_words(front)} are in front.csv."
        if len(rows) < len(front)
        else "",
    }


def _rest(answers: Answers) -> dict[str, Any]:
    study, local = answers.study, answers.local
    goal, costs = answers.best.goal, study.form.costs
    spreads = {one.path: spread_of(one) for one in answers.profiles}
    line = None if local is None else local.break_even
    says = ""
    listed = local.ranges if local is not None else ()
    if line is not None:
        says = (
            f"Pairs at which {measure_name(line.goal.name)} is {measure_text(line.goal.name, line.reference)}, "
            "found by bisection on the model itself"
        )
        says += (
            "; where the line has steps, another layout comes to fit." if any(o.jump for o in line.crossings) else "."
        )
    return {
        "matters": None if local is None else _matters(answers, local),
        "break_even_says": says,
        "ranges": [
            {
                "name": measure_name(one.name),
                "value": measure_text(one.name, one.value),
                "low": measure_text(one.name, one.low),
                "high": measure_text(one.name, one.high),
                "varied": ("as above" if place and one.varied == listed[place - 1].varied else _varied(one.varied))
                + (f"; {one.note}" if one.note else ""),
            }
            for place, one in enumerate(listed)
        ],
        "ranges_say": f"Time: {100 * local.ranges[0].level:.0f} % of sampled inputs end inside. Prices: all at their "
        "low or all at their high end at once."
        if local is not None and local.ranges
        else "",
        "setting": _setting(answers),
        "profile_head": f"{measure_name(goal.name)}: worst over best value" if answers.profiles else "",
        "axes": [
            {
                "name": path + ("" if place == 0 else " (with the above)"),
                "count": len(axis) if place == 0 else "",
                "span": _span(path, values, study),
                "profile": f"+{100 * spreads[path]:.3g} %" if path in spreads and place == 0 else "",
            }
            for axis in study.axes
            for place, (path, values) in enumerate(axis.columns.items())
        ],
        "violated": [
            *(
                {"name": f"cannot run: {name}", "count": f"{count:,}", "why": WHY[name][0] if name in WHY else ""}
                for name, count in answers.census.reasons.items()
            ),
            *(
                {"name": f"fail {text}", "count": f"{count:,}", "why": "run, but do not meet this constraint"}
                for text, count in answers.census.failing.items()
            ),
        ],
        "cost_terms": f"Cost model {costs.model}; life {costs.life}, used {costs.use} of it; energy at "
        f"{costs.energy_price}; chips at {costs.load} of rated power.",
        "assumptions": [
            {
                "name": one.name.replace("_", " ").replace(".", " "),
                "value": price_text(one.name, one.figure.value),
                "low": price_text(one.name, one.low) if one.low != one.high else "",
                "high": price_text(one.name, one.high) if one.low != one.high else "",
                "date": one.figure.date,
                "evidence": one.figure.evidence.word,
                "source": f"{one.reference.authors} ({one.reference.year}), {one.reference.title}"
                if one.reference is not None
                else one.figure.source,
            }
            for one in (local.assumptions if local is not None else ())
        ],
        "foot": f"Study {study.fingerprint}. Made by volvelle; every figure is an estimate with the range it states.",
    }


def _varied(names: tuple[str, ...]) -> str:
    """What was varied, by owner: ``nvlink3 (latency, setup), the model …``."""
    owners: dict[str, list[str]] = {}
    for name in names:
        owner, _, what = name.partition(": ")
        owners.setdefault(owner, []).extend([what] if what else [])
    return ", ".join(f"{owner} ({', '.join(parts)})" if parts else owner for owner, parts in owners.items())


def _matters(answers: Answers, local: Local) -> dict[str, Any]:
    goals, study = answers.study.objectives, answers.study
    goal = local.sensitivity.telling(goals)
    first = local.sensitivity.of(goal)
    by = {(one.path, one.goal.name): one for one in local.sensitivity.elasticities}
    rows = []
    for one in first:
        changes = [by.get((one.path, goal.name)) for goal in goals]
        paid = "not priced" if one.per_million is None else "–"
        if one.per_million is not None and one.per_million > 0 and abs(one.gain or 0.0) >= _NOTHING:
            paid = show(1e6 / one.per_million, DOLLARS)
        rows.append(
            {
                "name": field_name(one.path),
                "cells": [
                    field_text(one.path, local.sensitivity.now[one.path], study),
                    *(
                        "–" if found is None else "cannot run" if found.up is None else _percent(found.up)
                        for found in changes
                    ),
                    show(one.price, DOLLARS) if one.price else "–",
                    paid,
                ],
            }
        )
    return {
        "heads": [f"{measure_name(goal.name)} for 1 % more" for goal in goals],
        "rows": rows,
        "lines": [
            *elasticity_sentences(local.sensitivity, goal),
            *value_sentences(local.sensitivity, goal),
            *(step_sentence(step, study) for step in local.steps),
        ],
    }


def _percent(value: float) -> str:
    return "0 %" if abs(value) < _NOTHING else f"{value:+.2g} %"


def _setting(answers: Answers) -> list[dict[str, str]]:
    form = answers.study.form
    rows = [
        {
            "name": "workload",
            "value": one.called
            + (f": {one.batch:,} sequences or samples a step" if one.batch else "")
            + (f", {one.tokens:.3g} tokens in all" if one.tokens else "")
            + (f", weight {one.weight:g}" if len(form.workloads) > 1 else ""),
        }
        for one in form.workloads
    ]
    choices = ", ".join(f"{name} {value}" for name, value in form.mapping.choices.items())
    policy = "best found anew at every point" if form.mapping.policy == "best" else "as given"
    rows += [
        {"name": "system", "value": form.system},
        {"name": "layout", "value": policy + (f" ({choices})" if choices else "")},
        {"name": "objectives", "value": ", ".join(str(one) for one in answers.study.objectives)},
    ]
    if form.constraints:
        rows.append({"name": "constraints", "value": ", ".join(form.constraints)})
    for path, text in form.set.items():
        rows.append({"name": f"set {path}", "value": str(text)})
    return rows


def _span(path: str, values: tuple[Any, ...], study: DesignStudy) -> str:
    words = [field_text(path, value, study) for value in values]
    return ", ".join(words) if len(words) <= _FEW else f"{words[0]}, {words[1]} … {words[-1]}"
