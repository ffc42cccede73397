"""How many accelerators a run takes, as tables."""

from itertools import pairwise

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
    console.print(
        f"[bold]{sizing.model}[/bold]  {step.model.parameters() / 1e9:.4g} B parameters, {step.batch:,} sequences of "
        f"{sizing.sequence:,} a step, {show(sizing.tokens, TOKEN_COUNT)} tokens within {limit_words(sizing)}, on "
        f"[bold]{sizing.system}[/bold]"
    )
    if told := trained_text(step):
        console.print(f"[bold]trains[/bold]  {told}")
    for note in sizing.notes:
        console.print(f"note: {note}", style="yellow")
    if sizing.smallest is None:
        console.print(f"\n[bold red]{unmet_words(sizing)}[/bold red]")
    else:
        _print_size(console, "The fewest", sizing.smallest)
        latest = latest_days(sizing.smallest)
        if latest is not None and sizing.days is not None and latest > sizing.days:
            console.print(
                f"The date lies inside the range: the run may take {latest:,.1f} days with failures.", style="yellow"
            )
        for line in search_words(sizing):
            console.print(line)
        cheapest = sizing.cheapest
        if cheapest is not None and cheapest.accelerators != sizing.smallest.accelerators:
            _print_size(console, "The cheapest near it", cheapest)
        elif cheapest is not None:
            console.print("No count near it is cheaper.")
    if sizing.sizes and curve:
        console.print(_curve(sizing))


def limit_words(sizing: Sizing) -> str:
    """Return the date and the budget that a run must meet."""
    wanted = [f"{sizing.days:g} days"] if sizing.days is not None else []
    wanted += [show(sizing.usd, DOLLARS)] if sizing.usd is not None else []
    return " and ".join(wanted)


def unmet_words(sizing: Sizing) -> str:
    """Return the largest size looked at and the best result, where no size meets the date or the budget."""
    searched = sizing.searched
    words = f"No size up to {searched.most:,} GPUs meets {limit_words(sizing)} ({searched.count:,} sizes looked at)."
    if not sizing.sizes:
        return f"{words} No layout fits on any of them."
    if sizing.days is not None:
        size = min(sizing.sizes, key=lambda size: size.run.days_with_failures)
        words += f" At {size.accelerators:,}, the fastest, it takes {_days(size)} days with failures"
        return f"{words} and costs {show(size.usd, DOLLARS)}." if sizing.usd is not None and size.usd else f"{words}."
    priced = [size for size in sizing.sizes if size.usd is not None]
    if not priced:
        return f"{words} The price of the machine is unknown."
    cheapest = min(priced, key=lambda size: size.usd or 0.0)
    return f"{words} At {cheapest.accelerators:,}, the cheapest, it costs {show(cheapest.usd or 0.0, DOLLARS)}."


def search_words(sizing: Sizing) -> list[str]:
    """Return the sizes that the search looked at, and the size that only failures make late."""
    searched, words = sizing.searched, []
    if searched.every is not None and searched.most > searched.least:
        words.append(
            f"Looked at every multiple of {searched.every:,} from {searched.least:,} to {searched.most:,} GPUs; "
            f"{searched.least:,} is the lower bound at full rate."
        )
    late = sizing.late_by_failures
    if late is not None:
        words.append(
            f"{late.accelerators:,} GPUs take {late.run.days:,.1f} days without failures, {_days(late)} with failures."
        )
    return words


def latest_days(size: Size) -> float | None:
    """Return the upper end of the range of days with failures; None: the run has no range."""
    span = size.run.ranges.get("days")
    return None if span is None else span.high * size.run.days_with_failures / size.run.days


def _days(size: Size) -> str:
    return f"{size.run.days_with_failures:,.1f}"


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
    """Return the sizes that are faster than every smaller one, and the answers; no more than fit a screen.

    Where they are too many, those are left out that gain least on the size before them.
    """
    kept: list[Size] = []
    for size in sizing.sizes:
        if not kept or size.run.days_with_failures < kept[-1].run.days_with_failures:
            kept.append(size)
    answers = {size.accelerators for size in (sizing.smallest, sizing.cheapest) if size is not None}
    kept += [size for size in sizing.sizes if size.accelerators in answers and size not in kept]
    kept.sort(key=lambda size: size.accelerators)
    while len(kept) > _ROWS:
        gains = {
            place: before.run.days_with_failures / size.run.days_with_failures
            for place, (before, size) in enumerate(pairwise(kept), start=1)
            if size.accelerators not in answers
        }
        del kept[min(gains, key=lambda place: gains[place])]
    return kept


def _curve(sizing: Sizing) -> Table:
    rows = shown_sizes(sizing)
    longest = max(size.run.days_with_failures for size in rows)
    numbers = ("accelerators", "days", "MFU", "money")
    title = "\nCounts that are faster than every smaller one; days with failures, money without"
    table = plain_table(title, (*numbers, ""), numbers=numbers)
    for size in rows:
        best = sizing.smallest is not None and size.accelerators == sizing.smallest.accelerators
        table.add_row(
            f"{size.accelerators:,}",
            _days(size),
            f"{100 * size.utilisation:.1f} %",
            "–" if size.usd is None else show(size.usd, DOLLARS),
            "█" * max(1, round(_BAR * size.run.days_with_failures / longest)),
            style="bold" if best else "",
        )
    return table
