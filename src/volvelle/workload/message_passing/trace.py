"""Events of all ranks of an MPI program as columns: rank after rank, each in the order of its program."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import NumberDomain
from volvelle.errors import DescriptionError
from volvelle.workload.message_passing.calls import FIRST_COLLECTIVE, RECEIVES, SAME_SIZE, SENDS, Call

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]
RANKS = NumberDomain(1, 2**20, whole=True)
"""Of a trace."""
MESSAGE = NumberDomain(0, 2**50, whole=True)
"""Bytes of one message."""
TAG = NumberDomain(0, 2**31 - 1, whole=True)
MOMENT = NumberDomain(0.0, 1e9)
"""Seconds since the program began."""
NONE = -1
"""In a column of whole numbers: there is none."""
WORLD = "world"


@dataclass(frozen=True, slots=True)
class RankGroup:
    """A communicator: ranks of the world."""

    name: str
    members: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class MessageTrace:
    """What every rank called, on whom, when, and how long it computed before."""

    name: str
    """Of the file, or of how it was made."""
    ranks: int
    groups: tuple[RankGroup, ...]
    """The world first."""
    rank: Whole
    call: Whole
    partner: Whole
    """A rank of the world: whom it sends to or receives from, or the root of a collective."""
    size: Whole
    """Bytes of a message, or what a rank gives to a collective (an all-to-all: to all together)."""
    tag: Whole
    group: Whole
    waited: Whole
    """The event that a wait ends."""
    start: Real
    end: Real
    compute: Real
    """Seconds of computation between the call before and this one."""
    line: Whole
    """Of the file; 0: it has none."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Calls that are not among the events, and how many there were."""

    def __len__(self) -> int:
        return len(self.rank)

    @cached_property
    def first(self) -> Whole:
        """Where the events of each rank begin; one more entry than there are ranks."""
        return np.searchsorted(self.rank, np.arange(self.ranks + 1)).astype(np.int64)

    @cached_property
    def sends(self) -> Mask:
        """Which events send a message."""
        return np.isin(self.call, SENDS)

    @cached_property
    def receives(self) -> Mask:
        """Which events receive one."""
        return np.isin(self.call, RECEIVES)

    @cached_property
    def collective(self) -> Mask:
        """Which events are of a whole group."""
        return np.asarray(self.call >= FIRST_COLLECTIVE)

    @property
    def time(self) -> float:
        """From the first event to the end of the last."""
        return float(self.end.max(initial=0.0))

    def where(self, event: int) -> str:
        """How a message names an event."""
        call = Call(int(self.call[event]))
        line = f", line {self.line[event]}" if self.line[event] else ""
        partner = int(self.partner[event])
        if call in SENDS:
            whom = f" to {partner}, tag {self.tag[event]}"
        elif call in RECEIVES:
            whom = f" from {partner}, tag {self.tag[event]}"
        else:
            whom = f" on {self.groups[int(self.group[event])].name}" if call is not Call.WAIT else ""
        return f"{self.name!r}{line}: {call.word} of rank {self.rank[event]}{whom}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matched:
    """Which events belong together."""

    peer: Whole
    """Of a send its receive, of a receive its send."""
    instance: Whole
    """Of a collective: its number among all of the trace."""
    instances: int
    larger: int
    """Receives that had room for more than came."""


def matched(trace: MessageTrace) -> Matched:
    """Sends with receives, in the order of their posting, and members of collectives; what has no match is refused."""
    peer = np.full(len(trace), NONE, dtype=np.int64)
    sends, receives = np.flatnonzero(trace.sends), np.flatnonzero(trace.receives)
    from_, to = _keys(trace, sends, sending=True), _keys(trace, receives, sending=False)
    sends, from_ = _sorted(sends, from_)
    receives, to = _sorted(receives, to)
    short = min(len(sends), len(receives))
    differs = np.flatnonzero(np.any(from_[:short] != to[:short], axis=1))
    if len(differs) or len(sends) != len(receives):
        place = int(differs[0]) if len(differs) else short
        raise _unmatched(trace, (sends, from_), (receives, to), place)
    truncated = np.flatnonzero(trace.size[receives] < trace.size[sends])
    if len(truncated):
        send, receive = int(sends[truncated[0]]), int(receives[truncated[0]])
        raise DescriptionError(
            f"{trace.where(receive)} has room for {trace.size[receive]:,} bytes and {trace.size[send]:,} are sent to it"
            f"{_at(trace, send)}; give the receive the bytes that came"
        )
    peer[sends], peer[receives] = receives, sends
    instance, instances = _instances(trace)
    larger = int(np.count_nonzero(trace.size[receives] > trace.size[sends]))
    return Matched(peer=peer, instance=instance, instances=instances, larger=larger)


