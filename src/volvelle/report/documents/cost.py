"""What ``volvelle cost --json`` prints."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Annotated, Any

from pydantic import BeforeValidator

from volvelle.catalogue.prices import price_kind
from volvelle.economics.price_book import End
from volvelle.report.documents.document import Document, at


class StepEntry(Document):
    """What one step takes."""

    seconds: float = at("time")
    """At that end of its range, where one was given."""
    joules: float = at("energy")
    usd: float = at("dollars")


class BreakdownEntry(Document):
    """The machine's costs with every price at one end. Without a step or its tokens, what needs them is null."""

    capex_by_part_usd: dict[str, float] = at("breakdown.capex_by_part")
    capex_usd: float = at("breakdown.capex")
    rated_power_by_part_watts: dict[str, float] = at("breakdown.rated")
    power_by_part_watts: dict[str, float] = at("breakdown.power_by_part")
    power_watts: float = at("breakdown.power")
    ownership_usd: dict[str, float] = at("breakdown.ownership")
    tco_usd: float = at("breakdown.tco")
    step: StepEntry | None
    usd_per_token: float | None
    tokens_per_joule: float | None
    training_days: float | None
    interrupted_days: float | None
    training_usd: float | None


class PriceEntry(Document):
    """A number that costs rest on, in a unit of the SI and dollars."""

    value: float = at("figure.value")
    low: float
    high: float
    unit: str
    date: str = at("figure.date")
    evidence: str = at("figure.evidence.word")
    source: str = at("figure.source")
    note: str = at("figure.note")


def _prices(figures: Mapping[str, Any]) -> dict[str, SimpleNamespace]:
    return {
        name: SimpleNamespace(
            figure=figure, low=End.LOW.of(figure), high=End.HIGH.of(figure), unit=price_kind(name).base
        )
        for name, figure in figures.items()
    }


class CostDocument(Document):
    """What a machine costs to buy and to own. Power in watts, times in seconds, money in USD."""

    system: str = at("inventory.name")
    chip: str = at("inventory.chip")
    accelerators: int = at("inventory.chips")
    price_model: str = at("model")
    life_seconds: float = at("terms.life")
    use: float = at("terms.use")
    load: float = at("terms.load")
    low: BreakdownEntry
    typical: BreakdownEntry
    high: BreakdownEntry
    given: list[str]
    notes: list[str]
    """What the machine's description leaves open."""
    weakest_evidence: str
    """Grade of the weakest price that it rests on."""
    step_range_seconds: tuple[float, float] | None = at("step_range")
    """Ends of the time of a step that low and high are with; None: none were given."""
    baseline_tco_usd: float | None = at("baseline.typical.breakdown.tco", None)
    """Of the machine as it is, where some of its numbers were set."""
    rests_on: Annotated[dict[str, PriceEntry], BeforeValidator(_prices)]
