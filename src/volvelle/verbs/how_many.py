"""How many accelerators a training run takes: the fewest that keep a date or a budget, and the cheapest near them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, gcd, lcm, prod

import numpy as np

from volvelle.applications.training.evidence import RangeBasis, step_basis
from volvelle.base.python_function import asks
from volvelle.catalogue.prices import owned_costs
from volvelle.domains import PRICE
from volvelle.economics.step_cost import TimedStep
from volvelle.economics.training_run import TrainingRun, run_tokens
from volvelle.errors import DescriptionError
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import UnderUncertainty
from volvelle.laws.utilisation import model_flops_utilisation
from volvelle.mapping.axes import TAKING
from volvelle.mapping.lowered_model import step_flops
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.presentable import Presentable
from volvelle.quantities import DAY
from volvelle.questions.plan import HowManyQuestion
from volvelle.search.exhaustive import fastest
from volvelle.search.least_time import product_seconds
from volvelle.search.space import Space
from volvelle.system.cluster import Cluster
from volvelle.verbs.any_count import on_any_count
from volvelle.verbs.estimate import run_of
from volvelle.verbs.trained import Trained, trained
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
_MOST = 2000
"""Largest number of sizes below a sufficient size that the search looks at. Beyond it, sizes lie farther apart."""
_EVERY = 8
"""Smallest number of sizes per doubling that the first pass looks at."""
_LARGEST = 2**20
"""Accelerators up to which the first pass looks, or four times the lower bound, whichever is larger."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedSizes:
    """The sizes that a search looked at for the smallest."""

    least: int
    """Fewer accelerators cannot meet the date, even at the full rate of their products."""
    most: int
    count: int
    """Number of sizes looked at."""
    every: int | None
    """The search looked at every multiple of this number from `least` to `most`; None: fewer sizes."""


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
    """Sizes that were looked at and can run, by count."""
    smallest: Size | None
    """The fewest accelerators that meet date and budget, with ranges; None: no size does."""
    cheapest: Size | None
    """The cheapest size looked at that meets date and budget, with ranges."""
    searched: SearchedSizes
    notes: tuple[str, ...] = ()

    @property
    def late_by_failures(self) -> Size | None:
        """The smallest size that would meet the date without failures, but misses it with them; None: there is none."""
        date = self.days
        if date is None:
            return None
        return next((size for size in self.sizes if size.run.days <= date < size.run.days_with_failures), None)

    @property
    def trained(self) -> Trained:
        """What of the model is trained."""
        return trained(self.step)

    @property
    def sequence(self) -> int:
        """Tokens of a sequence."""
        return int(self.step.model.sizes.get("position", 1))


@asks(HowManyQuestion)
def how_many(question: HowManyQuestion) -> Sizing:
    """Return the fewest GPUs of a kind of machine that train on all tokens by a date, or within a budget.

    The machine grows by whole nodes. `days` include failures, checkpoints and restarts at the rates of other clusters;
    `usd` does not. Times do not fall steadily with the GPU count, because a layout must divide it. A first pass
    therefore looks at 8 to 16 sizes per doubling, up to one that suffices. A second pass looks at every size between
    the lower bound and that size; if they are more than 2,000, at multiples of more nodes (`searched`). Then a few
    sizes up to a quarter larger are tried for a cheaper one. A budget alone needs the first pass only: the cost hardly
    changes between its sizes. Without a batch, a step has four million tokens. `progress` receives the number of sizes
    looked at and the current size.
    """
    days, usd = question.days, question.usd
    if days is None and usd is None:
        raise DescriptionError("how many for what? Give days, or usd, or both")
    asked = on_any_count(question, question.on, why="to ask how many")
    step = asked.step
    amount = run_tokens(question.tokens, step.tokens)
    counter = _Counter(step=step, space=asked.space, tokens=amount, machine=asked.machine, progress=question.progress)
    budget = None if usd is None else PRICE.read(usd, "usd")

    def in_time(size: Size) -> bool:
        return days is None or size.run.days_with_failures <= days

    def keeps(size: Size) -> bool:
        return in_time(size) and (budget is None or (size.usd is not None and size.usd <= budget))

    least = counter.least(days)
    smallest, enough, looked_to = None, None, least
    for looked_to in counter.coarse(least):
        size = counter.at(looked_to, days)
        if size is None:
            continue
        if keeps(size):
            smallest = size
            break
        if enough is None and in_time(size):
            enough = size
        if budget is not None and (size.usd is None or size.usd * counter.spared(size) > budget):
            break  # the cost per accelerator-second does not depend on the count
    every, upper = None, smallest or enough
    if days is not None and upper is not None:
        every = counter.apart(least, upper.accelerators)
        end = looked_to if smallest is not None else min(looked_to, 2 * upper.accelerators)
        for count in range(-(-least // every) * every, end, every):
            size = counter.at(count, days)
            if size is not None and keeps(size):
                smallest = size
                break
    if smallest is not None:
        looked_to = smallest.accelerators
    searched = SearchedSizes(least=least, most=looked_to, count=len(counter.sizes), every=every)
    if smallest is None:
        for count in counter.doublings(least, looked_to):
            counter.at(count)
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
        system=question.on,
        step=step,
        tokens=amount,
        days=days,
        usd=budget,
        sizes=tuple(sorted(counter.found, key=lambda size: size.accelerators)),
        searched=searched,
        smallest=None if smallest is None else counter.with_ranges(smallest),
        cheapest=None if cheapest is None else counter.with_ranges(cheapest),
        notes=asked.notes,
    )


class _Counter:
    """Sizes of one kind of machine, each timed once."""

    def __init__(
        self,
        *,
        step: TrainingStep,
        space: Space,
        tokens: float,
        machine: Callable[[int], Cluster],
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.step, self.space, self.tokens, self.machine = step, space, tokens, machine
        self.progress = progress
        self.unit = lcm(min(_UNIT, machine(_UNIT).dimensions[0].size), _stated_factor(space))
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

    def coarse(self, least: int) -> Iterator[int]:
        """Yield 8 to 16 sizes per doubling, from the lower bound up."""
        count, last = least, max(_LARGEST, 4 * least)
        while count <= last:
            yield count
            apart = self.unit << (max(1, count // (_EVERY * self.unit)).bit_length() - 1)
            count = (count // apart + 1) * apart

    def apart(self, least: int, most: int) -> int:
        """Return the distance of sizes by which no more than so many lie between two sizes."""
        return self.unit << max(0, (most - least) // self.unit // _MOST).bit_length()

    def doublings(self, least: int, most: int) -> Iterator[int]:
        """Yield powers of two of the unit between two sizes."""
        count = self.unit
        while count <= most:
            if count >= least:
                yield count
            count *= 2

    def at(self, count: int, days: float | None = None) -> Size | None:
        """Return the fastest layout of a size; None: none fits or divides, or none takes as few `days`."""
        known = self.sizes.get(count)
        if known is None and (count not in self.sizes or days is None):
            known = self._at(count, within=None if days is None else days * DAY * self.step.tokens / self.tokens)
            self.sizes[count] = known
            if self.progress is not None:
                self.progress(len(self.sizes), count)
        return known

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


def _stated_factor(space: Space) -> int:
    """Return a factor that every usable count has, because the degrees of a layout are restricted."""
    degrees = (getattr(space, axis.name) for axis in TAKING)
    return prod(gcd(*degree) if degree else 1 for degree in degrees)
