"""The answers of a study as a person reads them in a terminal."""

from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from volvelle.quantities import BYTES, show
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
from volvelle.report.price_words import price_text, without_unit
from volvelle.studies.answers.answers import Answers, Local
from volvelle.studies.answers.best import WHY, Best, Unmet
from volvelle.studies.answers.designs import Design, field_text, measure_text
from volvelle.studies.answers.invert import Inversion
from volvelle.studies.design_space.design_study import DesignStudy

__all__ = ["print_answers", "print_inversion"]

_WIDTH = 100
_ROWS = 12
_FIELDS = 5


def _console(console: Console | None) -> Console:
    console = console or Console(highlight=False)
    console.width = min(console.width, _WIDTH)
    return console


def print_answers(answers: Answers, console: Console | None = None) -> None:
    """Print the best design, the front, what limits it, what matters, what pays, and what money rests on."""
    console, study = _console(console), answers.study
    console.print(Text(study.form.name, style="bold"))
    if study.form.question:
        console.print(Text(study.form.question, style="italic"))
    console.print(Text(explored_words(answers) + ".", style="dim"))
    _print_violated(answers, console)
    _print_best(answers.best, study, console)
    if answers.facets:
        heads, rows = facet_rows(answers)
        table = Table(
            *heads, title="\nThe best for each", title_justify="left", title_style="bold", box=None, pad_edge=False
        )
        for row in rows:
            table.add_row(*row)
        console.print(table)
    if answers.best.design is None:
        return
    _print_why(answers, console)
    if len(answers.front.objectives) > 1:
        _print_front(answers, console)
    if answers.local is None:
        return
    local = answers.local
    goal = local.sensitivity.telling(study.objectives)
    _print_list(f"What matters for {measure_name(goal.name)}", elasticity_sentences(local.sensitivity, goal), console)
    worth = [*value_sentences(local.sensitivity, goal), *(step_sentence(step, study) for step in local.steps)]
    _print_list("What pays", worth, console)
    _print_doubts(local, console)
    _print_assumptions(answers, local, console)


def _print_list(title: str, lines: Sequence[str], console: Console) -> None:
    if lines:
        console.print(Text(f"\n{title}", style="bold"))
        for line in lines:
            console.print(Text(f"  {line}"))


def _print_violated(answers: Answers, console: Console) -> None:
    counted = answers.census
    lines = [
        f"{count:,} cannot run ({name}): {WHY[name][0] if name in WHY else name}"
        for name, count in counted.reasons.items()
    ]
    lines += [f"{count:,} run but fail {text}" for text, count in counted.failing.items()]
    for line in lines:
        console.print(Text(f"  {line}", style="dim"))


def _print_best(best: Best, study: DesignStudy, console: Console) -> None:
    title = goal_title(best.goal, study)
    console.print(Text(f"\n{title[0].upper()}{title[1:]}", style="bold"))
    if best.design is None:
        assert best.unmet is not None
        _print_unmet(best.unmet, study, console)
        return
    design = best.design
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for path, value in design.fields.items():
        table.add_row(f"  {field_name(path)}", Text(field_text(path, value, study), style="bold"))
    table.add_row("  gives", Text(measures_words(design, study.measures)))
    console.print(table)
    if best.ties:
        others = f"{best.ties:,} other point{'s are' if best.ties > 1 else ' is'}"
        console.print(Text(f"  ({others} as good in {measure_name(best.goal.name)})", style="dim"))


def _print_unmet(unmet: Unmet, study: DesignStudy, console: Console) -> None:
    if not unmet.runs:
        console.print(Text(f"  none of {unmet.points:,} points can run", style="bold red"))
    else:
        console.print(Text(f"  none of {unmet.runs:,} points that run meets all conditions", style="bold red"))
    for name, count in unmet.reasons.items():
        console.print(Text(f"  {count:,} cannot run ({name}): {WHY[name][0] if name in WHY else name}"))
    for one in unmet.shortfalls:
        console.print(Text(f"  {one.text}: {one.failing:,} miss it, {one.alone:,} of them nothing else"))
    if unmet.nearest is not None and unmet.miss is not None:
        console.print(Text(f"  nearest, {100 * unmet.miss:.1f} % off: {design_words(unmet.nearest, study)}"))
        console.print(Text(f"  which gives {measures_words(unmet.nearest, study.measures)}"))
    _print_list("What would help", unmet.cures, console)


