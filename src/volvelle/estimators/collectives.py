"""Which law times a collective by which algorithm, and what each network dimension has of its time.

Training, the validation of collectives and the question about one collective all take their laws from here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import inf

import numpy as np

from volvelle.laws.nested_collectives import (
    Tier,
    in_network_through_tiers_time,
    nested_all_gather_time,
    nested_all_reduce_time,
    nested_all_to_all_time,
    nested_broadcast_time,
    nested_reduce_scatter_time,
    ring_gather_through_tiers_time,
    ring_through_tiers_time,
    tree_through_tiers_time,
)
from volvelle.quantities import Bytes, Seconds
from volvelle.system.topologies.base import doublings
from volvelle.workload.tensor_layout import Collective

Law = Callable[..., Seconds]
"""Of the bytes of the whole tensor and the tiers that a group spans."""


class Algorithm(Enum):
    """How the members of a group exchange data."""

    NESTED = "nested"
    """What training uses: dimension by dimension, added up by the network where that is faster; gathers as rings."""
    RING = "ring"
    TREE = "tree"
    HALVING_DOUBLING = "halving-doubling"
    DIRECT = "direct"
    IN_NETWORK = "in-network"


NESTED: dict[Collective, Law] = {
    Collective.ALL_REDUCE: nested_all_reduce_time,
    Collective.REDUCE_SCATTER: nested_reduce_scatter_time,
    Collective.ALL_GATHER: nested_all_gather_time,
    Collective.ALL_TO_ALL: nested_all_to_all_time,
}
"""Of collectives that training has."""


def _halving_doubling(size: Bytes, tiers: Sequence[Tier]) -> Seconds:
    own = [replace(tier, steps=doublings(tier.chips), reduces=False) for tier in tiers]
    return nested_all_reduce_time(size, own)


def _direct(size: Bytes, tiers: Sequence[Tier]) -> Seconds:
    own = [replace(tier, steps=np.minimum(1.0, tier.chips - 1.0), reduces=False) for tier in tiers]
    return nested_all_reduce_time(size, own)


LAWS: Mapping[Collective, Mapping[Algorithm, Law]] = {
    Collective.ALL_REDUCE: {
        Algorithm.NESTED: nested_all_reduce_time,
        Algorithm.RING: ring_through_tiers_time,
        Algorithm.TREE: tree_through_tiers_time,
        Algorithm.HALVING_DOUBLING: _halving_doubling,
        Algorithm.DIRECT: _direct,
        Algorithm.IN_NETWORK: in_network_through_tiers_time,
    },
    Collective.REDUCE_SCATTER: {
        Algorithm.NESTED: nested_reduce_scatter_time,
        Algorithm.RING: ring_gather_through_tiers_time,
    },
    Collective.ALL_GATHER: {Algorithm.NESTED: nested_all_gather_time, Algorithm.RING: ring_gather_through_tiers_time},
    Collective.ALL_TO_ALL: {Algorithm.NESTED: nested_all_to_all_time},
    Collective.BROADCAST: {Algorithm.NESTED: nested_broadcast_time},
}
"""Collective → its algorithms, that of training first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TierTime:
    """What a collective takes in one dimension."""

    latency: float
    fill: float
    """Filling the pipeline of a long message."""
    transfer: float
    """At the same time as the transfers of other dimensions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveParts:
    """The time of a collective: launched once, then all latencies and fillings, and the longest of the transfers."""

    setup: float
    tiers: tuple[TierTime, ...]

    @property
    def latency(self) -> float:
        """Of all dimensions."""
        return sum(tier.latency for tier in self.tiers)

    @property
    def fill(self) -> float:
        """Of all dimensions."""
        return sum(tier.fill for tier in self.tiers)

    @property
    def transfer(self) -> float:
        """Of the slowest dimension."""
        return max(tier.transfer for tier in self.tiers)

    @property
    def time(self) -> float:
        """All of it."""
        return self.setup + self.latency + self.fill + self.transfer


def collective_parts(law: Law, size: float, tiers: Sequence[Tier]) -> CollectiveParts:
    """What a law says by dimension: each is asked about with all the others infinitely fast."""
    bare = [replace(tier, rate=inf, latency=0.0, setup=0.0, fill=0.0) for tier in tiers]

    def alone(place: int, tier: Tier) -> float:
        return float(law(size, [*bare[:place], tier, *bare[place + 1 :]]))

    found = []
    for place, (tier, none) in enumerate(zip(tiers, bare, strict=True)):
        transfer = alone(place, replace(none, rate=tier.rate))
        found.append(
            TierTime(
                latency=alone(place, replace(none, latency=tier.latency)),
                fill=alone(place, replace(none, rate=tier.rate, fill=tier.fill)) - transfer,
                transfer=transfer,
            )
        )
    launched = [replace(none, setup=tier.setup) for none, tier in zip(bare, tiers, strict=True)]
    return CollectiveParts(setup=float(law(size, launched)), tiers=tuple(found))
