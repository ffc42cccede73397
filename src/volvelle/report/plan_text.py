"""A plan as a person reads it: ranked layouts, why the first is first, what else was in the way."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from volvelle.quantities import BYTES, SECONDS, chance_text, numbered, show
from volvelle.report.compare_text import difference_lines
from volvelle.report.plan_words import (
    dead_end_words,
    layout_cells,
    layout_names,
    nearest_words,
    probability_text,
    why_words,
)
from volvelle.report.range_words import range_words
from volvelle.report.run_text import run_lines
from volvelle.report.terminal import plain_table, wide_console
from volvelle.report.trained_text import trained_text
from volvelle.verbs.layouts import Layout
from volvelle.verbs.plan import Plan

_FOLDED = ("kind, degrees, choices", "launched by")


def print_plan(plan: Plan, console: Console | None = None) -> None:
    """Print a plan."""
    console = wide_console(console=console or Console(highlight=False))
    ranking, step, cluster = plan.ranking, plan.step, plan.cluster
    console.print(
        f"[bold]{plan.model}[/bold]  {step.model.parameters() / 1e9:.4g} B parameters, {step.batch:,} sequences of "
        f"{plan.sequence:,} a step, on [bold]{cluster.name}[/bold]"
    )
    if trains := trained_text(step):
        console.print(f"[bold]trains[/bold]  {trains}")
    for note in (*plan.notes, *cluster.notes_on_power):
        console.print(f"note: {note}", style="yellow")
    console.print(
        f"{ranking.configurations:,} layouts: {ranking.evaluated:,} timed, {ranking.pruned:,} ruled out by model "
        f"states alone, {ranking.feasible:,} can run; {plan.seconds:.1f} s",
        style="dim",
    )
    if not ranking.best:
        console.print("\n[bold red]none of them fits[/bold red]")
        told, ways = dead_end_words(plan)
        for sentence in told:
            console.print(sentence)
        for command, gives in ways:
            console.print(f"\n  {command}\n  {gives}", soft_wrap=True)
        return
    console.print(_layouts(f"The {plan.order} of each kind", plan.kinds))
    shown = {layout.mapping for layout in plan.kinds}
    others = [layout for layout in plan.layouts if layout.mapping not in shown]
    if others:
        console.print(_layouts("Other fast ones, those that tie as one", others))
    first = plan.explained[0]
    if first.time_range is not None:
        console.print(
            f"\nThe first takes {show(first.time_range.low, SECONDS)} … {show(first.time_range.high, SECONDS)} "
            f"({100 * first.time_range.level:.0f} % range); its fullest rank ({first.worst_rank}) "
            f"holds {show(first.memory_bytes, BYTES)} of {show(first.capacity, BYTES)}."
        )
    if plan.likeliest is not None:
        named = [plan.layouts[0].mapping, plan.likeliest.mapping]
        named += [] if plan.settling is None else plan.settling.layouts
        names = dict(zip(dict.fromkeys(named), layout_names(list(dict.fromkeys(named))), strict=True))
        console.print(
            f"p(fits) {chance_text(plan.layouts[0].p_fit or 0.0)}, p(fastest) "
            f"{probability_text(plan.layouts[0].p_best or 0.0)} among {numbered(plan.compared or 0, 'layout')}; the "
            f"likeliest {plan.sharing} share 90 %."
        )
        if plan.likeliest.mapping != plan.layouts[0].mapping:
            console.print(
                f"The likeliest, {names[plan.likeliest.mapping]}, has p(fastest) "
                f"{probability_text(plan.likeliest.p_best or 0.0)} and p(fits) "
                f"{chance_text(plan.likeliest.p_fit or 0.0)}."
            )
    if plan.settling is not None:
        settled = plan.settling
        console.print(
            f"To be surer: {settled.benchmark} that are likeliest, "
            f"{' and '.join(names[one] for one in settled.layouts)}, {settled.minutes:g} min, settle which is faster "
            f"with a chance of {100 * settled.settles:.0f} %."
        )
    for warning in plan.warnings:
        console.print(f"note: {warning}", style="yellow")
    if plan.difference is not None and plan.baseline is not None and plan.baseline.best is not None:
        as_it_is = plan.baseline.best
        console.print("\nThe first: " + "\n".join(difference_lines(plan.difference)))
        console.print(
            f"as it is: {show(as_it_is.time, SECONDS)} by {layout_names((as_it_is.mapping, first.mapping))[0]}"
        )
    if plan.run is not None:
        console.print("\n" + "\n".join(run_lines(plan.run)))
    console.print(Text(f"\n{why_words(plan)}"))
    if plan.nearest is not None:
        console.print(f"\n{nearest_words(plan.nearest)}")
    text = ", ".join(f"{item.name} {100 * item.gain:.1f} %" for item in plan.sensitivity if item.gain > 5e-4)
    console.print(Text(f"\nSensitivity: a tenth more of a resource shortens the step by: {text or 'nothing'}."))
    console.print(Text(range_words(plan.basis, "numbers of the machine"), style="dim"))


def _layouts(title: str, layouts: Sequence[Layout]) -> Table:
    """A table of layouts, fastest first."""
    numbers = ("step", "MFU", "memory")
    rows = (
        (*figures, f"[bold]{kind}[/bold]: {degrees}; {choices}", launched)
        for *figures, kind, degrees, choices, launched in map(layout_cells, layouts)
    )
    return plain_table(title, (*numbers, *_FOLDED), rows, numbers=numbers, folded=_FOLDED)
