"""A study as a person reads it in a terminal: before it runs, its answers, and what meets a requirement."""

from collections.abc import Sequence

from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

from volvelle.quantities import DAY, percent
from volvelle.report.explore.best_words import crossed_limits
from volvelle.report.explore.sheets import Tables, axis_sheet, basis_lines, best_facts, ranges_sheet, unmet_lines
from volvelle.report.explore.words import (
    explored_words,
    goal_title,
    kept_words,
    limit_words,
    measure_name,
    measures_words,
    policy_words,
    unasked_words,
    work_words,
)
from volvelle.report.sheet import Sheet
from volvelle.report.terminal import plain_table, wide_console
from volvelle.studies.answers.answers import Answers
from volvelle.studies.answers.best import Best
from volvelle.studies.answers.breakdown import Breakdown
from volvelle.studies.answers.invert import Inversion
from volvelle.studies.answers.price_range import FigureRange
from volvelle.studies.design_space.design_study import DesignStudy
from volvelle.studies.design_space.explained import Bases
from volvelle.studies.design_space.measures import MIDDLE
from volvelle.verbs.explore import Outlook

_ROWS = 12
_FIELDS = 5


def _sheet_table(sheet: Sheet, *, without: Sequence[str] = (), folded: Sequence[str] = ()) -> object:
    places = [place for place, name in enumerate(sheet.columns) if name not in without]
    return plain_table(
        sheet.title,
        [sheet.columns[place] for place in places],
        ([row[place] for place in places] for row in sheet.rows),
        numbers=sheet.numbers,
        folded=folded,
    )


def _print_list(title: str, lines: Sequence[str], console: Console) -> None:
    if lines:
        console.print(Text(f"\n{title}", style="bold"))
        for line in lines:
            console.print(Text(f"  {line}"))


def print_study(ahead: Outlook, *, console: Console | None = None) -> None:
    """Show a study's size and expected time."""
    study, expected, cores = ahead.study, ahead.forecast, ahead.cores
    form = study.form
    works = "; ".join(work_words(work, form) for work in form.workloads)
    drawn = f", drawn from {study.grid.combinations:,} (seed {form.seed})" if study.grid.drawn else ""
    timed = form.mapping.policy == "best" and not study.maps and any(work.train for work in form.workloads)
    priced = f", about {expected.layouts:,.0f} timed each" if timed else ""
    lines = [
        f"{works}; on {form.system}" if works else f"the design space of {form.published}, as published",
        f"{expected.rows:,} points{drawn}; {policy_words(study)}{priced}",
        f"{expected.rate:,.{0 if expected.rate >= 10 else 2}f} points a second and core: about "
        f"{_duration(ahead.seconds)} on {cores} core{'s' if cores > 1 else ''}, besides this trial and the answers",
    ]
    said = [Text(form.question, style="italic")] if form.question else []
    panel = Panel(Group(*said, *(Text(line) for line in lines)), title=form.name, title_align="left")
    (console or Console()).print(panel, _sheet_table(axis_sheet(study), folded=("from … to",)))


def _duration(seconds: float) -> str:
    """A time one waits for, in words."""
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 7_200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:.1f} h" if seconds < 172_800 else f"{seconds / DAY:,.1f} days"


def print_answers(answers: Answers, console: Console | None = None) -> None:
    """Print the best design, the front, what limits it, what matters, what pays, and what money rests on."""
    console = wide_console(console=console or Console(highlight=False))
    study, tables = answers.study, Tables(answers)
    console.print(Text(study.form.name, style="bold"))
    if study.form.question:
        console.print(Text(study.form.question, style="italic"))
    console.print(Text(explored_words(answers) + ".", style="dim"))
    for name, count, why in tables.fallen_out().rows:
        console.print(Text(f"  {count} {name}" + (f": {why}" if why else ""), style="dim"))
    _print_best(answers.best, study, console, answers.taken_apart)
    for line in crossed_limits(answers):
        console.print(Text(f"  note: {line}", style="yellow"))
    if answers.every_point is not None:
        console.print(_sheet_table(tables.every_point()))
    if answers.facets:
        console.print(_sheet_table(tables.facets()))
    if answers.best.design is None:
        return
    if len(answers.front.objectives) > 1:
        _print_front(tables, console)
    if answers.local is None:
        console.print(Text(unasked_words(study), style="dim"))
        return
    if answers.local.sensitivity is None:
        console.print(Text(unasked_words(study), style="dim"))
    else:
        matters, pays = tables.matters_lines()
        goal = answers.local.sensitivity.telling(study.objectives)
        _print_list(f"What matters for {measure_name(goal.name)}", matters, console)
        _print_list("What pays", pays, console)
    _print_ranges(answers.local.ranges, answers.local.explained.bases, console)
    prices = tables.prices()
    if prices.rows:
        console.print(_sheet_table(prices, without=("evidence", "source")))
        sources = ", ".join(dict.fromkeys(price.figure.source for price in answers.local.assumptions))
        console.print(Text(f"{prices.note} From {sources}: report.html says which from where.", style="dim"))


