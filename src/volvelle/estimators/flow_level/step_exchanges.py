"""What chips exchange in a step: of every axis the collective that takes most of its time, and between which ranks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from volvelle.estimators.collective_flows.contended import Job, exchange_of, ideal_time
from volvelle.estimators.collective_flows.exchange import Exchange, Messages, at_once, shifted
from volvelle.estimators.event_driven.axis_groups import axis_groups, pipeline_group
from volvelle.estimators.event_driven.block_steps import one
from volvelle.estimators.event_driven.moved import Group
from volvelle.estimators.training.step_time import StepBasis
from volvelle.mapping.axes import DATA, PIPELINE, REPLICAS, Axis, combined
from volvelle.mapping.parallelism import MappingTable
from volvelle.mapping.placement import members
from volvelle.system.cluster import Cluster
from volvelle.workload.elements import element_bytes
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.training import TrainingStep

HAND_OVER = "send/recv"
"""What neighbouring stages do, in place of a collective."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExchange:
    """One exchange of an axis, which all groups of the axis run at the same time."""

    axis: Axis
    collective: Collective | None
    """None: every chip sends to the one at the same place of the next stage."""
    size: float
    """Bytes of the whole tensor; of a hand-over what one chip sends."""
    group: Group
    """Its members; there are as many groups as make up all chips."""
    chips: int
    """Of the whole layout."""

    @property
    def name(self) -> str:
        """What it is."""
        return HAND_OVER if self.collective is None else self.collective.value

    @property
    def groups(self) -> int:
        """How many there are."""
        return len(self.group.firsts(self.chips))

    def along(self, cluster: Cluster) -> list[int]:
        """Members of a group along each dimension of the network."""
        found = members(np.float64(self.group.chips), np.float64(self.group.stride), cluster.spans)
        return [round(float(count)) for count in found]

    def ideal(self, cluster: Cluster) -> float:
        """Seconds by the law of the same messages, with nothing in the way."""
        along = self.along(cluster)
        if self.collective is None:
            place = max((place for place, count in enumerate(along) if count > 1), default=0)
            link = cluster.dimensions[place].link
            return float(link.latency) + self.size / float(link.sustained)
        return ideal_time(Job(kind=self.collective, size=self.size), cluster, along)

    def messages(self, cluster: Cluster, *, most: int, back: bool = False) -> tuple[Exchange, int]:
        """Those of as many groups as have at most so many messages together, at least of one; and how many groups.

        Of a hand-over those from every stage to the next, or with `back` to the one before.
        """
        firsts, places = self.group.firsts(self.chips), self.group.stride * np.arange(self.group.chips)
        if self.collective is None:
            ranks = (firsts[:, None] + places)[: max(most // (self.group.chips - 1), 1)]
            here, there = ranks[:, :-1].ravel(), ranks[:, 1:].ravel()
            handed = Messages()
            handed.send(there if back else here, here if back else there, self.size)
            return handed.exchange(), len(ranks)
        own = exchange_of(Job(kind=self.collective, size=self.size), cluster, self.along(cluster))
        firsts = firsts[: max(most // max(len(own), 1), 1)]
        return at_once([shifted(own, first + places) for first in firsts]), len(firsts)


def step_exchanges(
    basis: StepBasis, workload: TrainingStep, table: MappingTable, *, chips: int
) -> tuple[StepExchange, ...]:
    """Of every axis that is used, the exchange that takes most of its time, and what that time goes to."""
    found = [*_inside_blocks(basis, table, chips), *_between_replicas(basis, workload, table, chips)]
    if int(table.pipeline[0]) > 1:
        part, _ = basis.blocks.handed_over()
        found.append(
            StepExchange(
                axis=PIPELINE,
                collective=None,
                size=one(part),
                group=pipeline_group(table),
                chips=chips,
            )
        )
    return tuple(found)


def _inside_blocks(basis: StepBasis, table: MappingTable, chips: int) -> Sequence[StepExchange]:
    spent: dict[tuple[Axis, Collective, float], float] = {}
    for name, time in basis.blocks.times.items():
        runs = one(basis.layers.get(name, 0.0))
        for exchange, seconds in time.exchanges:
            if exchange.per_step:
                continue
            key = exchange.axis, exchange.collective, one(basis.blocks.sizes(exchange.size))
            spent[key] = spent.get(key, 0.0) + runs * one(seconds)
    longest: dict[Axis, tuple[Axis, Collective, float]] = {}
    for key in sorted(spent, key=lambda key: spent[key]):
        longest[key[0]] = key
    groups = axis_groups(basis, table)
    return [
        StepExchange(axis=axis, collective=collective, size=size, group=groups[axis], chips=chips)
        for axis, collective, size in longest.values()
        if groups[axis].chips > 1
    ]


def _between_replicas(
    basis: StepBasis, workload: TrainingStep, table: MappingTable, chips: int
) -> Sequence[StepExchange]:
    """Gradients of the weights that all replicas hold."""
    count = int(one(combined(table, REPLICAS)))
    if not basis.kinds or count < 2:
        return ()
    held = basis.kinds[0]
    shared = int(table.zero[0]) >= 1
    sharing = int(one(held.replicas.sharing)) if shared else count
    return (
        StepExchange(
            axis=DATA,
            collective=Collective.REDUCE_SCATTER if shared else Collective.ALL_REDUCE,
            size=one(held.most) * element_bytes(workload.gradient_element),
            group=Group(sharing, int(one(held.replicas.stride))),
            chips=chips,
        ),
    )
