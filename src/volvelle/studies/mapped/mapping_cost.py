"""What the machine of a mapping costs and takes, and what a step and a unit of work cost on it."""

from dataclasses import dataclass

from volvelle.catalogue import Catalogue
from volvelle.catalogue.prices import PriceBook, PriceModel
from volvelle.economics.cost_breakdown import CostBreakdown
from volvelle.errors import OutsideDomainError
from volvelle.search.graph.answer import MappedPlan
from volvelle.studies.design_space.accounts import variant_breakdown
from volvelle.system.cluster import Cluster


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

    def _per(self, figure: float | None) -> float | None:
        return None if figure is None or self.time is None else self.work / self.time / figure


def mapping_cost(
    plan: MappedPlan | None, cluster: Cluster, anchor: Cluster, catalogue: Catalogue, model: PriceModel
) -> MappingCost:
    """The cost of a machine, priced as a variant of one that is sold, and of what a plan does on it."""
    book = PriceBook(catalogue)
    time, work = (None, 0.0) if plan is None else (plan.time, plan.work)
    try:
        breakdown = variant_breakdown(cluster, anchor, book.model(model, anchor), book.terms())
    except OutsideDomainError as error:
        return MappingCost(model=model, breakdown=None, time=time, work=work, missing=str(error))
    return MappingCost(model=model, breakdown=breakdown, time=time, work=work)