def _keys(trace: MessageTrace, events: Whole, *, sending: bool) -> Whole:
    own, other = trace.rank[events], trace.partner[events]
    pair = (own, other) if sending else (other, own)
    return np.stack([*pair, trace.group[events], trace.tag[events]], axis=1)


def _sorted(events: Whole, keys: Whole) -> tuple[Whole, Whole]:
    order = np.lexsort((events, *keys.T[::-1]))
    return events[order], keys[order]


def _unmatched(
    trace: MessageTrace, sent: tuple[Whole, Whole], received: tuple[Whole, Whole], place: int
) -> DescriptionError:
    """The first of the two sides that has no partner on the other."""
    sends, receives = sent[0], received[0]
    key = tuple(sent[1][place].tolist()) if place < len(sends) else None
    other = tuple(received[1][place].tolist()) if place < len(receives) else None
    if other is None or (key is not None and key < other):
        return DescriptionError(
            f"{trace.where(int(sends[place]))} is never received; add the receive, or leave the send out"
        )
    return DescriptionError(
        f"{trace.where(int(receives[place]))} waits for a message that nobody sends; add the send, or leave the "
        "receive out"
    )


def _instances(trace: MessageTrace) -> tuple[Whole, int]:
    """Numbers of collectives: the k-th of every member of a group is one."""
    found = np.full(len(trace), NONE, dtype=np.int64)
    events = np.flatnonzero(trace.collective)
    order = events[np.lexsort((events, trace.rank[events], trace.group[events]))]
    bounds = np.searchsorted(trace.group[order], np.arange(len(trace.groups) + 1))
    total = 0
    for number, group in enumerate(trace.groups):
        own = order[bounds[number] : bounds[number + 1]]
        if not len(own):
            continue
        counts = np.bincount(trace.rank[own], minlength=trace.ranks)[list(group.members)]
        if counts.min() != counts.max():
            least, most = group.members[int(counts.argmin())], group.members[int(counts.argmax())]
            last = int(own[trace.rank[own] == most][int(counts.min())])
            raise DescriptionError(
                f"{trace.where(last)} is its collective number {counts.min() + 1} there, and rank {least} has "
                f"{counts.min()}: every member calls each; complete the trace, or name the group that calls"
            )
        table = own.reshape(len(group.members), -1)
        _check_alike(trace, table, group)
        found[table] = np.arange(table.shape[1])[None, :] + total
        total += table.shape[1]
    return found, total


def _check_alike(trace: MessageTrace, table: Whole, group: RankGroup) -> None:
    """Members call the same, with the same root and, where it must be so, the same bytes."""
    first = table[0]
    for name, column in (("call", trace.call), ("root", trace.partner), ("bytes", trace.size)):
        differ = column[table] != column[first][None, :]
        if name == "bytes":
            differ &= np.isin(trace.call[first], SAME_SIZE)[None, :]
        if differ.any():
            step = int(np.flatnonzero(differ.any(axis=0))[0])
            event = int(table[int(np.flatnonzero(differ[:, step])[0]), step])
            own, other = (int(column[each]) for each in (event, int(first[step])))
            said = [Call(value).word if name == "call" else f"{value:,}" for value in (own, other)]
            raise DescriptionError(
                f"{trace.where(event)} has {name} {said[0]}, and rank {group.members[0]} has {said[1]}"
                f"{_at(trace, int(first[step]))} in the same collective; make them agree"
            )


def _at(trace: MessageTrace, event: int) -> str:
    return f" (line {trace.line[event]})" if trace.line[event] else ""
