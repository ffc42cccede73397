"""How many accelerators a run takes, as tables."""

from rich.console import Console
from rich.table import Table

from volvelle.quantities import DOLLARS, TOKEN_COUNT, show
from volvelle.report.plan_words import choices_text, degrees_text
from volvelle.report.range_words import range_words
from volvelle.report.run_text import run_lines
from volvelle.report.terminal import plain_table, wide_console
from volvelle.report.trained_text import trained_text
from volvelle.verbs.how_many import Size, Sizing

_BAR = 24
_ROWS = 14


def print_sizing(sizing: Sizing, console: Console | None = None, *, curve: bool = True) -> None:
    """Print the fewest, the cheapest and the curve, if it is wanted."""
    console = wide_console(console=console or Console(highlight=False))
    step = sizing.step
    wanted = [f"{sizing.days:g} days"] if sizing.days is not None else []
    wanted += [show(sizing.usd, DOLLARS)] if sizing.usd is not None else []
    console.print(
        f"[bold]{sizing.model}[/bold]  {step.model.parameters() / 1e9:.4g} B parameters, {step.batch:,} sequences of "
        f"{sizing.sequence:,} a step, {show(sizing.tokens, TOKEN_COUNT)} tokens within {' and '.join(wanted)}, on "
        f"[bold]{sizing.system}[/bold]"
    )
    if told := trained_text(step):
        console.print(f"[bold]trains[/bold]  {told}")
    for note in sizing.notes:
        console.print(f"note: {note}", style="yellow")
    if sizing.smallest is None:
        console.print("\n[bold red]no count that was looked at does it[/bold red]")
    else:
        _print_size(console, "The fewest", sizing.smallest)
        span = sizing.smallest.run.ranges.get("days")
        if span is not None and sizing.days is not None and span.high > sizing.days:
            console.print("The date is inside its range: it may be late by as much as that says.", style="yellow")
        cheapest = sizing.cheapest
        if cheapest is not None and cheapest.accelerators != sizing.smallest.accelerators:
            _print_size(console, "The cheapest near it", cheapest)
        elif cheapest is not None:
            console.print("No count near it is cheaper.")
    if sizing.sizes and curve:
        console.print(_curve(sizing))


def _print_size(console: Console, title: str, size: Size) -> None:
    console.print(
        f"\n[bold]{title}: {size.accelerators:,} accelerators[/bold], {100 * size.utilisation:.1f} % of peak (MFU)\n"
        f"{degrees_text(size.mapping)}; {choices_text(size.mapping)}"
    )
    for line in run_lines(size.run):
        console.print(line)
    if size.basis is not None:
        console.print(range_words(size.basis, "numbers of the machine"), style="dim", markup=False)


def shown_sizes(sizing: Sizing) -> list[Size]:
    """Counts that are faster than every smaller one, the answers among them; no more than fit a screen."""
    kept: list[Size] = []
    for size in sizing.sizes:
        if not kept or size.run.days < kept[-1].run.days:
            kept.append(size)
    answers = {size.accelerators for size in (sizing.smallest, sizing.cheapest) if size is not None}
    spare = [size for size in kept if size.accelerators not in answers]
    while len(spare) + len(answers) > _ROWS:
        spare = spare[:1] + spare[2:]
    return sorted(
        [*spare, *(size for size in sizing.sizes if size.accelerators in answers)], key=lambda size: size.accelerators
    )


def _curve(sizing: Sizing) -> Table:
    rows = shown_sizes(sizing)
    longest = max(size.run.days for size in rows)
    numbers = ("accelerators", "days", "MFU", "money")
    table = plain_table("\nCounts that are faster than every smaller one", (*numbers, ""), numbers=numbers)
    for size in rows:
        best = sizing.smallest is not None and size.accelerators == sizing.smallest.accelerators
        table.add_row(
            f"{size.accelerators:,}",
            f"{size.run.days:,.1f}",
            f"{100 * size.utilisation:.1f} %",
            "–" if size.usd is None else show(size.usd, DOLLARS),
            "█" * max(1, round(_BAR * size.run.days / longest)),
            style="bold" if best else "",
        )
    return table
