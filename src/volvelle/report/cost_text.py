"""The cost breakdown of a machine as a person reads it."""

from collections.abc import Iterable, Iterator

from volvelle.economics.price_book import End
from volvelle.quantities import DOLLARS, FRACTION, JOULES, TOKEN_COUNT, WATTS, Number, Quantity, show
from volvelle.report.applications.scores_text import PLAN_WIDTH
from volvelle.report.compare_text import change_text
from volvelle.report.price_words import YEAR, price_cells
from volvelle.report.terminal import plain_table, wide_console
from volvelle.verbs.cost import Account

_ENDS = (End.LOW, End.TYPICAL, End.HIGH)


def print_cost(account: Account, *, brief: bool = False) -> None:
    """Purchase, power and ownership by part, the step if one was given, and every price with date and source.

    Briefly, sums alone.
    """
    console = wide_console(PLAN_WIDTH)
    bills = [account.breakdowns[end] for end in _ENDS]
    typical = account.breakdowns[End.TYPICAL]
    inventory, terms = account.inventory, typical.terms
    console.print(
        f"[bold]{inventory.name}[/bold]: {float(inventory.chips):,.0f} × {inventory.chip}, "
        f"prices by [bold]{account.model}[/bold]; "
        f"[bold]{show(float(typical.capex), DOLLARS)}[/bold] to buy, "
        f"[bold]{show(float(typical.power), WATTS)}[/bold] at the meter, "
        f"[bold]{show(float(typical.tco), DOLLARS)}[/bold] to own for {float(terms.life) / YEAR:.3g} years"
    )
    for note in account.notes:
        console.print(f"note: {note}", style="yellow")
    numbers = ("\nlow", "\ntypical", "\nhigh")
    table = plain_table("", ("\nto buy", *numbers), numbers=numbers)

    def row(name: str, values: Iterable[Number], kind: Quantity, style: str = "") -> None:
        table.add_row(name, *(show(float(value), kind) for value in values), style=style)

    for part in typical.capex_by_part if not brief else ():
        row(part, (bill.capex_by_part[part] for bill in bills), DOLLARS)
    row("all", (bill.capex for bill in bills), DOLLARS, "bold")
    table.add_row("\npower in use")
    for part in typical.power_by_part if not brief else ():
        row(part, (bill.power_by_part[part] for bill in bills), WATTS)
    row("at the meter", (bill.power for bill in bills), WATTS, "bold")
    table.add_row("\nto own")
    for part in typical.ownership if not brief else ():
        row(part, (bill.ownership[part] for bill in bills), DOLLARS)
    row("all", (bill.tco for bill in bills), DOLLARS, "bold")
    chips = float(inventory.chips)
    row("per chip and hour in use", (bill.dollars_per_second * 3600.0 / chips for bill in bills), DOLLARS)
    if account.steps:
        table.add_row("\na step")
        for name, kind, values in _step_rows(account):
            table.add_row(name, *(show(value, kind) if kind else f"{value:,.3g}" for value in values))
    console.print(table)
    if brief:
        console.print("more without --brief", style="dim")
        return
    console.print(
        f"\nused {show(float(terms.use), FRACTION)} of the time, chips at {show(float(terms.load), FRACTION)} of rated "
        f"power; low and high: every price {'and the step ' if account.step_range else ''}at that end at once; the "
        f"weakest price is {account.weakest_evidence}",
        style="dim",
    )
    if account.baseline is not None:
        as_it_is = account.baseline.breakdowns[End.TYPICAL]
        figures = ((typical.capex, as_it_is.capex, "to buy"), (typical.tco, as_it_is.tco, "to own"))
        told = [f"{change_text(float(a) / float(b))} {what} ({show(float(b), DOLLARS)})" for a, b, what in figures]
        console.print(f"against the machine as it is: {', '.join(told)}")
    if account.given:
        console.print(f"terms: {', '.join(account.given)}", style="dim")
    _print_sources(account)


def _step_rows(account: Account) -> Iterator[tuple[str, Quantity | None, list[float]]]:
    """What a step costs, and a whole run: row, kind, and the values at every end."""
    costs = [account.at(end) for end in _ENDS]
    steps = [cost.step for cost in costs if cost.step is not None]
    yield "money", DOLLARS, [float(step.dollars) for step in steps]
    yield "energy", JOULES, [float(step.energy) for step in steps]
    for name, kind, values in (
        ("USD per million tokens", None, [cost.usd_per_token and 1e6 * cost.usd_per_token for cost in costs]),
        ("tokens/s per watt", None, [cost.tokens_per_joule for cost in costs]),
        (f"days for {show(account.tokens or 0, TOKEN_COUNT)} tokens", None, [cost.training_days for cost in costs]),
        ("days with failures", None, [cost.interrupted_days for cost in costs]),
        ("money for the run", DOLLARS, [cost.training_usd for cost in costs]),
    ):
        known = [value for value in values if value is not None]
        if known:
            yield name, kind, known


def _print_sources(account: Account) -> None:
    console = wide_console(PLAN_WIDTH)
    numbers = ("\ntypical", "\nlow … high")
    table = plain_table("", ("\ninputs and sources", *numbers), numbers=numbers)
    table.collapse_padding = True
    for head in ("\ndate", "\nevidence"):
        table.add_column(head, no_wrap=True, style="dim")
    keys = sorted({figure.source for figure in account.rests_on.values()})
    for name, figure in account.rests_on.items():
        *cells, date = price_cells(name, figure)
        evidence = f"{figure.evidence.word} ({keys.index(figure.source) + 1})"
        table.add_row(*cells, date.replace(" to ", "…"), evidence)
    console.print(table)
    console.print()
    for place, key in enumerate(keys, start=1):
        work = account.references[key]
        console.print(f"({place}) {key}: {work.authors} ({work.year}), {work.title}. {work.place}", style="dim")
