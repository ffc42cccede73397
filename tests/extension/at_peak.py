"""An estimator of one's own: what no machine can beat. The suite holds it to the contract of all estimators."""

from typing import ClassVar, final

import numpy as np

from volvelle import Cluster, Contribution, ParallelMapping, TrainingStep
from volvelle.estimators.contract import TrainingEstimator
from volvelle.estimators.result import MemoryPart, TrainingEstimate, Violation
from volvelle.laws.footprint import weight_bytes
from volvelle.laws.roofline import kernel_time
from volvelle.testing import EstimatorContract
from volvelle.workload.elements import element_bytes


@final
class AtPeak(TrainingEstimator):
    """All arithmetic at the chip's peak, all chips busy all the time, nothing ever waited for."""

    def estimate(self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping) -> TrainingEstimate:
        """A bound from below on the time of any mapping."""
        peak = float(np.max(system.chip.matrix_rate(workload.element)))
        time = float(kernel_time(workload.flops / mapping.chips, 0.0, compute_rate=peak, memory_rate=1.0))
        each = element_bytes(workload.weight_element) / (mapping.tensor * mapping.pipeline)
        held = float(
            weight_bytes(workload.model.parameters(), each=each, data_parallel=mapping.data, zero=mapping.zero)
        )
        product = Contribution(
            name="products", part="arithmetic", time=time, exposed=True, resource="matrix units", law="kernel_time"
        )
        return TrainingEstimate(
            workload=workload,
            decision=mapping,
            contributions=(product,),
            memory=(MemoryPart(name="weights", bytes=held, law="weight_bytes"),),
            worst_rank="any",
            capacity=float(np.max(system.chip.capacity)),
            violations=self._violations(system, mapping),
            work=workload.flops,
            tokens=workload.tokens,
            chips=mapping.chips,
            peak=peak,
        )

    @staticmethod
    def _violations(system: Cluster, mapping: ParallelMapping) -> tuple[Violation, ...]:
        if mapping.chips == system.accelerators:
            return ()
        problem = f"the layout takes {mapping.chips} chips, {system.name} has {system.accelerators}"
        return (Violation(name="chips", problem=problem, cures=("give no --dp: replicas take what is left",)),)


class TestAtPeak(EstimatorContract):
    """Every test of the suite, for this estimator."""

    estimator: ClassVar[TrainingEstimator] = AtPeak()
