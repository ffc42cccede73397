"""What replicas exchange: gradients, and with ZeRO the weights they share out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from volvelle.laws.nested_collectives import (
    Tier,
    nested_all_gather_time,
    nested_all_reduce_time,
    nested_reduce_scatter_time,
)
from volvelle.mapping.parallelism import MappingTable
from volvelle.quantities import Bytes, Count, Number, Seconds
from volvelle.workload.elements import element_bytes
from volvelle.workload.training import TrainingStep


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSizes:
    """Bytes of a set of weights that replicas exchange."""

    gradients: Bytes
    weights: Bytes
    """Gathered, with ZeRO."""


def replica_sizes(
    parameters: Number, workload: TrainingStep, table: MappingTable, *, gathered_bytes: Number | None = None
) -> ReplicaSizes:
    """Of so many parameters; with ZeRO-3, which shares frozen weights out too, `gathered_bytes` where there are any."""
    gradients = parameters * element_bytes(workload.gradient_element)
    weights = parameters * element_bytes(workload.weight_element)
    if gathered_bytes is not None and np.any(table.zero >= 1):
        weights = np.where(table.zero == 3, gathered_bytes, weights)
    return ReplicaSizes(gradients=gradients, weights=weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaTimes:
    """Seconds of every collective by which replicas exchange a set of weights and its gradients, each run once."""

    summed: Seconds
    """Gradients summed at the step's end: all of them, or between groups that share them out."""
    scattered: Seconds
    """Gradients summed and shared out; nothing without ZeRO."""
    gathered: Seconds
    """Weights; nothing without ZeRO."""
    gathered_again: Seconds
    """Weights before a backward pass (ZeRO-3): among those that keep a second copy, where some do."""


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
    secondary: Count = 0.0
    """Chips among which a second copy of the weights is shared out; 0: there is none."""
    secondary_tiers: Sequence[Tier] | None = None

    def times(self, sizes: ReplicaSizes, table: MappingTable) -> ReplicaTimes:
        """Every collective once, for all mappings; nothing where there is one copy."""
        summed: Number = nested_all_reduce_time(sizes.gradients, self.tiers)
        scattered: Number = 0.0
        gathered: Number = 0.0
        several = self.count > 1.0
        if np.any(table.zero >= 1):
            rest: Number = 0.0
            if self.between_tiers is not None:
                rest = nested_all_reduce_time(sizes.gradients / self.sharing, self.between_tiers)
            shares = several & (table.zero >= 1)
            summed = np.where(table.zero >= 1, rest, summed)
            scattered = np.where(shares, nested_reduce_scatter_time(sizes.gradients, self.sharing_tiers), 0.0)
            gathered = np.where(shares, nested_all_gather_time(sizes.weights, self.sharing_tiers), 0.0)
        again = gathered
        if self.secondary_tiers is not None:
            near = nested_all_gather_time(sizes.weights, self.secondary_tiers)
            again = np.where((self.secondary > 0) & (table.zero == 3), near, gathered)
        return ReplicaTimes(
            summed=np.where(several, summed, 0.0),
            scattered=scattered,
            gathered=gathered,
            gathered_again=again,
        )


def replicas(
    count: Count,
    stride: Count,
    table: MappingTable,
    tiers: Callable[[Count, Count], Sequence[Tier]],
) -> Replicas:
    """Copies at a distance of `stride` ranks, sharing out among all or among `table.zero_group` of them."""
    every = tiers(count, stride)
    found = Replicas(
        count=count,
        stride=stride,
        sharing=count,
        tiers=every,
        sharing_tiers=every,
        between_tiers=None,
    )
    if np.any(table.zero_secondary > 0):
        near = np.minimum(table.zero_secondary, count)
        found = replace(found, secondary=near, secondary_tiers=tiers(np.maximum(near, 1.0), stride))
    if not np.any(table.zero_group > 0):
        return found
    sharing = np.where(table.zero_group > 0, np.minimum(table.zero_group, count), count)
    return replace(
        found,
        sharing=sharing,
        sharing_tiers=tiers(sharing, stride),
        between_tiers=tiers(np.maximum(np.floor(count / sharing), 1.0), stride * sharing),
    )