def _print_ranges(ranges: Sequence[FigureRange], bases: Bases, console: Console) -> None:
    """Where measures of a design lie, and what that rests on."""
    if not ranges:
        return
    sheet = ranges_sheet(ranges)
    console.print(_sheet_table(sheet))
    notes = (f"{measure_name(figure.name)}: {figure.note}" for figure in ranges if figure.note)
    for line in (sheet.note, *basis_lines(bases), *notes):
        console.print(Text(line, style="dim"))


def _print_best(best: Best, study: DesignStudy, console: Console, taken_apart: Breakdown | None = None) -> None:
    title = goal_title(best.goal, study)
    console.print(Text(f"\n{title[0].upper()}{title[1:]}", style="bold"))
    if best.design is None:
        assert best.unmet is not None
        first, *others = unmet_lines(best.unmet, study)
        console.print(Text(f"  {first}", style="bold red"))
        for line in others:
            console.print(Text(f"  {line}"))
        _print_list("What would help", best.unmet.cures, console)
        return
    table = plain_table("", ("name", "value"), folded=("value",))
    table.show_header = False
    for name, value in best_facts(best.design, study, taken_apart):
        table.add_row(f"  {name}", Text(value, style="bold"))
    table.add_row("  gives", Text(measures_words(best.design, study.measures)))
    console.print(table)
    if best.ties:
        others_words = f"{best.ties:,} other point{'s are' if best.ties > 1 else ' is'}"
        console.print(Text(f"  ({others_words} as good in {measure_name(best.goal.name)})", style="dim"))
    if taken_apart is not None:
        limits = (("resource", taken_apart.resources), ("part", taken_apart.parts))
        lines = [f"by {word}: {limit_words(parts)}" for word, parts in limits]
        _print_list("What it is limited by", lines, console)


def _print_front(tables: Tables, console: Console) -> None:
    front, designs = tables.answers.front, tables.front_designs(_ROWS)
    varied = [path for path in designs[0].fields if len({design.fields[path] for design in front.designs}) > 1]
    sheet = tables.front(designs, varied[:_FIELDS])
    table = plain_table(
        sheet.title, sheet.columns, numbers=sheet.numbers, folded=sheet.columns[1 + len(front.objectives) :]
    )
    table.collapse_padding = True
    chosen = tables.chosen()
    for design, row in zip(designs, sheet.rows, strict=True):
        table.add_row(*row, style="bold" if design.number in chosen else "")
    console.print(table)
    console.print(Text(f"  {sheet.note}", style="dim"))
    if len(front) > len(designs):
        said = f"  {len(designs)} of {len(front):,}, evenly along it; {kept_words(front)} are in front.csv"
        console.print(Text(said, style="dim"))
    if tables.answers.balanced is not None:
        console.print(Text(f"  {tables.balanced()}"))


def print_inversion(inversion: Inversion, console: Console | None = None) -> None:
    """Print what meets a requirement best, or why nothing does."""
    console = wide_console(console=console or Console(highlight=False))
    best = inversion.best
    console.print(Text(inversion.requirement.text, style="bold"))
    if best.design is not None:
        console.print(Text(f"{best.considered:,} points meet it; the best of them:", style="dim"))
    _print_best(best, inversion.study, console)
    _print_ranges(inversion.ranges, inversion.bases, console)
    if inversion.median is not None and best.design is not None:
        console.print(Text("\nWere an even chance enough:", style="bold"))
        _print_best(inversion.median, inversion.study, console)
    for line in certainty_lines(inversion):
        console.print(Text(line))


def certainty_lines(inversion: Inversion) -> list[str]:
    """How likely both designs are to meet what is asked for, and what being sure takes more."""
    lines = []
    for found in inversion.certainties:
        even = (
            "" if found.median_chance is None else f", {percent(found.median_chance)} for the design of an even chance"
        )
        lines += [] if found.chance is None else [f"{found.condition}: {percent(found.chance)} for the answer{even}"]
    asked = {inversion.best.goal.name, *(f"{chance.measure}.p{MIDDLE}" for chance in inversion.requirement.chances)}
    axes = {path for axis in inversion.study.axes for path in axis.columns}
    more = ", ".join(
        f"{measure_name(name)} {100 * share:+.1f} %"
        for name, share in inversion.certainty_costs.items()
        if name in asked | axes
    )
    return [*lines, f"What being sure costs: {more}"] if more else lines
