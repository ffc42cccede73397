"""How sure the figures of a design are: its time under uncertain inputs, its price between low and high prices."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from volvelle.catalogue.prices import PriceBook
from volvelle.catalogue.schema import Reference
from volvelle.economics.cost_breakdown import CostBreakdown
from volvelle.economics.price_book import End
from volvelle.errors import OutsideDomainError
from volvelle.quantities import DOLLARS, JOULES, WATTS
from volvelle.spread import Figure
from volvelle.studies.design_space.accounts import Accounts
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.explained import Explained
from volvelle.studies.design_space.measures import MEASURES, SURE, is_quantile
from volvelle.studies.mapped.mapping_cost import PRICES


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


def _moves(name: str) -> bool:
    """Whether anything beside the doubt in steps moves a measure, where it has that in itself."""
    return not is_quantile(name) or needs_prices(name)


def figure_ranges(evaluator: Evaluator, explained: Explained, names: Sequence[str]) -> tuple[FigureRange, ...]:
    """Ranges of measures of a design: every workload's step at either end, prices at either end.

    A quantile of a step has none: it is part of one. That of a whole run has the doubt in its steps in itself, so that
    prices alone move it.
    """
    names = [name for name in dict.fromkeys(names) if name in MEASURES and name not in SURE and _moves(name)]
    ranges = list(explained.ranges())
    known = [found for found in ranges if found is not None]
    if not known or len(known) < len(ranges):
        return ()
    outcome = explained.outcome
    priced = any(needs_prices(name) for name in names)
    bills = {end: _bill(evaluator, explained, end) for end in (End.LOW, End.HIGH)} if priced else {}
    told = [end.value for end, bill in bills.items() if bill is None]
    note = f"prices at their {' and '.join(told)} end do not add up by part; the typical ones stand there"
    varied = tuple(dict.fromkeys(name for found in known for name in found.varied))
    # Every workload's time at either end, with every bill; the typical one stands in where there is no other.
    times = [[np.array([getattr(found, end)]) for found in known] for end in ("low", "high")]
    outcomes = [
        replace(
            outcome,
            worked=[replace(one, time=time) for one, time in zip(outcome.worked, taken, strict=True)],
            cost_breakdown=bill or outcome.cost_breakdown,
        )
        for bill in bills.values() or [None]
        for taken in times
    ]
    answers = []
    for name in names:
        ends = outcomes
        if is_quantile(name):
            ends = [replace(one, worked=outcome.worked) for one in outcomes[::2] for _ in times]
        own, *values = (float(np.max(MEASURES[name].of(one))) for one in (outcome, *ends))
        held = _memory(explained) if name == "memory" else None
        if held is not None:
            answers.append(replace(held, value=own, low=min(held.low, own), high=max(held.high, own)))
            continue
        if is_quantile(name) and set(values) <= {own}:
            continue
        timed = values[::2] != values[1::2]
        prices = (PRICES,) if needs_prices(name) and len(told) < len(bills) else ()
        answers.append(
            FigureRange(
                name=name,
                value=own,
                low=min([own, *values]),
                high=max([own, *values]),
                level=known[0].level,
                varied=(*(varied if timed else ()), *prices),
                note=note if needs_prices(name) and told else "",
            )
        )
    return tuple(answers)


def _memory(explained: Explained) -> FigureRange | None:
    """Where memory lies, of the workload that holds most at either end; None: of some nothing is known."""
    ranges = [None if estimate is None else estimate.ranges.get("memory") for estimate in explained.estimates]
    known = [found for found in ranges if found is not None]
    if not known or len(known) < len(ranges):
        return None
    return FigureRange(
        name="memory",
        value=0.0,
        low=max(found.low for found in known),
        high=max(found.high for found in known),
        level=known[0].level,
        varied=tuple(dict.fromkeys(name for found in known for name in found.varied)),
    )


def _bill(evaluator: Evaluator, explained: Explained, end: End) -> Callable[[], CostBreakdown] | None:
    """The bill at low or high prices; None: they cannot be told apart by part."""
    try:
        bill = Accounts(evaluator.study, at=end).cost_breakdown(explained.cluster, explained.anchor)
    except OutsideDomainError:
        return None
    return lambda: bill


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
