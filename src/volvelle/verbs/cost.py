"""What a machine costs to buy and to own, by part, and what that rests on."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from volvelle.base.python_function import asks
from volvelle.catalogue.prices import PriceBook
from volvelle.catalogue.schema import Reference
from volvelle.domains import STEP_TIME
from volvelle.economics.cost_breakdown import CostBreakdown, StepCost, Terms, cost_breakdown
from volvelle.economics.price_book import AbstractPrices, End, PriceModel
from volvelle.economics.training_run import run_tokens
from volvelle.errors import DescriptionError, brief
from volvelle.presentable import Presentable
from volvelle.questions.cost import CostQuestion
from volvelle.spread import Figure
from volvelle.system.inventory import Inventory
from volvelle.verbs.named import catalogue_of, cluster_of
from volvelle.verbs.what_if import beside_baseline

_DATE = re.compile(r"(19|20)\d\d(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class CostAt:
    """A machine's costs with every price at one end; what needs a step or its tokens is None without them."""

    breakdown: CostBreakdown
    step: StepCost | None
    tokens: float | None
    """Tokens to train on."""
    ettr: float | None = None
    """Effective training time ratio of the run, where it is interrupted as others are."""

    @property
    def interrupted_days(self) -> float | None:
        """Days to train on all tokens, failures, checkpoints and restarts included."""
        days = self.training_days
        return None if days is None or self.ettr is None else days / self.ettr

    @property
    def usd_per_token(self) -> float | None:
        """Money for a token."""
        return None if self._counted is None else float(self._counted.dollars_per_token)

    @property
    def tokens_per_joule(self) -> float | None:
        """Tokens a second for every watt at the meter."""
        return None if self._counted is None else float(self._counted.tokens_per_second_per_watt)

    @property
    def training_days(self) -> float | None:
        """Days to train on all tokens."""
        step, tokens = self._counted, self.tokens
        return None if step is None or tokens is None else float(step.days(tokens))

    @property
    def training_usd(self) -> float | None:
        """Money to train on all tokens."""
        step, tokens = self._counted, self.tokens
        return None if step is None or tokens is None else float(step.training_dollars(tokens))

    @property
    def _counted(self) -> StepCost | None:
        """The step, where its tokens are known."""
        return None if self.step is None or self.step.tokens is None else self.step


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Account(Presentable):
    """A machine's cost breakdown at low, typical and high prices, and what it rests on."""

    inventory: Inventory
    model: PriceModel
    breakdowns: Mapping[End, CostBreakdown]
    rests_on: Mapping[str, Figure]
    given: tuple[str, ...]
    """Prices and terms that the asker gave."""
    references: Mapping[str, Reference]
    steps: Mapping[End, StepCost] | None = None
    tokens: float | None = None
    """Tokens to train on."""
    ettr: float | None = None
    """Effective training time ratio of the run, where it is interrupted as others are."""
    step_range: tuple[float, float] | None = None
    """Ends of the time of a step that low and high are with; None: they are with its time."""
    notes: tuple[str, ...] = ()
    """What the machine's description leaves open."""
    baseline: "Account | None" = None
    """Of the machine as it is, where some of its numbers were set."""

    @property
    def weakest_evidence(self) -> str:
        """Grade of the weakest price that it rests on."""
        return Figure.weakest(*self.rests_on.values()).word

    @property
    def terms(self) -> Terms:
        """What depends on the owner and the site, at typical prices."""
        return self.breakdowns[End.TYPICAL].terms

    @property
    def low(self) -> CostAt:
        """With every price at its lowest."""
        return self.at(End.LOW)

    @property
    def typical(self) -> CostAt:
        """With typical prices."""
        return self.at(End.TYPICAL)

    @property
    def high(self) -> CostAt:
        """With every price at its highest."""
        return self.at(End.HIGH)

    def at(self, end: End) -> CostAt:
        """With every price at one end."""
        return CostAt(
            breakdown=self.breakdowns[end],
            step=None if self.steps is None else self.steps[end],
            tokens=self.tokens,
            ettr=self.ettr,
        )


