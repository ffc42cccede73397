"""What to change next: how much a step would gain from more of each resource."""

from dataclasses import dataclass, replace

from volvelle.domains import BYTE_RATE
from volvelle.estimators.calibration import fitted_constants, with_constants
from volvelle.estimators.contract import TrainingEstimator
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """One resource, a tenth better, and what that buys."""

    name: str
    gain: float
    """Share of the step's time that goes away."""


def sensitivity(
    step: TrainingStep, cluster: Cluster, mapping: ParallelMapping, estimator: TrainingEstimator
) -> tuple[Sensitivity, ...]:
    """Gains from a tenth more of each resource, largest first, the layout unchanged."""
    base = estimator.estimate(step, cluster, mapping).time
    fitted = fitted_constants(cluster, step.element)
    tried = {
        "matrix rate": with_constants(cluster, {"matrix_efficiency": fitted.matrix_efficiency * 1.1}),
        "memory rate": with_constants(cluster, {"memory_efficiency": fitted.memory_efficiency * 1.1}),
        "host dispatch": with_constants(cluster, {"host_dispatch_time": fitted.host_dispatch_time / 1.1}),
    }
    for index, dimension in enumerate(cluster.dimensions):
        faster = replace(dimension, link=replace(dimension.link, rate=BYTE_RATE.clipped(dimension.link.rate * 1.1)))
        dimensions = (*cluster.dimensions[:index], faster, *cluster.dimensions[index + 1 :])
        tried[f"{dimension.name} rate"] = replace(cluster, dimensions=dimensions)
    found = [
        Sensitivity(name=name, gain=1 - estimator.estimate(step, better, mapping).time / base)
        for name, better in tried.items()
    ]
    return tuple(sorted(found, key=lambda item: -item.gain))
