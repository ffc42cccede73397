"""A plan of how to serve, as a person enjoys reading it."""

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from volvelle.report.plan_serving.split_words import brief_split_text, split_command, split_lines
from volvelle.report.plan_serving.words import (
    COLUMNS,
    NUMBERS,
    asked_text,
    change_rows,
    counts_text,
    dead_end_lines,
    degrees_text,
    formats_text,
    option_cells,
    option_lines,
    spent_text,
    title_text,
)
from volvelle.report.serving.launch_files_text import print_launch_files
from volvelle.report.terminal import plain_table, wide_console
from volvelle.verbs.plan_serving.plan import ServingPlan


def print_serving_plan(plan: ServingPlan, *, brief: bool = False) -> None:
    """Print the first option, then the others, then what would change the answer."""
    console = wide_console(console=Console(highlight=False))
    text = Text()
    text.append(title_text(plan), style="bold")
    text.append(f"\n{asked_text(plan)}\n")
    for warning in plan.warnings:
        text.append(f"note: {warning}\n", style="yellow")
    text.append("\n")
    best = plan.best
    if best is None:
        who = "nothing" if plan.split is None else "no instance that does both"
        text.append(f"{who} serves it within the limits", style="bold red")
        for line in dead_end_lines(plan):
            text.append(f"\n{line}")
    else:
        for index, line in enumerate(option_lines(plan, best)):
            text.append(("\n" if index else "") + line, style="bold green" if index == 0 else "")
        text.append(f"\n{best.question.command}", style="dim")
    colour = "red" if best is None else "green"
    console.print(Panel(text, title="plan to serve", border_style=colour, title_align="left"))
    if best is not None and not brief:
        rows = [option_cells(plan, option) for option in plan.options]
        spent = {"dollars": "USD/h", "watts": "W", "chips": "chips spent"}[plan.spending.purpose]
        names = [spent if name == "spent" else name for name in COLUMNS]
        numbers = [spent if name == "spent" else name for name in NUMBERS]
        console.print(plain_table("The best of each layout", names, rows, numbers=numbers, folded=("formats",)))
        full = plan.full_precision
        if full is not None:
            console.print(
                f"in 16 bits: {full.replicas} × {degrees_text(full.question)} ({formats_text(full.question)}), "
                f"{full.chips} chips, {spent_text(plan, full.spent)}"
            )
        columns = ("change", "goodput", "replicas")
        console.print(plain_table("What would change it", columns, change_rows(plan), numbers=columns[1:]))
    _print_split(console, plan, brief=brief)
    console.print(Text(f"\n{counts_text(plan)}", style="dim"))
    for note in plan.notes if not brief else ():
        if note not in plan.warnings:
            console.print(Text(note, style="dim"))
    print_launch_files(console, plan.files, plan.folder)


def _print_split(console: Console, plan: ServingPlan, *, brief: bool) -> None:
    """Two pools, where they were looked for."""
    if plan.split_pools is None:
        return
    if brief:
        console.print(Text(brief_split_text(plan)))
        return
    console.print(Text("\nSplit pools", style="bold"))
    for line in split_lines(plan):
        console.print(Text(line))
    if split_command(plan):
        console.print(Text(split_command(plan), style="dim"))