@asks(CostQuestion)
@beside_baseline
def cost(question: CostQuestion) -> Account:
    """Return what a machine costs to buy, by part, its power, and what owning it costs over its life.

    Prices are by `model`, from offers between the dates `since` and `until`. A value that is given replaces the value
    of the price book; the others keep their intervals. With the time of a `step`, the account contains the cost of a
    step; with `tokens_per_step` and `tokens`, the cost of a run. `step_range` are both ends of the step's range, as
    `estimate` returns them; low and high then use them. `set` changes fields of the machine
    (``{"accelerators": 128}``); the account then contains the account of the unchanged machine as its `baseline`.
    """
    for name, date in (("since", question.since), ("until", question.until)):
        if date and not _DATE.fullmatch(date):
            raise DescriptionError(f"{name} is {brief(date)}; it must be a date like 2024, 2024-01 or 2024-01-31")
    step, of_step = question.si("step"), question.si("tokens_per_step")
    if question.tokens is not None and (step is None or of_step is None):
        raise DescriptionError("tokens need step and tokens_per_step too: days and money follow from all three")
    if of_step is not None and step is None:
        raise DescriptionError("tokens_per_step needs the time of a step too; give step")
    ends = _ends(question)
    known = catalogue_of(question.catalogue)
    cluster = cluster_of(question.on, known, changes=question.set)
    power = question.si("chip_power")
    if power is not None:
        cluster = replace(cluster, chip=replace(cluster.chip, power=power))
    book, inventory = PriceBook(known), Inventory.of(cluster)
    own = question.si("chip_price")
    if question.set and "chip.price" in question.set:
        if own is not None:
            raise DescriptionError("both chip_price and set chip.price are given; give one or the other")
        own = float(np.max(np.asarray(cluster.chip.price)))
    stated = {name: question.si(name) for name in ("life", "use", "energy_price", "interest")}
    asked = {name: value for name, value in stated.items() if value is not None}
    building = question.building

    def prices(end: End) -> AbstractPrices:
        return book.model(question.model, cluster, at=end, since=question.since, until=question.until, chip_price=own)

    breakdowns = {}
    for end in End:
        terms = replace(book.terms(at=end), **asked)
        breakdowns[end] = cost_breakdown(
            inventory, prices(end), terms if building else replace(terms, plant_price=None)
        )
    site = {
        name: figure
        for name, figure in book.figures.items()
        if name.startswith("site.") and name.removeprefix("site.") not in asked and (building or "plant" not in name)
    }
    written = {
        name.replace("_", " "): getattr(question, name)
        for name in ("chip_price", "chip_power", "energy_price", "interest", "life", "use")
    }
    wanted = None if question.tokens is None else run_tokens(question.tokens, of_step or 0.0)
    ettr = None
    if wanted is not None and of_step is not None and step is not None:
        from volvelle.applications.goodput.usual import usual_ettr  # noqa: PLC0415 - keeps start-up short

        ettr = usual_ettr(cluster, wanted / of_step * step)
    return Account(
        inventory=inventory,
        model=question.model,
        breakdowns=breakdowns,
        rests_on={**prices(End.TYPICAL).rests_on, **site},
        given=tuple(f"{name} {value}" for name, value in written.items() if value is not None),
        references=known.references,
        steps=None if step is None else {end: part.step(ends[end], tokens=of_step) for end, part in breakdowns.items()},
        tokens=wanted,
        ettr=ettr,
        step_range=(ends[End.LOW], ends[End.HIGH]) if question.step_range else None,
        notes=cluster.notes_on_power,
    )


def _ends(question: CostQuestion) -> Mapping[End, float]:
    """Return the time of a step with prices at every end; nothing without a step."""
    centre = question.si("step")
    if centre is None:
        if question.step_range:
            raise DescriptionError("step_range needs the time of a step too; give step")
        return {}
    if not question.step_range:
        return dict.fromkeys(End, centre)
    ends = [STEP_TIME.read(end, "step_range") for end in question.step_range]
    if len(ends) != 2 or not ends[0] <= centre <= ends[1]:
        raise DescriptionError(
            f"step_range is {brief(list(question.step_range))} and step {brief(question.step)}; give two times with "
            "step between them, the lower one first"
        )
    return {End.LOW: ends[0], End.TYPICAL: centre, End.HIGH: ends[1]}
