"""What the search in kernel-by-kernel execution answers."""

from collections.abc import Mapping
from dataclasses import dataclass

from volvelle.estimators.result import Contribution, TrainingEstimate
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.mapping.sharding import ShardedBlock
from volvelle.search.certificate import MappingAnswer
from volvelle.search.graph.answer import Axis, Degrees
from volvelle.search.graph.network import placed
from volvelle.system.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelBlock:
    """One block: how its operations are split over the tensor-parallel chips."""

    sharded: ShardedBlock
    tile: None = None
    partitions: tuple[()] = ()
    """Kernels run one by one, so none run together."""

    @property
    def name(self) -> str:
        """Of the block."""
        return self.sharded.block.name

    @property
    def repeat(self) -> int:
        """Copies of it."""
        return self.sharded.block.repeat


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPlan:
    """The best mapping with its closed form, every decision by name."""

    estimate: TrainingEstimate
    cluster: Cluster
    blocks: tuple[KernelBlock, ...]
    micro_batches: int
    """Of one replica, in a step."""
    limits: tuple[()] = ()
    stages: tuple[()] = ()

    @property
    def mapping(self) -> ParallelMapping:
        """Degrees, choices and splits."""
        return self.estimate.mapping

    @property
    def time(self) -> float:
        """Seconds a step."""
        return self.estimate.time

    @property
    def utilisation(self) -> float:
        """Model FLOPs utilisation."""
        return self.estimate.utilisation

    @property
    def throughput(self) -> float:
        """Micro-batches a second, of all replicas."""
        return self.micro_batches * self.mapping.data / self.time

    @property
    def memory_bytes(self) -> float:
        """Bytes on the fullest rank."""
        return self.estimate.memory_bytes

    @property
    def capacity(self) -> float:
        """Bytes a chip has."""
        return self.estimate.capacity

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """Where the step's time goes."""
        return self.estimate.contributions

    @property
    def degrees(self) -> Degrees:
        """Chips of every axis, and which network each group has; ranks are numbered tensor, data, pipeline."""
        mapping = self.mapping
        degree: dict[Axis, int] = {"tensor": mapping.tensor, "data": mapping.data, "pipeline": mapping.pipeline}
        return placed(self.cluster, degree, tuple(degree))

    def parts(self) -> Mapping[str, float]:
        """Exposed seconds by part, largest first."""
        return self.estimate.parts()


KernelMapping = MappingAnswer[KernelPlan]
"""The best mapping found, and how good it is known to be."""
