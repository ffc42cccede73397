"""What the machine of a mapping costs and takes, and what a step and a unit of work cost on it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from volvelle.catalogue import Catalogue
from volvelle.catalogue.prices import PriceBook
from volvelle.economics.cost_breakdown import CostBreakdown
from volvelle.economics.price_book import End, PriceModel
from volvelle.errors import OutsideDomainError
from volvelle.estimators.result import Range
from volvelle.search.graph.answer import MappedPlan
from volvelle.studies.design_space.accounts import variant_breakdown
from volvelle.system.cluster import Cluster

PRICES = "prices and powers of parts"
_FIGURES = {
    "machine_usd": False,
    "power": False,
    "energy": True,
    "step_usd": True,
    "flops_per_usd": True,
    "flops_per_joule": True,
}
"""What has a range, and whether the time moves it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingCost:
    """Price, power and energy, as far as they are known."""

    model: PriceModel
    breakdown: CostBreakdown | None
    """None: the price model does not know the machine."""
    time: float | None
    """Seconds a step; None: there is none."""
    work: float = 0.0
    """FLOP of a step."""
    missing: str = ""
    """Why there is no breakdown."""
    ends: tuple["MappingCost", ...] = ()
    """The same with every price and power at its low and at its high end, and the step at that end of its range."""
    within: Range | None = None
    """Where the time of the step lies; None: that was not asked."""

    @property
    def machine_usd(self) -> float | None:
        """Purchase price of the machine."""
        return None if self.breakdown is None else float(self.breakdown.capex)

    @property
    def power(self) -> float | None:
        """Watts at the meter, in use."""
        return None if self.breakdown is None else float(self.breakdown.power)

    @property
    def energy(self) -> float | None:
        """Joules a step, at the meter."""
        found = None if self.breakdown is None or self.time is None else self.breakdown.step(self.time).energy
        return None if found is None else float(found)

    @property
    def step_usd(self) -> float | None:
        """Money a step: its share of owning the machine."""
        found = None if self.breakdown is None or self.time is None else self.breakdown.step(self.time).dollars
        return None if found is None else float(found)

    @property
    def flops_per_usd(self) -> float | None:
        """FLOP/s done for every dollar of the machine."""
        return self._per(self.machine_usd)

    @property
    def flops_per_joule(self) -> float | None:
        """FLOP done for every joule at the meter: FLOP/s a watt."""
        return self._per(self.power)

    @property
    def ranges(self) -> Mapping[str, Range]:
        """Where these figures lie, those that do not rest on the time too; as a cost of the machine has them."""
        found = {}
        for name, timed in _FIGURES.items():
            own, *others = (getattr(one, name) for one in (self, *self.ends))
            if own is not None and self.within is not None and others:
                varied = (*(self.within.varied if timed else ()), PRICES)
                found[name] = replace(self.within, low=min(own, *others), high=max(own, *others), varied=varied)
        return found

    def _per(self, figure: float | None) -> float | None:
        return None if figure is None or self.time is None else self.work / self.time / figure


def mapping_cost(
    plan: MappedPlan | None,
    cluster: Cluster,
    anchor: Cluster,
    catalogue: Catalogue,
    model: PriceModel,
    within: Range | None = None,
) -> MappingCost:
    """The cost of a machine, priced as a variant of one that is sold, and of what a plan does on it.

    With the range of its time, also that of its costs: prices and powers all at one end, as of a machine by itself.
    """
    book = PriceBook(catalogue)
    time, work = (None, 0.0) if plan is None else (plan.time, plan.work)

    def at(end: End) -> CostBreakdown:
        return variant_breakdown(cluster, anchor, book.model(model, anchor, at=end), book.terms(at=end))

    try:
        breakdown = at(End.TYPICAL)
    except OutsideDomainError as error:
        return MappingCost(model=model, breakdown=None, time=time, work=work, missing=str(error))
    found = MappingCost(model=model, breakdown=breakdown, time=time, work=work)
    if within is None:
        return found
    ends = []
    for end, seconds in ((End.LOW, within.low), (End.HIGH, within.high)):
        try:
            ends.append(replace(found, breakdown=at(end), time=seconds))
        except OutsideDomainError:  # prices at that end do not add up by part: the typical ones stand there
            ends.append(replace(found, time=seconds))
    return replace(found, ends=tuple(ends), within=within)
