"""Seconds of collectives of an MPI program on a machine, by the laws that training takes them from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from volvelle.estimators.collectives import LAWS, NESTED, Algorithm
from volvelle.estimators.rates import SustainedRates
from volvelle.laws.nested_collectives import Tier
from volvelle.workload.message_passing.calls import Call
from volvelle.workload.message_passing.trace import Matched, MessageTrace, RankGroup, Real, Whole
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
    for group, law, sizes, same in _alike(trace, pairs):
        found[same] = np.broadcast_to(np.asarray(law(sizes, _tiers(group, rates)), dtype=np.float64), sizes.shape)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectiveColumns:
    """Seconds of collectives on every variant of a machine whose numbers are columns."""

    seconds: Real
    """A row for each that is not like another, a column a variant."""
    row: Whole
    """Of every collective; -1: it takes no time."""
    kinds: tuple[tuple[RankGroup, float], ...]
    """Group and bytes of each row."""


def collective_columns(trace: MessageTrace, pairs: Matched, rates: SustainedRates, variants: int) -> CollectiveColumns:
    """The same on so many variants; those of the same call, group and bytes are timed once."""
    row = np.full(pairs.instances, -1, dtype=np.int64)
    tables: list[Real] = [np.zeros((0, variants))]
    kinds: list[tuple[RankGroup, float]] = []
    for group, law, sizes, same in _alike(trace, pairs):
        unlike, which = np.unique(sizes, return_inverse=True)
        row[same] = len(kinds) + which.ravel()
        seconds = np.asarray(law(unlike[:, None], _tiers(group, rates)), dtype=np.float64)
        tables.append(np.broadcast_to(seconds, (len(unlike), variants)))
        kinds += [(group, float(size)) for size in unlike]
    return CollectiveColumns(seconds=np.concatenate(tables), row=row, kinds=tuple(kinds))


def _alike(trace: MessageTrace, pairs: Matched) -> Iterator[tuple[RankGroup, Law, Real, Whole]]:
    """Collectives of one group and call: their law, their bytes and their numbers."""
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
        for call in np.unique(trace.call[first[own]]).tolist():
            same = own[trace.call[first[own]] == call]
            law, whole = _LAW[Call(call)]
            yield group, law, together[same] if whole else most[same], same


def _tiers(group: RankGroup, rates: SustainedRates) -> "list[Tier]":
    """What a group has of every dimension."""
    return list(rates.tiers(float(len(group.members)), float(stride_of(group))))


def stride_of(group: RankGroup) -> int:
    """How far members of a group are from each other, taken as evenly far."""
    return max(round((max(group.members) - min(group.members)) / (len(group.members) - 1)), 1)
