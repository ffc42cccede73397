"""Answers on one screen: 24 lines of 80 columns, what matters first."""

from rich.text import Text

from volvelle.quantities import BYTES, SECONDS, percent, show, whole_text
from volvelle.report.compare_text import difference_lines
from volvelle.report.estimate_text import fits_text, layout_text, money_text
from volvelle.report.plan_words import layout_cells
from volvelle.report.run_text import run_lines
from volvelle.report.terminal import MORE, plain_table, wide_console
from volvelle.verbs.estimate import Answer
from volvelle.verbs.plan import Plan

_PARTS, _LAYOUTS, _PROBLEMS = 5, 3, 2
"""Parts of the time, layouts of a plan and reasons why something cannot run that are told."""


def print_brief_estimate(answer: Answer) -> None:
    """Speed, fit, money and the largest parts of the time."""
    console, estimate = wide_console(), answer.estimate
    console.print(
        f"[bold]{answer.model}[/bold], {answer.step.batch:,} sequences of {answer.sequence:,} a step, on "
        f"[bold]{answer.cluster.name}[/bold]{f', {answer.stack}' if answer.stack else ''}"
    )
    console.print(layout_text(estimate.mapping), style="dim")
    for note in answer.notes:
        console.print(f"note: {note}", style="yellow")
    if answer.speed is not None:
        found = estimate.time_range
        span = f", {show(found.low, SECONDS)} … {show(found.high, SECONDS)}" if found else ""
        console.print(
            f"[bold]{show(estimate.time, SECONDS)}/step[/bold]{span}; {percent(estimate.utilisation)} MFU, "
            f"{whole_text(estimate.tokens_per_second)} tokens/s"
        )
    if answer.speed is not None:
        console.print(
            f"{show(estimate.memory_bytes, BYTES)} of {show(estimate.capacity, BYTES)} on the fullest rank: "
            f"{fits_text(estimate)}"
        )
        console.print(money_text(answer))
        if answer.difference is not None:
            console.print("\n".join(difference_lines(answer.difference)))
        for line in run_lines(answer.run) if answer.run is not None else ():
            console.print(line)
        parts = list(estimate.parts().items())
        told = [f"{name} {percent(time / estimate.time, 0)}" for name, time in parts[:_PARTS]]
        console.print(f"time: {', '.join(told)}{' …' if len(parts) > _PARTS else ''}")
    for violation in estimate.violations[:_PROBLEMS]:
        console.print(Text("cannot run: ", style="bold red") + Text(violation.problem, style="default"))
    for cure in estimate.violations[0].cures[:1] if estimate.violations else ():
        console.print(f"  fix: {cure}", markup=False)
    console.print(MORE, style="dim")


def print_brief_plan(plan: Plan) -> None:
    """The first layouts, how sure their times are, and the whole run."""
    console = wide_console()
    ranking = plan.ranking
    console.print(
        f"[bold]{plan.model}[/bold], {plan.step.batch:,} sequences of {plan.sequence:,} a step, on "
        f"[bold]{plan.cluster.name}[/bold]: {ranking.feasible:,} of {ranking.configurations:,} layouts can run"
    )
    for note in (*plan.notes, *plan.cluster.notes_on_power)[:_PROBLEMS]:
        console.print(f"note: {note}", style="yellow")
    if not plan.layouts:
        console.print("[bold red]none of them fits[/bold red]")
        for way in () if plan.dead_end is None else plan.dead_end.ways_out[:_LAYOUTS]:
            console.print(f"  {way.command}", markup=False)
        console.print(MORE, style="dim")
        return
    kinds = map(layout_cells, plan.kinds[:_LAYOUTS])
    rows = [(*figures, f"{kind}: {degrees}; {choices}") for *figures, kind, degrees, choices, _ in kinds]
    columns = ("step", "MFU", "memory", f"{plan.order} of each kind")
    console.print(plain_table("", columns, rows, numbers=columns[:3], folded=columns[3:]))
    found = plan.explained[0].time_range
    if found is not None:
        console.print(
            f"first: {show(found.low, SECONDS)} … {show(found.high, SECONDS)} ({percent(found.level, 0)} range)"
        )
    for told in plan.warnings[:1]:
        console.print(f"note: {told}", style="yellow")
    if plan.difference is not None:
        console.print("\n".join(difference_lines(plan.difference)))
    if plan.run is not None:
        console.print("\n".join(run_lines(plan.run)))
    console.print(MORE, style="dim")
