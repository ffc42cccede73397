"""How many accelerators a training run takes: the fewest that keep a date or a budget, and the cheapest near them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Annotated, Any

import numpy as np

from volvelle.applications.training.evidence import RangeBasis, step_basis
from volvelle.catalogue.prices import owned_costs
from volvelle.domains import DAYS, EXPERT_LOAD, MARGIN, PRICE, SEQUENCES, TOKENS, WIDTH, within_domains
from volvelle.economics.step_cost import TimedStep
from volvelle.economics.training_run import TrainingRun
from volvelle.errors import DescriptionError
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import UnderUncertainty
from volvelle.laws.utilisation import model_flops_utilisation
from volvelle.mapping.lowered_model import step_flops
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.presentable import Presentable
from volvelle.quantities import DAY
from volvelle.search.exhaustive import fastest
from volvelle.search.least_time import product_seconds
from volvelle.search.space import Space
from volvelle.system.cluster import Cluster
from volvelle.verbs.any_count import AskedOfCounts
from volvelle.verbs.command_words import in_command_words
from volvelle.verbs.estimate import run_of
from volvelle.verbs.named import Folder, Model
from volvelle.verbs.trained import Trained, trained
from volvelle.verbs.what_if import Changes
from volvelle.workload.graph import Workload
from volvelle.workload.training import TrainingStep

_UNIT = 8
"""Accelerators by which machines grow whose innermost network is larger."""
_NEAR = 1.25
"""Up to how many times the fewest accelerators counts are looked at for a cheaper one."""
_BETWEEN = 6
"""How many of them at the most, evenly spaced."""
_BELOW = (0.5, 0.75)
_DOUBLINGS = (2.0, 4.0)
"""Other counts that are shown, in times the fewest."""
_MOST = 400
"""Counts looked at for the fewest."""
_EVERY = 8
"""Units up to twice which every count is looked at for a budget; beyond, every second, from twice that every fourth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A run on so many accelerators, by the fastest layout."""

    accelerators: int
    mapping: ParallelMapping
    time: float
    """Seconds a step."""
    utilisation: float
    run: TrainingRun
    basis: RangeBasis | None = None
    """What the ranges of its run rest on; None: it has none."""

    @property
    def usd(self) -> float | None:
        """What the run costs: owned, or rented where no price of the chip is known."""
        return self.run.usd_owned if self.run.usd_owned is not None else self.run.usd_rented


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sizing(Presentable):
    """Counts of accelerators, and what a run takes on each."""

    model: str
    system: str
    """The kind of machine, without a count."""
    step: TrainingStep
    tokens: float
    days: float | None
    usd: float | None
    sizes: tuple[Size, ...]
    """All that were looked at and can run, by count."""
    smallest: Size | None
    """The fewest that keep date and budget, with ranges; None: none do."""
    cheapest: Size | None
    """The cheapest of those looked at that keep them, with ranges."""
    notes: tuple[str, ...] = ()

    @property
    def trained(self) -> Trained:
        """What of the model is trained."""
        return trained(self.step)

    @property
    def sequence(self) -> int:
        """Tokens of a sequence."""
        return int(self.step.model.sizes.get("position", 1))


@in_command_words
@within_domains
def how_many(
    model: Model | Workload,
    *,
    on: str,
    tokens: Annotated[str | float, TOKENS],
    days: Annotated[float | None, DAYS] = None,
    usd: Annotated[str | float | None, PRICE] = None,
    batch: Annotated[int | None, SEQUENCES] = None,
    sequence: Annotated[int | None, WIDTH] = None,
    element: str = "bf16",
    expert_load: Annotated[float, EXPERT_LOAD] = 1.0,
    offload: bool = False,
    stack: str = "",
    margin: Annotated[str | float | None, MARGIN] = None,
    set: Changes | None = None,  # noqa: A002 - the option's name
    catalogue: Folder = None,
    **considered: Any,
) -> Sizing:
    """The fewest accelerators of a kind of machine that train on all tokens by a date, or within a budget.

    `on` names the machine without a count; it grows by whole nodes. Every count is looked at from the fewest that could
    do at full rate up to the first that does, so there is none below it; then a few up to a quarter more for a
    cheaper one. For a budget alone counts lie farther apart as they grow: what a run costs hardly changes between
    them. Without a batch, a step has four million tokens. Layouts are restricted, and numbers of the machine set, as in
    `plan`.
    """
    if days is None and usd is None:
        raise DescriptionError("how many for what? Give days, or usd, or both")
    asked = AskedOfCounts(
        model=model,
        on=on,
        considered=considered,
        batch=batch,
        sequence=sequence,
        element=element,
        expert_load=expert_load,
        offload=offload,
        stack=stack,
        margin=margin,
        changes=set,
        catalogue=catalogue,
    ).on_any_count(question="to ask how many")
    step = asked.step
    amount = TOKENS.read(tokens, "tokens")
    counter = _Counter(step=step, space=asked.space, tokens=amount, machine=asked.machine)
    budget = None if usd is None else PRICE.read(usd, "usd")

    def keeps(size: Size) -> bool:
        late = days is not None and size.run.days > days
        return not late and (budget is None or (size.usd is not None and size.usd <= budget))

    smallest = None
    for size in counter.upward(counter.least(days), days):
        if keeps(size):
            smallest = size
            break
        if budget is not None and (size.usd is None or size.usd * counter.spared(size) > budget):
            break  # what a chip costs for a second does not depend on how many there are
    cheapest = None
    if smallest is not None:
        unit, fewest = counter.unit, smallest.accelerators
        apart = unit * max(1, ceil((_NEAR - 1) * fewest / unit / _BETWEEN))
        for count in range(fewest + apart, int(_NEAR * fewest) + 1, apart):
            counter.at(count)
        for times in (*_BELOW, *_DOUBLINGS):
            counter.at(max(unit, int(times * fewest) // unit * unit))
        kept = [size for size in counter.found if keeps(size) and size.usd is not None]
        cheapest = min(kept, key=lambda size: (size.usd, size.accelerators), default=None)
    return Sizing(
        model=step.model.name,
        system=on,
        step=step,
        tokens=amount,
        days=days,
        usd=budget,
        sizes=tuple(sorted(counter.found, key=lambda size: size.accelerators)),
        smallest=None if smallest is None else counter.with_ranges(smallest),
        cheapest=None if cheapest is None else counter.with_ranges(cheapest),
        notes=asked.notes,
    )


class _Counter:
    """Sizes of one kind of machine, each looked at once."""

    def __init__(self, *, step: TrainingStep, space: Space, tokens: float, machine: Callable[[int], Cluster]) -> None:
        self.step, self.space, self.tokens, self.machine = step, space, tokens, machine
        self.unit = min(_UNIT, machine(_UNIT).dimensions[0].size)
        self.sizes: dict[int, Size | None] = {}

    @property
    def found(self) -> list[Size]:
        return [size for size in self.sizes.values() if size is not None]

    def least(self, days: float | None) -> int:
        """No fewer can keep the date, were all of them busy with products and nothing else."""
        if days is None:
            return self.unit
        return max(1, ceil(self._chip_seconds / (days * DAY) / self.unit)) * self.unit

    def spared(self, size: Size) -> float:
        """The share of its chips' time that a run could do with at most."""
        return self._chip_seconds / (size.accelerators * size.run.days * DAY)

    @cached_property
    def _chip_seconds(self) -> float:
        """Of all products of the run, at the rate that a chip sustains in them."""
        return product_seconds(self.step, self.machine(self.unit)) * self.tokens / self.step.tokens

    def upward(self, first: int, days: float | None) -> Iterator[Size]:
        """Counts from the first, those alone that keep the date where there is one."""
        within = None if days is None else days * DAY * self.step.tokens / self.tokens
        for count in range(first, first + _MOST * self.unit, self.unit):
            rough = max(1, count // (_EVERY * self.unit))
            if days is None and count % (self.unit << (rough.bit_length() - 1)):
                continue
            size = self._at(count, within=within)
            if size is not None:
                self.sizes[size.accelerators] = size
                yield size

    def at(self, count: int) -> Size | None:
        """The fastest layout on so many; None: none fits or divides."""
        if count not in self.sizes:
            self.sizes[count] = self._at(count)
        return self.sizes[count]

    def _at(self, count: int, *, within: float | None = None) -> Size | None:
        cluster = self.machine(count)
        found = fastest(self.space, self.step, cluster, ClosedForm(), within=within)
        if found is None:
            return None
        timed = TimedStep(time=found.time, tokens=self.step.tokens, chips=count)
        peak = float(np.max(cluster.chip.matrix_rate(self.step.element)))
        used = model_flops_utilisation(step_flops(self.step), found.time, chips=count, peak=peak)
        return Size(
            accelerators=count,
            mapping=found.mapping,
            time=found.time,
            utilisation=float(used),
            run=run_of(self.tokens, timed, owned_costs(timed, cluster), cluster),
        )

    def with_ranges(self, size: Size) -> Size:
        """The same, with the ranges of its run."""
        cluster = self.machine(size.accelerators)
        timed, samples = UnderUncertainty(estimator=ClosedForm()).with_samples(self.step, cluster, size.mapping)
        run = run_of(self.tokens, timed, owned_costs(timed, cluster, samples=samples), cluster)
        return replace(size, run=run, basis=step_basis(cluster, self.step, size.mapping))
