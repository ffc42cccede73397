"""High-Performance Linpack by the original closed form: one process, one link."""

from dataclasses import dataclass
from typing import final

from volvelle.applications.hpl.contract import ELEMENT, AbstractHplModel, HplEstimate, check_grid
from volvelle.estimators.result import Contribution
from volvelle.laws.hpl.closed_form import hpl_calculation_time, hpl_latency_time, hpl_transfer_time
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.quantities import Fraction
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl

__all__ = ["OriginalHpl"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalHpl(AbstractHplModel):
    """Equation 3 of Kim et al., after Dongarra, Luszczek and Petitet; the outermost network is the only link."""

    efficiency: Fraction = 1.0
    """Share of the peak that matrix products reach."""
    lower_order: bool = False
    """Whether terms of lower order in N count (equations 25 and 27 to 29 with one layer)."""

    def estimate(self, problem: Hpl, cluster: Cluster, grid: ProcessGrid) -> HplEstimate:
        """How one run does."""
        check_grid(cluster, grid)
        order, block = float(problem.order), float(problem.block)
        rows, columns = float(grid.rows), float(grid.columns)
        link = cluster.dimensions[-1].link
        rate = cluster.chip.matrix_rate(ELEMENT) * self.efficiency
        element = 8.0 / link.sustained
        calculation = hpl_calculation_time(order, rows, columns, block=block, rate=rate, lower_order=self.lower_order)
        latency = hpl_latency_time(order, rows, block=block, latency=link.latency)
        transfer = hpl_transfer_time(order, rows, columns, block=block, element=element, lower_order=self.lower_order)
        parts = (
            _part("calculation", "compute", calculation, cluster.chip.name, "hpl_calculation_time"),
            _part("latency", "communication", latency, link.name, "hpl_latency_time"),
            _part("transfer", "communication", transfer, link.name, "hpl_transfer_time"),
        )
        return self.answer(problem, cluster, grid, parts)


def _part(name: str, part: str, time: object, resource: str, law: str) -> Contribution:
    return Contribution(name=name, part=part, time=float(time), exposed=True, resource=resource, law=law)  # type: ignore[arg-type]
