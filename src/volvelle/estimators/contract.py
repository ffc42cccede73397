"""The contract of every estimator."""

from abc import ABC, abstractmethod

from volvelle.estimators.result import Estimate
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

__all__ = ["AbstractEstimator"]


class AbstractEstimator(ABC):
    """Answers how long a workload takes on a system, laid out by a mapping.

    An estimator is a value: it keeps nothing between calls, reads no file, and gives the same answer to the same
    arguments. A mapping that cannot run is answered too, with its violations.
    """

    @abstractmethod
    def estimate(self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping) -> Estimate:
        """How one mapping does."""
