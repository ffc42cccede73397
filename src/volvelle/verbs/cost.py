"""What a machine costs to buy and to own, by part, and what that rests on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from volvelle.catalogue.prices import PriceBook, PriceModel
from volvelle.catalogue.schema import Reference
from volvelle.domains import (
    ENERGY_PRICE,
    LIFE,
    NO_SHARE,
    POWER,
    PRICE,
    SHARE,
    STEP_TIME,
    TOKENS,
    within_domains,
)
from volvelle.economics.cost_breakdown import CostBreakdown, StepCost, Terms, cost_breakdown
from volvelle.economics.price_book import AbstractPrices, End
from volvelle.economics.training_run import run_tokens
from volvelle.errors import DescriptionError, brief
from volvelle.presentable import Presentable
from volvelle.spread import Figure
from volvelle.system.inventory import Inventory
from volvelle.verbs.named import Folder, Machine, catalogue_of, cluster_of
from volvelle.verbs.what_if import Changes, beside_baseline

_DATE = re.compile(r"(19|20)\d\d(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
Given = str | float
"""A quantity with its unit, or a number in SI units and dollars."""


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


@within_domains
@beside_baseline
def cost(
    *,
    on: Machine,
    model: PriceModel = "market",
    since: str = "",
    until: str = "",
    chip_price: Annotated[Given | None, PRICE] = None,
    chip_power: Annotated[Given | None, POWER] = None,
    life: Annotated[Given, LIFE] = "4 years",
    use: Annotated[Given, SHARE] = "80 %",
    energy_price: Annotated[Given | None, ENERGY_PRICE] = None,
    interest: Annotated[Given | None, NO_SHARE] = None,
    building: bool = True,
    step: Annotated[Given | None, STEP_TIME] = None,
    step_range: Annotated[Sequence[Given] | None, STEP_TIME] = None,
    tokens_per_step: Annotated[Given | None, TOKENS] = None,
    tokens: Annotated[Given | None, TOKENS] = None,
    set: Changes | None = None,  # noqa: A002 - the option's name
    catalogue: Folder = None,
) -> Account:
    """What a machine costs to buy, by part, what power it takes, and what owning it costs over its life.

    Prices are by `model`, offers between the dates `since` and `until`. What is given replaces the price book's; the
    rest stays with its interval. With the time of a `step`, also what a step costs; with `tokens_per_step` and
    `tokens`, a whole run; with both ends of the step's range in `step_range`, as `estimate` gives them, low and high
    are with them too. `set` gives numbers of the machine other values (``{"accelerators": 128}``); the account then has
    that of the machine as it is beside.
    """
    for name, date in (("since", since), ("until", until)):
        if date and not _DATE.fullmatch(date):
            raise DescriptionError(f"{name} is {brief(date)}; it must be a date like 2024, 2024-01 or 2024-01-31")
    if tokens is not None and (step is None or tokens_per_step is None):
        raise DescriptionError("tokens need step and tokens_per_step too: days and money follow from all three")
    if tokens_per_step is not None and step is None:
        raise DescriptionError("tokens_per_step needs the time of a step too; give step")
    ends = _ends(step, step_range)
    of_step = None if tokens_per_step is None else TOKENS.read(tokens_per_step, "tokens_per_step")
    known = catalogue_of(catalogue)
    cluster = cluster_of(on, known, changes=set)
    if chip_power is not None:
        cluster = replace(cluster, chip=replace(cluster.chip, power=POWER.read(chip_power, "chip_power")))
    book, inventory = PriceBook(known), Inventory.of(cluster)
    own = None if chip_price is None else PRICE.read(chip_price, "chip_price")
    if set and "chip.price" in set:
        if own is not None:
            raise DescriptionError("both chip_price and set chip.price are given; give one or the other")
        own = float(np.max(np.asarray(cluster.chip.price)))
    asked = {"life": LIFE.read(life, "life"), "use": SHARE.read(use, "use")}
    if energy_price is not None:
        asked["energy_price"] = ENERGY_PRICE.read(energy_price, "energy_price")
    if interest is not None:
        asked["interest"] = NO_SHARE.read(interest, "interest")

    def prices(end: End) -> AbstractPrices:
        return book.model(model, cluster, at=end, since=since, until=until, chip_price=own)

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
        "chip price": chip_price,
        "chip power": chip_power,
        "energy price": energy_price,
        "interest": interest,
        "life": life,
        "use": use,
    }
    wanted = None if tokens is None else run_tokens(tokens, of_step or 0.0)
    ettr = None
    if wanted is not None and of_step is not None and step is not None:
        from volvelle.applications.goodput.usual import usual_ettr  # noqa: PLC0415 - keeps start-up short

        ettr = usual_ettr(cluster, wanted / of_step * STEP_TIME.read(step, "step"))
    return Account(
        inventory=inventory,
        model=model,
        breakdowns=breakdowns,
        rests_on={**prices(End.TYPICAL).rests_on, **site},
        given=tuple(f"{name} {value}" for name, value in written.items() if value is not None),
        references=known.references,
        steps=None if step is None else {end: part.step(ends[end], tokens=of_step) for end, part in breakdowns.items()},
        tokens=wanted,
        ettr=ettr,
        step_range=(ends[End.LOW], ends[End.HIGH]) if step_range else None,
        notes=cluster.notes_on_power,
    )


def _ends(step: Given | None, step_range: Sequence[Given] | None) -> Mapping[End, float]:
    """The time of a step with prices at every end; nothing without a step."""
    if step is None:
        if step_range:
            raise DescriptionError("step_range needs the time of a step too; give step")
        return {}
    centre = STEP_TIME.read(step, "step")
    if not step_range:
        return dict.fromkeys(End, centre)
    ends = [STEP_TIME.read(end, "step_range") for end in step_range]
    if len(ends) != 2 or not ends[0] <= centre <= ends[1]:
        raise DescriptionError(
            f"step_range is {brief(list(step_range))} and step {brief(step)}; give two times with step between them, "
            "the lower one first"
        )
    return {End.LOW: ends[0], End.TYPICAL: centre, End.HIGH: ends[1]}
