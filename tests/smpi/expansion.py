"""Collectives of a trace as the messages they are made of, by the plain algorithms of MPI libraries.

Recursive doubling where the members of an all-reduce are a power of two, else a reduction and a broadcast; binomial
trees for what has a root; rings for gathering at all; pairs for all-to-all; dissemination for barriers; a chain for
scans.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from volvelle.workload.message_passing.calls import Call
from volvelle.workload.message_passing.trace import MessageTrace

_TAG = 2**30
"""Tags of messages that collectives are made of begin here; programs use smaller ones."""
Step = tuple[int, int, int]
"""Whom to send to or -1, whom to receive from or -1, both as places in the group, and bytes."""
Steps = tuple[tuple[Step, ...], ...]
"""Of every member."""


def expanded(trace: MessageTrace) -> MessageTrace:
    """The same program without collectives."""
    events: dict[str, list[float]] = {name: [] for name in _NAMES}
    place: dict[int, int] = {}
    turn = [0] * (trace.ranks * len(trace.groups))
    positions = [{rank: at for at, rank in enumerate(group.members)} for group in trace.groups]
    columns = [getattr(trace, name).tolist() for name in _NAMES]
    numbers = count()

    def add(*values: float) -> int:
        for name, value in zip(_NAMES, values, strict=True):
            events[name].append(value)
        return next(numbers)

    for event, row in enumerate(zip(*columns, strict=True)):
        rank, call, partner, size, tag, group, waited, start, end, compute, line = row
        if not trace.collective[event]:
            place[event] = add(rank, call, partner, size, tag, group, place.get(waited, -1), start, end, compute, line)
            continue
        members = trace.groups[group].members
        own = positions[group][rank]
        root = positions[group].get(partner, 0)
        number = turn[rank * len(trace.groups) + group]
        turn[rank * len(trace.groups) + group] += 1
        label = _TAG + number % 2**20
        for to, from_, bytes_ in steps(Call(call), len(members), root, size)[own]:
            posted = []
            if from_ >= 0:
                posted.append(
                    add(rank, Call.IRECV, members[from_], bytes_, label, group, -1, start, start, compute, line)
                )
                compute = 0.0
            if to >= 0:
                posted.append(add(rank, Call.ISEND, members[to], bytes_, label, group, -1, start, start, compute, line))
                compute = 0.0
            for asked in posted:
                add(rank, Call.WAIT, -1, 0, 0, group, asked, start, end, 0.0, line)
    whole: dict[str, Any] = {name: np.array(events[name], dtype=np.int64) for name in _NAMES if name not in _TIMES}
    real: dict[str, Any] = {name: np.array(events[name], dtype=np.float64) for name in _TIMES}
    return MessageTrace(
        name=trace.name, ranks=trace.ranks, groups=trace.groups, left_out=trace.left_out, **whole, **real
    )


_TIMES = ("start", "end", "compute")
_NAMES = ("rank", "call", "partner", "size", "tag", "group", "waited", *_TIMES, "line")


@cache
def steps(call: Call, members: int, root: int, size: int) -> Steps:
    """What every member of a collective sends and receives, in order."""
    made: tuple[list[Step], ...] = tuple([] for _ in range(members))
    for member, step in _ALGORITHMS[call](members, root, size):
        made[member].append(step)
    return tuple(tuple(each) for each in made)


def _doubling(members: int, root: int, size: int) -> Iterator[tuple[int, Step]]:
    if members & (members - 1):
        yield from _binomial_up(members, 0, size)
        yield from _binomial_down(members, 0, size)
        return
    far = 1
    while far < members:
        for member in range(members):
            yield member, (member ^ far, member ^ far, size)
        far *= 2


def _binomial_down(members: int, root: int, size: int) -> Iterator[tuple[int, Step]]:
    """A broadcast: who has it tells the farthest first."""
    for member in range(members):
        own = (member - root) % members
        far = 1
        while far < members and not own & far:
            far *= 2
        if own:
            yield member, (-1, (own - far + root) % members, size)
        far //= 2
        while far:
            if own + far < members:
                yield member, ((own + far + root) % members, -1, size)
            far //= 2


def _binomial_up(members: int, root: int, size: int) -> Iterator[tuple[int, Step]]:
    """A reduction: the nearest first."""
    for member in range(members):
        own = (member - root) % members
        far = 1
        while far < members:
            if own & far:
                yield member, ((own - far + root) % members, -1, size)
                break
            if own + far < members:
                yield member, (-1, (own + far + root) % members, size)
            far *= 2


def _gather(members: int, root: int, size: int) -> Iterator[tuple[int, Step]]:
    """The same, with all that was gathered so far."""
    for member in range(members):
        own = (member - root) % members
        far = 1
        while far < members:
            if own & far:
                yield member, ((own - far + root) % members, -1, size * min(far, members - own))
                break
            if own + far < members:
                yield member, (-1, (own + far + root) % members, size * min(far, members - own - far))
            far *= 2


def _scatter(members: int, root: int, size: int) -> Iterator[tuple[int, Step]]:
    """A gathering backwards."""
    forth: dict[int, list[Step]] = {}
    for member, step in _gather(members, root, size):
        forth.setdefault(member, []).append(step)
    for member, own in forth.items():
        for to, from_, bytes_ in reversed(own):
            yield member, (from_, to, bytes_)


def _ring(members: int, root: int, size: int) -> Iterator[tuple[int, Step]]:
    for _ in range(members - 1):
        for member in range(members):
            yield member, ((member + 1) % members, (member - 1) % members, size)


def _pairs(members: int, root: int, size: int) -> Iterator[tuple[int, Step]]:
    for far in range(1, members):
        for member in range(members):
            yield member, ((member + far) % members, (member - far) % members, size // members)


def _dissemination(members: int, root: int, size: int) -> Iterator[tuple[int, Step]]:
    far = 1
    while far < members:
        for member in range(members):
            yield member, ((member + far) % members, (member - far) % members, 0)
        far *= 2


def _chain(members: int, root: int, size: int) -> Iterator[tuple[int, Step]]:
    for member in range(members):
        if member:
            yield member, (-1, member - 1, size)
        if member + 1 < members:
            yield member, (member + 1, -1, size)


_ALGORITHMS: dict[Call, Callable[[int, int, int], Iterator[tuple[int, Step]]]] = {
    Call.BARRIER: _dissemination,
    Call.BCAST: _binomial_down,
    Call.REDUCE: _binomial_up,
    Call.ALLREDUCE: _doubling,
    Call.GATHER: _gather,
    Call.ALLGATHER: _ring,
    Call.SCATTER: _scatter,
    Call.ALLTOALL: _pairs,
    Call.REDUCE_SCATTER: _pairs,
    Call.SCAN: _chain,
}
