"""How sure the figures of a design are: its time under uncertain inputs, its price between low and high prices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from volvelle.catalogue.prices import PriceBook
from volvelle.catalogue.schema import Reference
from volvelle.economics.cost_breakdown import CostBreakdown
from volvelle.economics.price_book import End
from volvelle.errors import OutsideDomainError
from volvelle.quantities import DOLLARS, JOULES, WATTS
from volvelle.spread import Figure
from volvelle.studies.design_space.accounts import Accounts
from volvelle.studies.design_space.evaluate import Evaluator, Explained
from volvelle.studies.design_space.measures import MEASURES, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRange:
    """A measure of a design, and where it may lie."""

    name: str
    value: float
    low: float
    high: float
    level: float
    """Share of sampled inputs that end inside, as far as time goes; prices are at either end, all at once."""
    varied: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """A price that money rests on."""

    name: str
    figure: Figure
    low: float
    high: float
    reference: Reference | None


def needs_prices(name: str) -> bool:
    """Whether a measure rests on prices and powers of the machine."""
    measure = MEASURES.get(name)
    return measure is not None and (measure.kind in (DOLLARS, WATTS, JOULES) or "joule" in name or "usd" in name)


def figure_ranges(evaluator: Evaluator, explained: Explained, names: Sequence[str]) -> tuple[FigureRange, ...]:
    """Ranges of measures of a design: every workload's step at either end, prices at either end."""
    ranges = [None if estimate is None else estimate.time_range for estimate in explained.estimates]
    if not ranges or any(found is None for found in ranges):
        return ()
    known = [found for found in ranges if found is not None]
    breakdowns = _bills(evaluator, explained, any(needs_prices(name) for name in names))
    varied = tuple(dict.fromkeys(name for found in known for name in found.varied))
    answers = []
    for name in names:
        values = []
        for breakdown, end in product(breakdowns, ("low", "high")):
            worked = [
                replace(one, time=np.array([getattr(found, end)]))
                for one, found in zip(explained.outcome.worked, known, strict=True)
            ]
            made = explained.outcome.cost_breakdown if breakdown is None else (lambda breakdown=breakdown: breakdown)
            outcome = Outcome(worked=worked, chips=explained.outcome.chips, cost_breakdown=made)
            values.append(float(np.max(MEASURES[name].of(outcome))))
        own = float(np.max(MEASURES[name].of(explained.outcome)))
        timed = any(values[place] != values[place + 1] for place in range(0, len(values), 2))
        money = needs_prices(name)
        prices = (
            ("prices and powers of parts",) if money and any(breakdown is not None for breakdown in breakdowns) else ()
        )
        lacking = [
            end.value for end, breakdown in zip((End.LOW, End.HIGH), breakdowns, strict=False) if breakdown is None
        ]
        note = f"prices at their {' and '.join(lacking)} end do not add up by part; the typical ones stand there"
        answers.append(
            FigureRange(
                name=name,
                value=own,
                low=min([own, *values]),
                high=max([own, *values]),
                level=known[0].level,
                varied=(*(varied if timed else ()), *prices),
                note=note if money and lacking else "",
            )
        )
    return tuple(answers)


def _bills(evaluator: Evaluator, explained: Explained, priced: bool) -> list[CostBreakdown | None]:
    """Bills at low and high prices; None stands for the typical one, where ends cannot be told apart."""
    if not priced:
        return [None]
    found: list[CostBreakdown | None] = []
    for end in (End.LOW, End.HIGH):
        try:
            found.append(Accounts(evaluator.study, at=end).cost_breakdown(explained.cluster, explained.anchor))
        except OutsideDomainError:
            found.append(None)
    return found


def assumptions(evaluator: Evaluator, explained: Explained) -> tuple[Assumption, ...]:
    """Every price that the design's money rests on, with its date, interval and source."""
    catalogue = evaluator.study.catalogue
    site = {name: figure for name, figure in PriceBook(catalogue).figures.items() if name.startswith("site.")}
    given = {"site.energy_price"}  # the study's own, see `CostForm`
    rests: Mapping[str, Figure] = getattr(evaluator.accounts.prices(explained.anchor), "rests_on", {})
    return tuple(
        Assumption(
            name=name,
            figure=figure,
            low=End.LOW.of(figure),
            high=End.HIGH.of(figure),
            reference=catalogue.references.get(figure.source),
        )
        for name, figure in {**rests, **site}.items()
        if name not in given
    )
