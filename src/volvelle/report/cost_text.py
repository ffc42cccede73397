"""The bill of a machine as a person reads it, and for other programs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rich.table import Table

from volvelle.catalogue.schema import Reference
from volvelle.economics.cost_breakdown import CostBreakdown, StepCost
from volvelle.economics.price_book import End
from volvelle.quantities import (
    DOLLARS,
    FRACTION,
    JOULES,
    WATTS,
    Number,
    Quantity,
    show,
)
from volvelle.report.applications.scores_text import PLAN_WIDTH, wide_console
from volvelle.report.price_words import YEAR, price_kind, price_text, without_unit
from volvelle.spread import Figure
from volvelle.system.inventory import Inventory

__all__ = ["Account", "bill_document", "print_bill"]

_ENDS = (End.LOW, End.TYPICAL, End.HIGH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A machine's bill at low, typical and high prices, and what it rests on."""

    inventory: Inventory
    model: str
    breakdowns: Mapping[End, CostBreakdown]
    rests_on: Mapping[str, Figure]
    given: tuple[str, ...]
    """Prices and terms that the asker gave."""
    references: Mapping[str, Reference]
    steps: Mapping[End, StepCost] | None = None
    tokens: float | None = None
    """Tokens to train on."""


def _three(of: Mapping[End, Number], kind: Quantity) -> tuple[str, ...]:
    return tuple(show(float(of[end]), kind) for end in _ENDS)


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(heads[0], no_wrap=True)
    for head in heads[1:]:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def print_bill(found: Account) -> None:
    """Purchase, power and ownership by part, the step if one was given, and every price with date and source."""
    console = wide_console(PLAN_WIDTH)
    typical = found.breakdowns[End.TYPICAL]
    inventory, terms = found.inventory, typical.terms
    console.print(
        f"[bold]{inventory.name}[/bold]: {float(inventory.chips):,.0f} x {inventory.chip}, "
        f"prices by [bold]{found.model}[/bold]; "
        f"[bold]{show(float(typical.capex), DOLLARS)}[/bold] to buy, "
        f"[bold]{show(float(typical.power), WATTS)}[/bold] at the meter, "
        f"[bold]{show(float(typical.tco), DOLLARS)}[/bold] to own for {float(terms.life) / YEAR:.3g} years"
    )
    table = _table("\nto buy", "\nlow", "\ntypical", "\nhigh")
    for part in typical.capex_by_part:
        table.add_row(part, *_three({end: found.breakdowns[end].capex_by_part[part] for end in _ENDS}, DOLLARS))
    table.add_row("all", *_three({end: found.breakdowns[end].capex for end in _ENDS}, DOLLARS), style="bold")
    table.add_row("\npower in use")
    for part in typical.power_by_part:
        table.add_row(part, *_three({end: found.breakdowns[end].power_by_part[part] for end in _ENDS}, WATTS))
    table.add_row("at the meter", *_three({end: found.breakdowns[end].power for end in _ENDS}, WATTS), style="bold")
    table.add_row("\nto own")
    for part in typical.ownership:
        table.add_row(part, *_three({end: found.breakdowns[end].ownership[part] for end in _ENDS}, DOLLARS))
    table.add_row("all", *_three({end: found.breakdowns[end].tco for end in _ENDS}, DOLLARS), style="bold")
    hours = {end: found.breakdowns[end].dollars_per_second * 3600.0 / float(inventory.chips) for end in _ENDS}
    table.add_row("a chip and hour of use", *_three(hours, DOLLARS))
    if found.steps:
        table.add_row("\na step")
        for name, kind, values in _step_rows(found.steps, found.tokens):
            table.add_row(name, *(show(value, kind) if kind else f"{value:,.3g}" for value in values))
    console.print(table)
    console.print(
        f"\nused {show(float(terms.use), FRACTION)} of the time, chips at {show(float(terms.load), FRACTION)} of rated "
        f"power; low and high: every price at that end at once",
        style="dim",
    )
    if found.given:
        console.print(f"terms: {', '.join(found.given)}", style="dim")
    _print_sources(found)


