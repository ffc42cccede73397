"""An MPI trace as a graph of tasks: computation of ranks, messages, collectives, and who waits for whom.

The computation before a call is a task of its rank, and the task after a call waits for what the call waits for:
a receive for its message, a wait for what it ends, a collective for its last member. A message starts when it is sent;
one longer than the eager limit also waits until its receive is posted, and its sender waits for its end.
"""

from dataclasses import dataclass

import numpy as np

from volvelle.errors import GraphError
from volvelle.simulation.tasks import TaskGraph
from volvelle.workload.message_passing.calls import POSTED, Call
from volvelle.workload.message_passing.trace import Matched, MessageTrace, Real, Whole, matched


@dataclass(frozen=True, kw_only=True, eq=False)
class ProgramGraph:
    """Tasks and edges: first tasks of ranks, before every call and after the last, then messages, then collectives."""

    trace: MessageTrace
    pairs: Matched
    eager: float
    program: Whole
    """Of every event, the task before it."""
    messages: Whole
    """Events that send, in the order of their messages."""
    edges: Whole
    """Pairs, a row each: the first ends before the second starts. Without the order of a rank's own tasks."""

    @property
    def own(self) -> int:
        """Tasks of ranks."""
        return len(self.trace) + self.trace.ranks

    @property
    def tasks(self) -> int:
        """All of them."""
        return self.own + len(self.messages) + self.pairs.instances

    def durations(self, ratio: float, messages: Real, collectives: Real) -> Real:
        """Seconds of all tasks, by those of messages and collectives; computation takes `ratio` of what it took."""
        computed = np.zeros(self.own)
        computed[self.program] = self.trace.compute * ratio
        return np.concatenate([computed, messages, collectives])

    def task_graph(self, durations: Real) -> TaskGraph:
        """For a replay in which messages do not share links: each has a stream of its own."""
        ranks = np.zeros(self.own, dtype=np.int64)
        ranks[self.program] = self.trace.rank
        closing = self.trace.first[1:] + np.arange(self.trace.ranks)
        ranks[closing] = np.arange(self.trace.ranks)
        others = np.arange(self.tasks - self.own) + self.trace.ranks
        order = np.lexsort((self.edges[:, 0], self.edges[:, 1]))
        counts = np.bincount(self.edges[:, 1], minlength=self.tasks)
        return TaskGraph(
            durations=durations,
            streams=np.concatenate([ranks, others]).astype(np.int32),
            pointers=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            predecessors=self.edges[order, 0].astype(np.int32),
            names=tuple(map(str, range(self.trace.ranks + self.tasks - self.own))),
        )

    @property
    def in_order(self) -> Whole:
        """Edges between tasks of a rank."""
        closing = self.trace.first[1:] + np.arange(self.trace.ranks)
        before = np.setdiff1d(np.arange(self.own), closing)
        return np.stack([before, before + 1], axis=1)


def program_graph(trace: MessageTrace, *, eager: float) -> ProgramGraph:
    """The graph of a trace whose messages up to `eager` bytes do not wait for their receivers."""
    pairs = matched(trace)
    program = np.arange(len(trace)) + trace.rank
    own = len(trace) + trace.ranks
    sends = np.flatnonzero(trace.sends)
    message = np.full(len(trace), -1, dtype=np.int64)
    """Of a send or a receive, the task of its message."""
    message[sends] = own + np.arange(len(sends))
    message[pairs.peer[sends]] = message[sends]
    long = trace.size > eager
    meets = sends[long[sends]]
    collective = np.flatnonzero(trace.collective)
    instance = own + len(sends) + pairs.instance[collective]
    waits = np.flatnonzero(trace.call == Call.WAIT)
    ends = trace.waited[waits]
    receiving = np.flatnonzero(trace.call == Call.RECV)
    sending = np.flatnonzero((trace.call == Call.SEND) & long)
    held = (trace.call[ends] == Call.IRECV) | long[ends]
    edges = [
        (program[sends], message[sends]),
        (program[pairs.peer[meets]], message[meets]),
        (program[collective], instance),
        (instance, program[collective] + 1),
        (message[receiving], program[receiving] + 1),
        (message[sending], program[sending] + 1),
        (message[ends[held]], program[waits[held]] + 1),
    ]
    return ProgramGraph(
        trace=trace,
        pairs=pairs,
        eager=eager,
        program=program,
        messages=sends,
        edges=np.concatenate([np.stack(each, axis=1) for each in edges]),
    )


def deadlock(graph: ProgramGraph) -> GraphError:
    """Which rank is the first that cannot go on, and what it waits for: the trace is gone through without times."""
    trace, pairs = graph.trace, graph.pairs
    place, posted = trace.first[:-1].copy(), np.zeros(len(trace), dtype=bool)
    arrived = np.zeros(pairs.instances, dtype=np.int64)
    members = np.zeros(pairs.instances, dtype=np.int64)
    np.add.at(members, pairs.instance[trace.collective], 1)
    moved = True
    while moved:
        moved = False
        for rank in range(trace.ranks):
            while place[rank] < trace.first[rank + 1]:
                event = int(place[rank])
                if not posted[event]:
                    posted[event] = True
                    moved = True
                    if trace.collective[event]:
                        arrived[pairs.instance[event]] += 1
                if _held(graph, event, posted, arrived, members):
                    break
                place[rank] += 1
    stuck = np.flatnonzero(place < trace.first[1:])
    if not len(stuck):
        return GraphError(f"{trace.name!r} cannot be replayed; its calls wait for each other")
    event = int(place[stuck[0]])
    return GraphError(
        f"{trace.where(event)} is a deadlock: rank {stuck[0]} is the first of {len(stuck)} blocked, it waits for "
        f"{_awaited(graph, event, posted)}; mend the order of calls"
        + (f", or raise the eager limit of {graph.eager:,.0f} bytes" if _sends(graph, event) else "")
    )


def _sends(graph: ProgramGraph, event: int) -> bool:
    trace = graph.trace
    asked = int(trace.waited[event]) if trace.call[event] == Call.WAIT else event
    return bool(trace.sends[asked])


def _held(graph: ProgramGraph, event: int, posted: np.ndarray, arrived: Whole, members: Whole) -> bool:
    trace, pairs = graph.trace, graph.pairs
    if trace.collective[event]:
        number = pairs.instance[event]
        return bool(arrived[number] < members[number])
    asked = int(trace.waited[event]) if trace.call[event] == Call.WAIT else event
    if trace.call[event] in POSTED or (trace.sends[asked] and trace.size[asked] <= graph.eager):
        return False
    return not posted[pairs.peer[asked]]


def _awaited(graph: ProgramGraph, event: int, posted: np.ndarray) -> str:
    trace, pairs = graph.trace, graph.pairs
    if trace.collective[event]:
        same = np.flatnonzero((pairs.instance == pairs.instance[event]) & ~posted)
        return f"rank {trace.rank[same[0]]} to call it too" + (
            f" (line {trace.line[same[0]]})" if trace.line[same[0]] else ""
        )
    asked = int(trace.waited[event]) if trace.call[event] == Call.WAIT else event
    peer = int(pairs.peer[asked])
    return f"{Call(int(trace.call[peer])).word} of rank {trace.rank[peer]}" + (
        f" (line {trace.line[peer]})" if trace.line[peer] else ""
    )
