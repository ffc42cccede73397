"""What replicas exchange: gradients, and with ZeRO the weights they share out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from volvelle.laws.nested_collectives import (
    Tier,
    nested_all_gather_time,
    nested_all_reduce_time,
    nested_reduce_scatter_time,
)
from volvelle.mapping.parallelism import MappingTable
from volvelle.quantities import Count, Number, Seconds
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import TrainingStep


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSizes:
    """Bytes of what every collective of replicas exchanges, each run once."""

    summed: float
    scattered: float
    gathered: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaTimes:
    """Seconds of every collective by which replicas exchange a set of weights and its gradients, each run once."""

    summed: Seconds
    """Gradients summed at the step's end: all of them, or between groups that share them out."""
    scattered: Seconds
    """Gradients summed and shared out; nothing without ZeRO."""
    gathered: Seconds
    """Weights; nothing without ZeRO."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    """Copies of a set of weights."""

    count: Count
    """Chips that hold the same weights."""
    stride: Count
    """Ranks between two of them."""
    sharing: Count
    """Chips among which ZeRO shares them out: all copies, or fewer (hybrid sharding)."""
    tiers: Sequence[Tier]
    sharing_tiers: Sequence[Tier]
    between_tiers: Sequence[Tier] | None
    """Between groups of sharing chips, where those are fewer than all."""

    def column_times(
        self, parameters: Number, workload: TrainingStep, table: MappingTable, *, gathered_bytes: Number | None = None
    ) -> ReplicaTimes:
        """Every collective once, for all mappings; nothing where there is one copy.

        With ZeRO-3, which shares frozen weights out too, so many bytes are gathered; None: those of the parameters.
        """
        gradients = parameters * element_bytes(workload.gradient_element)
        weights = parameters * element_bytes(workload.weight_element)
        summed: Number = nested_all_reduce_time(gradients, self.tiers)
        scattered: Number = 0.0
        gathered: Number = 0.0
        several = self.count > 1.0
        if np.any(table.zero >= 1):
            rest: Number = 0.0
            if self.between_tiers is not None:
                rest = nested_all_reduce_time(gradients / self.sharing, self.between_tiers)
            shares = several & (table.zero >= 1)
            summed = np.where(table.zero >= 1, rest, summed)
            scattered = np.where(shares, nested_reduce_scatter_time(gradients, self.sharing_tiers), 0.0)
            if gathered_bytes is not None:
                weights = np.where(table.zero == 3, gathered_bytes, weights)
            gathered = np.where(shares, nested_all_gather_time(weights, self.sharing_tiers), 0.0)
        return ReplicaTimes(summed=np.where(several, summed, 0.0), scattered=scattered, gathered=gathered)

    def sizes(
        self, parameters: float, workload: TrainingStep, zero: int, *, gathered_bytes: float | None = None
    ) -> ReplicaSizes:
        """What each collective of one mapping exchanges."""
        count = float(np.max(self.count))
        gradients = parameters * element_bytes(workload.gradient_element)
        weights = parameters * element_bytes(workload.weight_element)
        if count <= 1.0 or zero < 1:
            return ReplicaSizes(summed=gradients if count > 1.0 else 0.0, scattered=0.0, gathered=0.0)
        return ReplicaSizes(
            summed=0.0 if self.between_tiers is None else gradients / float(np.max(self.sharing)),
            scattered=gradients,
            gathered=weights if gathered_bytes is None or zero < 3 else gathered_bytes,
        )

    def times(
        self, parameters: float, workload: TrainingStep, zero: int, *, gathered_bytes: float | None = None
    ) -> ReplicaTimes:
        """What `exchange_time` adds up, collective by collective, for one mapping."""
        if float(np.max(self.count)) <= 1.0:
            return ReplicaTimes(summed=0.0, scattered=0.0, gathered=0.0)
        sizes = self.sizes(parameters, workload, zero, gathered_bytes=gathered_bytes)
        if zero < 1:
            return ReplicaTimes(summed=nested_all_reduce_time(sizes.summed, self.tiers), scattered=0.0, gathered=0.0)
        between = self.between_tiers
        return ReplicaTimes(
            summed=0.0 if between is None else nested_all_reduce_time(sizes.summed, between),
            scattered=nested_reduce_scatter_time(sizes.scattered, self.sharing_tiers),
            gathered=nested_all_gather_time(sizes.gathered, self.sharing_tiers),
        )


def replicas(
    count: Count, stride: Count, table: MappingTable, tiers: Callable[[Count, Count], Sequence[Tier]]
) -> Replicas:
    """Copies at a distance of `stride` ranks, sharing out among all or among `table.zero_group` of them."""
    every = tiers(count, stride)
    if not np.any(table.zero_group > 0):
        return Replicas(count=count, stride=stride, sharing=count, tiers=every, sharing_tiers=every, between_tiers=None)
    sharing = np.where(table.zero_group > 0, np.minimum(table.zero_group, count), count)
    return Replicas(
        count=count,
        stride=stride,
        sharing=sharing,
        tiers=every,
        sharing_tiers=tiers(sharing, stride),
        between_tiers=tiers(np.maximum(np.floor(count / sharing), 1.0), stride * sharing),
    )
