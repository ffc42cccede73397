"""HPL-MxP: a factorisation in low precision panel by panel, without pivots, and the refinement after it."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, final

import numpy as np

from volvelle.applications.hpl.contract import check_grid
from volvelle.applications.hpl.panels import broadcast_shape, panel_groups, sending_rates
from volvelle.economics.machine_power import it_power
from volvelle.errors import OutsideDomainError
from volvelle.estimators.calibration import fitted_constants
from volvelle.estimators.contract import Estimator
from volvelle.estimators.result import Contribution, Estimate, MemoryPart, Range, Violation
from volvelle.laws.hpl.closed_form import hpl_memory, hpl_work
from volvelle.laws.hpl.panels import (
    panel_broadcast_time,
    panel_factorisation_time,
    spilled_share,
    trailing_update_time,
)
from volvelle.laws.hpl.refinement import refinement_time
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.quantities import Bytes, Count, Fraction, Seconds
from volvelle.system.cluster import Cluster
from volvelle.workload.elements import element_bytes
from volvelle.workload.families.hpl import Hpl

FACTORS: Bytes = 4.0
"""Of an entry of the matrix that is factorised: accumulated in fp32, multiplied in fewer bits."""
Kept = Literal["device", "host", "regenerated"]
"""Where the matrix in double precision is: what fits beside the factors on the device, in host memory, or nowhere."""
MxpEstimate = Estimate[Hpl, ProcessGrid]


@dataclass(frozen=True, slots=True, kw_only=True)
class MxpConstants:
    """What such a factorisation makes of a family of accelerators."""

    family: str
    fitted: bool
    """Whether calibration runs were on this family; else the share is that of all families."""
    efficiency: Fraction
    """Share of the peak in low precision that large products hold."""
    waiting: Fraction
    """Share of reading and writing the trailing matrix that products do not hide."""
    column: Seconds
    """What each column of a panel costs, whatever its length."""
    solve_column: Seconds
    """The same of a triangular solve."""
    iterations: Count
    error: float
    """How far runs of systems left out of the fit were off, one standard deviation as a factor."""
    block: int
    """Where a run states none."""
    kept: Kept = "device"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MixedPrecisionHpl(Estimator[Hpl, ProcessGrid]):
    """Panels of HPL's own laws in fewer bytes, nothing swapped, and refinement on top."""

    constants: MxpConstants
    level: float = 0.8

    def ranked_by(self, candidates: Sequence[tuple[Hpl, ProcessGrid]], system: Cluster, /) -> Sequence[float]:
        """The rate, because matrices of several sizes compete."""
        return [-self.estimate(problem, system, grid).rate for problem, grid in candidates]

    def violations(self, workload: Hpl, system: Cluster, decision: ProcessGrid, /) -> tuple[Violation, ...]:
        """None: what a machine cannot hold is refused."""
        return ()

    def estimate(self, problem: Hpl, cluster: Cluster, grid: ProcessGrid) -> MxpEstimate:
        """How one run does."""
        check_grid(cluster, grid)
        own, chip, block = self.constants, cluster.chip, float(problem.block)
        order, processes = float(problem.order), float(grid.processes)
        factors = FACTORS * order**2 / processes
        if factors > float(chip.memory.capacity):
            raise OutsideDomainError(
                f"the factors of a matrix of {problem.order:,} rows take {factors:.3g} bytes of each of "
                f"{grid.processes} {chip.name}, which has {float(chip.memory.capacity):.3g}"
            )
        peak = float(chip.matrix_rate(problem.element))
        memory = chip.memory.rate * fitted_constants(cluster, problem.element, software=False).memory_efficiency
        down, across = sending_rates(cluster, grid)
        latency = cluster.dimensions[-1].link.latency
        steps = panel_groups(problem, grid)
        update = trailing_update_time(
            steps.rows,
            steps.columns,
            block=block,
            rate=own.efficiency * peak,
            memory=memory,
            waiting=own.waiting,
            units=chip.units,
            tile=chip.tile,
            word=FACTORS,
        )
        panel = panel_factorisation_time(
            steps.rows,
            1.0,
            block=block,
            column=own.column,
            rate=own.efficiency * chip.matrix_rate("fp32"),
            latency=latency,
            sending=down,
        )
        messages, copies = broadcast_shape(grid)
        sent: Seconds = np.zeros_like(update)
        for lengths, sides, rate in ((steps.rows, grid.columns, across), (steps.columns, grid.rows, down)):
            if sides > 1:
                sent = sent + panel_broadcast_time(
                    lengths,
                    block=block,
                    latency=latency,
                    sending=rate,
                    messages=messages,
                    copies=copies,
                    word=element_bytes(problem.element),
                )
        # Look-ahead: the next panel is factorised and sent while this one updates the rest.
        before = panel + sent
        share = np.maximum(before - update, 0.0) / before
        spilled = self._spilled(order, processes, float(factors), cluster)
        host = np.inf if cluster.host_rate is None else cluster.host_rate
        refinement = float(
            refinement_time(
                order,
                processes,
                iterations=own.iterations,
                memory=memory,
                host=host,
                spilled=spilled,
                column=own.solve_column,
                word=FACTORS,
            )
        )
        link = cluster.dimensions[-1].link.name
        lines = (
            ("update", "compute", update, 0.0 * update, chip.name, "trailing_update_time"),
            ("panel factorisation", "panel", panel * share, panel * (1 - share), chip.name, "panel_factorisation_time"),
            ("panel broadcast", "communication", sent * share, sent * (1 - share), link, "panel_broadcast_time"),
        )
        parts = [
            Contribution(name=name, part=part, time=seconds, exposed=exposed, resource=resource, law=law)
            for name, part, shown, hidden, resource, law in lines
            for times, exposed in ((shown, True), (hidden, False))
            if (seconds := float(np.sum(times * steps.count))) > 0.0
        ]
        resource = "host" if spilled else chip.memory.name
        parts.append(
            Contribution(
                name="refinement",
                part="refinement",
                time=refinement,
                exposed=True,
                resource=resource,
                law="refinement_time",
            )
        )
        time = sum(part.time for part in parts if part.exposed)
        reach = own.error ** NormalDist().inv_cdf((1 + self.level) / 2)
        told = "the model, by calibration runs" if own.fitted else "the model, not calibrated on this family"
        watts = it_power(cluster, chips=processes)
        return Estimate(
            workload=problem,
            decision=grid,
            contributions=tuple(parts),
            memory=(MemoryPart(name="factors", bytes=float(factors), law="hpl_memory"),),
            work=float(hpl_work(order)),
            chips=grid.processes,
            peak=peak,
            power=None if watts is None else float(watts),
            facts={"in_host_memory": spilled, "refinement": refinement, "factorisation": time - refinement},
            ranges={"time": Range(low=time / reach, high=time * reach, level=self.level, varied=(told,))},
        )

    def _spilled(self, order: float, processes: float, factors: float, cluster: Cluster) -> float:
        """Share of the matrix in double precision that lies in host memory; none where it is generated again."""
        kept = self.constants.kept
        if kept == "regenerated" or cluster.host_rate is None:
            return 0.0
        room = 0.0 if kept == "host" else max(0.0, float(cluster.chip.memory.capacity) - factors)
        return float(spilled_share(hpl_memory(order), kept=room * processes))
