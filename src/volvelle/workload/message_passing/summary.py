"""What a trace tells: who talks to whom and how much, how even computation is, collectives, phases and loops."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from volvelle.workload.message_passing.calls import RECEIVES, SENDS, Call
from volvelle.workload.message_passing.loops import Loop, Node, rank_loops
from volvelle.workload.message_passing.trace import MessageTrace, Real, Whole, matched

_BODY = 12
"""Calls of a body that are named."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """Messages from rank to rank; pairs that exchange none are not there."""

    source: Whole
    target: Whole
    messages: Whole
    size: Whole
    """Bytes of all of them."""

    def partners(self, ranks: int) -> Whole:
        """Of every rank, how many it sends to."""
        return np.bincount(self.source, minlength=ranks)


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveUse:
    """A collective, by its call, its group's size and the bytes that members give."""

    call: str
    members: int
    count: int
    size: float
    """Bytes of a member each time, the mean."""
    time: float
    """Seconds in it of a member, all times together, the mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A part of what the busiest rank did: a loop, or calls between loops."""

    start: float
    time: float
    turns: int
    period: float
    """Seconds of a turn, the mean."""
    calls: int
    """Of a turn."""
    body: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TraceSummary:
    """What a trace tells."""

    name: str
    ranks: int
    events: int
    time: float
    pairs: Pairs
    compute: Real
    """Seconds of computation of every rank."""
    communication: Real
    """Seconds inside calls of every rank."""
    collectives: tuple[CollectiveUse, ...]
    phases: tuple[Phase, ...]
    told_rank: int
    """The rank whose phases these are."""
    notes: tuple[str, ...]

    @property
    def messages(self) -> int:
        """Between ranks, those of collectives not counted."""
        return int(self.pairs.messages.sum())

    @property
    def message_bytes(self) -> int:
        """Of all of them."""
        return int(self.pairs.size.sum())

    @property
    def imbalance(self) -> float:
        """Most computation of a rank over the mean."""
        mean = float(self.compute.mean())
        return float(self.compute.max()) / mean if mean > 0.0 else 1.0

    @property
    def slowest_rank(self) -> int:
        """The rank that computes longest."""
        return int(self.compute.argmax())


def pairs_of(trace: MessageTrace) -> Pairs:
    """Messages by who sends and who receives."""
    sends = trace.sends
    key = trace.rank[sends] * trace.ranks + trace.partner[sends]
    found, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    total = np.zeros(len(found), dtype=np.int64)
    np.add.at(total, inverse.ravel(), trace.size[sends])
    return Pairs(source=found // trace.ranks, target=found % trace.ranks, messages=counts.astype(np.int64), size=total)


def summary_of(trace: MessageTrace) -> TraceSummary:
    """All of it; what does not match is refused."""
    pairs = matched(trace)
    compute: Any = np.bincount(trace.rank, weights=trace.compute, minlength=trace.ranks)
    communication: Any = np.bincount(trace.rank, weights=trace.end - trace.start, minlength=trace.ranks)
    told = int(np.argmax(np.diff(trace.first)))
    notes = [f"{count:,} calls of {name} were not recorded" for name, count in trace.left_out.items()]
    if pairs.larger:
        notes.append(f"{pairs.larger:,} receives had room for more than came; the bytes that were sent are counted")
    return TraceSummary(
        name=trace.name,
        ranks=trace.ranks,
        events=len(trace),
        time=trace.time,
        pairs=pairs_of(trace),
        compute=compute,
        communication=communication,
        collectives=_collectives(trace),
        phases=phases_of(trace, told),
        told_rank=told,
        notes=tuple(notes),
    )


def _collectives(trace: MessageTrace) -> tuple[CollectiveUse, ...]:
    events = np.flatnonzero(trace.collective)
    members = np.array([len(group.members) for group in trace.groups])[trace.group[events]]
    key = np.stack([trace.call[events], members], axis=1)
    found = []
    for call, size in np.unique(key, axis=0).tolist():
        own = events[(key[:, 0] == call) & (key[:, 1] == size)]
        calling = len(np.unique(trace.rank[own]))
        found.append(
            CollectiveUse(
                call=Call(call).word,
                members=size,
                count=round(len(own) / size),
                size=float(trace.size[own].mean()),
                time=float((trace.end[own] - trace.start[own]).sum()) / calling,
            )
        )
    return tuple(found)


def phases_of(trace: MessageTrace, rank: int) -> tuple[Phase, ...]:
    """Loops of a rank and what is between them, in their order."""
    nodes = rank_loops(trace, rank)
    found: list[Phase] = []
    straight: list[Node] = []
    for node in nodes:
        if isinstance(node, Loop):
            if straight:
                found.append(_phase(trace, rank, straight, 1))
            found.append(_phase(trace, rank, node.body, node.count, node))
            straight = []
        else:
            straight.append(node)
    if straight:
        found.append(_phase(trace, rank, straight, 1))
    return tuple(found)


def _phase(trace: MessageTrace, rank: int, body: Sequence[Node], turns: int, loop: Loop | None = None) -> Phase:
    origin = int(trace.first[rank])
    first = origin + body[0].first
    last = (origin + loop.first + loop.events if loop else origin + body[-1].first + body[-1].events) - 1
    before = float(trace.end[first - 1]) if first > origin else 0.0
    time = float(trace.end[last]) - before
    return Phase(
        start=before,
        time=time,
        turns=turns,
        period=time / turns,
        calls=(last + 1 - first) // turns,
        body=body_text(trace, origin, body),
    )


def body_text(trace: MessageTrace, origin: int, nodes: Sequence[Node]) -> str:
    """Calls of a body in words; like ones that follow each other are counted."""
    words: list[str] = []
    for node in nodes:
        if isinstance(node, Loop):
            inside = body_text(trace, origin, node.body)
            words.append(f"{node.count} × {inside if ',' not in inside and ' ' not in inside else f'({inside})'}")
        elif node.events > 1:
            words.append("messages")
        else:
            words.append(_word(trace, origin + node.first))
    shown = words[:_BODY]
    more = f", and {len(words) - _BODY} more" if len(words) > _BODY else ""
    return ", ".join(shown) + more


def _word(trace: MessageTrace, event: int) -> str:
    call = Call(int(trace.call[event]))
    if call in SENDS:
        return f"{call.word} to {trace.partner[event] - trace.rank[event]:+d}"
    if call in RECEIVES:
        return f"{call.word} from {trace.partner[event] - trace.rank[event]:+d}"
    return call.word