def _step_rows(
    steps: Mapping[End, StepCost], tokens: float | None
) -> list[tuple[str, Quantity | None, tuple[float, ...]]]:
    def over(
        name: str, kind: Quantity | None, of: Mapping[End, Number]
    ) -> tuple[str, Quantity | None, tuple[float, ...]]:
        return name, kind, tuple(float(of[end]) for end in _ENDS)

    rows = [
        over("money", DOLLARS, {end: step.dollars for end, step in steps.items()}),
        over("energy", JOULES, {end: step.energy for end, step in steps.items()}),
    ]
    if steps[End.TYPICAL].tokens is not None:
        million = {end: 1e6 * step.dollars_per_token for end, step in steps.items()}
        rows += [
            over("USD a million tokens", None, million),
            over("tokens a second and watt", None, {e: step.tokens_per_second_per_watt for e, step in steps.items()}),
        ]
        if tokens is not None:
            rows += [
                over(f"days for {tokens:.3g} tokens", None, {end: step.days(tokens) for end, step in steps.items()}),
                over("money for them", DOLLARS, {end: step.training_dollars(tokens) for end, step in steps.items()}),
            ]
    return rows


def _print_sources(found: Account) -> None:
    console = wide_console(PLAN_WIDTH)
    table = _table("\nwhat it rests on", "\ntypical", "\nlow … high")
    table.collapse_padding = True
    for head in ("\ndate", "\nevidence"):
        table.add_column(head, no_wrap=True, style="dim")
    keys = sorted({figure.source for figure in found.rests_on.values()})
    for name, figure in found.rests_on.items():
        words = re.sub(r"^(networks|memory|site)\.", "", name).replace("_", " ").replace(".", " ")
        low, typical, high = (_written(end.of(figure), name) for end in _ENDS)
        ends = "" if figure.spread is None else f"{without_unit(low, typical)} … {without_unit(high, typical)}"
        evidence = f"{figure.evidence.word} ({keys.index(figure.source) + 1})"
        table.add_row(words, typical, ends, figure.date.replace(" to ", "…"), evidence)
    console.print(table)
    console.print()
    for place, key in enumerate(keys, start=1):
        one = found.references[key]
        console.print(f"({place}) {key}: {one.authors} ({one.year}), {one.title}. {one.place}", style="dim")


def _written(value: float, name: str) -> str:
    """A figure without the noughts at its end."""
    return re.sub(r"^([\d,]+\.\d*?)0+(?= )", r"\1", price_text(name, value)).replace(". ", " ")


def bill_document(found: Account) -> dict[str, object]:
    """The same in SI units."""

    def plain(parts: Mapping[str, Number]) -> dict[str, float]:
        return {name: float(value) for name, value in parts.items()}

    def one(end: End) -> dict[str, object]:
        breakdown = found.breakdowns[end]
        answer: dict[str, object] = {
            "capex_by_part_usd": plain(breakdown.capex_by_part),
            "capex_usd": float(breakdown.capex),
            "rated_power_by_part_watts": plain(breakdown.rated),
            "power_by_part_watts": plain(breakdown.power_by_part),
            "power_watts": float(breakdown.power),
            "ownership_usd": plain(breakdown.ownership),
            "tco_usd": float(breakdown.tco),
        }
        if found.steps:
            step = found.steps[end]
            answer["step"] = {"seconds": float(step.time), "joules": float(step.energy), "usd": float(step.dollars)}
            if step.tokens is not None:
                answer["usd_per_token"] = float(step.dollars_per_token)
                answer["tokens_per_joule"] = float(step.tokens_per_second_per_watt)
                if found.tokens is not None:
                    answer["training_days"] = float(step.days(found.tokens))
                    answer["training_usd"] = float(step.training_dollars(found.tokens))
        return answer

    terms = found.breakdowns[End.TYPICAL].terms
    return {
        "system": found.inventory.name,
        "chip": found.inventory.chip,
        "chips": float(found.inventory.chips),
        "model": found.model,
        "life_seconds": float(terms.life),
        "use": float(terms.use),
        "load": float(terms.load),
        **{end.value: one(end) for end in _ENDS},
        "given": list(found.given),
        "rests_on": {
            name: {
                "value": figure.value,
                "low": End.LOW.of(figure),
                "high": End.HIGH.of(figure),
                "unit": price_kind(name).base,
                "date": figure.date,
                "kind": figure.evidence.word,
                "source": figure.source,
                "note": figure.note,
            }
            for name, figure in found.rests_on.items()
        },
    }
