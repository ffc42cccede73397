"""The contract of every model of High-Performance Linpack, and what it answers."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from volvelle.applications.hpl.layers import LayerTime
from volvelle.applications.hpl.power import power_range
from volvelle.economics.machine_power import it_power
from volvelle.errors import MappingError
from volvelle.estimators.contract import Estimator
from volvelle.estimators.result import Contribution, Estimate, MemoryPart, Range, Violation
from volvelle.laws.hpl.closed_form import hpl_memory, hpl_work
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl

ELEMENT = "fp64"


HplEstimate = Estimate[Hpl, ProcessGrid]
"""How one run does: a matrix and its blocks, on a grid of processes."""


class AbstractHplModel(Estimator[Hpl, ProcessGrid]):
    """Answers how long a factorisation takes on a cluster, laid out on a grid of processes."""

    def ranked_by(self, candidates: Sequence[tuple[Hpl, ProcessGrid]], system: Cluster, /) -> Sequence[float]:
        """The rate, because matrices of several sizes compete."""
        return [-self.estimate(problem, system, grid).rate for problem, grid in candidates]

    @abstractmethod
    def by_layer(self, problem: Hpl, cluster: Cluster, grid: ProcessGrid) -> tuple[LayerTime, ...]:
        """The same run, by layer of communication: what each computes and sends, innermost first."""

    def violations(self, workload: Hpl, system: Cluster, decision: ProcessGrid, /) -> tuple[Violation, ...]:
        """None: what a machine cannot hold at all is refused."""
        return ()

    @staticmethod
    def answer(
        problem: Hpl,
        cluster: Cluster,
        grid: ProcessGrid,
        parts: tuple[Contribution, ...],
        *,
        time_range: Range | None = None,
        facts: Mapping[str, float] | None = None,
    ) -> HplEstimate:
        """The parts, with what follows from the machine alone."""
        watts = it_power(cluster, chips=float(grid.processes))
        matrix = float(hpl_memory(float(problem.order)))
        return Estimate(
            workload=problem,
            decision=grid,
            contributions=parts,
            memory=(MemoryPart(name="matrix", bytes=matrix / grid.processes, law="hpl_memory"),),
            work=float(hpl_work(float(problem.order))),
            chips=grid.processes,
            peak=float(cluster.chip.matrix_rate(ELEMENT)),
            power=None if watts is None else float(watts),
            facts=facts or {},
            ranges={} if time_range is None else {"time": time_range, **power_range(watts, level=time_range.level)},
        )


def check_grid(cluster: Cluster, grid: ProcessGrid) -> None:
    """Refuse a grid that has more processes than the cluster has accelerators."""
    if grid.processes > cluster.accelerators:
        raise MappingError(
            f"a grid of {grid.rows} × {grid.columns} needs {grid.processes} accelerators; "
            f"{cluster.name} has {cluster.accelerators}"
        )
