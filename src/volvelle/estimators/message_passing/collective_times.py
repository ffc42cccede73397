"""Seconds of collectives of an MPI program on a machine, by the laws that training takes them from."""

from collections.abc import Callable

import numpy as np

from volvelle.estimators.collectives import LAWS, NESTED, Algorithm
from volvelle.estimators.rates import SustainedRates
from volvelle.laws.nested_collectives import Tier
from volvelle.workload.message_passing.calls import Call
from volvelle.workload.message_passing.trace import Matched, MessageTrace, RankGroup, Real
from volvelle.workload.tensor_layout import Collective

Law = Callable[..., object]
_BROADCAST = LAWS[Collective.BROADCAST][Algorithm.NESTED]
_LAW: dict[Call, tuple[Law, bool]] = {
    Call.BARRIER: (NESTED[Collective.ALL_REDUCE], False),
    Call.BCAST: (_BROADCAST, False),
    Call.REDUCE: (_BROADCAST, False),
    Call.ALLREDUCE: (NESTED[Collective.ALL_REDUCE], False),
    Call.SCAN: (NESTED[Collective.ALL_REDUCE], False),
    Call.GATHER: (NESTED[Collective.ALL_GATHER], True),
    Call.ALLGATHER: (NESTED[Collective.ALL_GATHER], True),
    Call.SCATTER: (NESTED[Collective.ALL_GATHER], True),
    Call.ALLTOALL: (NESTED[Collective.ALL_TO_ALL], False),
    Call.REDUCE_SCATTER: (NESTED[Collective.REDUCE_SCATTER], False),
}
"""The law of each, and whether its bytes are those of all members together. A reduction goes the way of a broadcast
backwards, a scatter that of a gather; a barrier is an all-reduce of nothing."""


def collective_times(trace: MessageTrace, pairs: Matched, rates: SustainedRates) -> Real:
    """Of every collective, rank r being on chip r."""
    found = np.zeros(pairs.instances)
    events = np.flatnonzero(trace.collective)
    instance = pairs.instance[events]
    first = np.full(pairs.instances, -1, dtype=np.int64)
    first[instance[::-1]] = events[::-1]
    most = np.zeros(pairs.instances)
    np.maximum.at(most, instance, trace.size[events].astype(np.float64))
    together = np.bincount(instance, weights=trace.size[events], minlength=pairs.instances)
    for number, group in enumerate(trace.groups):
        own = np.flatnonzero(trace.group[first] == number) if pairs.instances else np.zeros(0, np.int64)
        if not len(own) or len(group.members) < 2:
            continue
        tiers = _tiers(group, rates)
        for call in np.unique(trace.call[first[own]]).tolist():
            same = own[trace.call[first[own]] == call]
            law, whole = _LAW[Call(call)]
            sizes = together[same] if whole else most[same]
            found[same] = np.broadcast_to(np.asarray(law(sizes, tiers), dtype=np.float64), sizes.shape)
    return found


def _tiers(group: RankGroup, rates: SustainedRates) -> "list[Tier]":
    """What a group has of every dimension; its members are taken as evenly far from each other."""
    stride = max(round((max(group.members) - min(group.members)) / (len(group.members) - 1)), 1)
    return list(rates.tiers(float(len(group.members)), float(stride)))