def _print_why(answers: Answers, console: Console) -> None:
    first = next((one for one in answers.breakdowns if one.label == "best"), None)
    if first is None:
        return
    for name, layout in first.layouts.items():
        console.print(Text(f"  laid out as {layout_words(layout)}" + (f" ({name})" if len(first.layouts) > 1 else "")))
    console.print(
        Text(f"  {show(first.memory, BYTES)} of {show(first.capacity, BYTES)} on the fullest chip", style="dim")
    )
    console.print(Text("\nWhat it is limited by", style="bold"))
    console.print(Text(f"  by resource: {limit_words(first.resources)}"))
    console.print(Text(f"  by part: {limit_words(first.parts)}"))


def _print_front(answers: Answers, console: Console) -> None:
    front, study = answers.front, answers.study
    names = ", ".join(measure_name(one.name) for one in front.objectives)
    ties = f"; {front.ties:,} ties left out" if front.ties else ""
    console.print(
        Text(f"\nThe front of {names}: {len(front):,} design{'' if len(front) == 1 else 's'}{ties}", style="bold")
    )
    designs = _some(front.designs, _ROWS)
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    table.add_column("point", justify="right", no_wrap=True)
    for goal in front.objectives:
        table.add_column(measure_name(goal.name), justify="right", no_wrap=True)
    paths = [path for path in designs[0].fields if len({one.fields[path] for one in front.designs}) > 1][:_FIELDS]
    for path in paths:
        table.add_column(field_name(path), justify="right")
    marked = {answers.best.design.number if answers.best.design else -1}
    marked |= {answers.balanced.number} if answers.balanced else set()
    for one in designs:
        table.add_row(
            f"{one.number:,}",
            *(measure_text(goal.name, one.measures[goal.name]) for goal in front.objectives),
            *(field_text(path, one.fields[path], study) for path in paths),
            style="bold" if one.number in marked else "",
        )
    console.print(table)
    if len(front) > len(designs):
        said = f"  {len(designs)} of {len(front):,}, evenly along it; {kept_words(front)} are in front.csv"
        console.print(Text(said, style="dim"))
    if answers.balanced is not None:
        said = measures_words(answers.balanced, tuple(goal.name for goal in front.objectives))
        machine = design_words(answers.balanced, study)
        console.print(Text(f"  balanced: point {answers.balanced.number:,}, {said}: {machine}"))


def _some(designs: Sequence[Design], most: int) -> list[Design]:
    if len(designs) <= most:
        return list(designs)
    return [designs[int(place)] for place in np.unique(np.linspace(0, len(designs) - 1, most).round().astype(int))]


def _print_doubts(local: Local, console: Console) -> None:
    lines = []
    for one in local.ranges:
        ends = f"{measure_text(one.name, one.low)} … {measure_text(one.name, one.high)}"
        name = "" if one.name == "days" else f"{measure_name(one.name)} "
        lines.append(f"{name}{measure_text(one.name, one.value)}, {ends}")
        if one.note:
            lines.append(f"  ({one.note})")
    level = f" (time: {100 * local.ranges[0].level:.0f} % range; prices: all low to all high)" if local.ranges else ""
    _print_list(f"How sure{level}", lines, console)


def _print_assumptions(answers: Answers, local: Local, console: Console) -> None:
    if not local.assumptions:
        return
    costs = answers.study.form.costs
    console.print(
        Text(f"\nMoney rests on: the {costs.model} model, life {costs.life}, used {costs.use} of it, ", style="bold")
        + Text(f"energy {costs.energy_price}, chips at {costs.load} of rated power", style="bold")
    )
    table = Table(box=None, pad_edge=False, show_header=False, collapse_padding=True)
    for _ in range(4):
        table.add_column(no_wrap=True)
    for one in local.assumptions:
        typical = price_text(one.name, one.figure.value)
        low, high = (without_unit(price_text(one.name, end), typical) for end in (one.low, one.high))
        name = one.name.removeprefix("networks.").replace("_", " ").replace(".", " ")
        table.add_row(f"  {name}", typical, f"{low} … {high}" if one.low != one.high else "", one.figure.date)
    console.print(table, style="dim")
    sources = ", ".join(dict.fromkeys(one.figure.source for one in local.assumptions))
    console.print(Text(f"  from {sources}: report.html says which from where", style="dim"))


def print_inversion(inversion: Inversion, console: Console | None = None) -> None:
    """Print what meets a requirement best, or why nothing does."""
    console = _console(console)
    best = inversion.best
    console.print(Text(inversion.requirement.text, style="bold"))
    if best.design is not None:
        console.print(Text(f"{best.considered:,} points meet it; the best of them:", style="dim"))
    _print_best(best, inversion.study, console)
