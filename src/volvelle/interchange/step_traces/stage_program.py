"""What one rank of a pipeline stage does in a step: computations, collectives and messages, and what each waits for.

Tasks of a replay that take no time and move nothing fall away: what waited for one waits for all that it waited for. A
stream runs in order, so that each node also waits for the one before it on its stream. What other stages hand over is
received, and gathered where chips send a part each, on a stream of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

import numpy as np

from volvelle.estimators.event_driven.estimator import ReplayedStep
from volvelle.estimators.event_driven.moved import Computed, Group, Moved
from volvelle.estimators.event_driven.slot_tasks import STREAMS as OF_REPLAY
from volvelle.estimators.event_driven.slot_tasks import Label
from volvelle.workload.tensor_layout import Collective

STREAMS = (*OF_REPLAY, "pipeline receive")
"""Queues of a rank, each in order."""
RECEIVING = len(OF_REPLAY)


class Kind(Enum):
    """What a node is."""

    COMPUTE = auto()
    COLLECTIVE = auto()
    SEND = auto()
    RECEIVE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One thing that a rank does."""

    number: int
    name: str
    part: str
    """The part of a breakdown that its time is."""
    kind: Kind
    stream: int
    seconds: float
    """Of a receive: none of its own."""
    start: float
    """When it begins in the replay; of a receive, when the message is taken."""
    after: tuple[int, ...]
    computed: Computed | None = None
    """Of a kernel; None: it is no kernel of a block."""
    collective: Collective | None = None
    size: float = 0.0
    """Bytes, as the law of the collective counts them."""
    group: Group | None = None
    stage: int = -1
    """Of a message: the other end's."""
    tag: int = -1
    """Of a message: the same at both ends, and no other has it."""
    transit: float = 0.0
    """Of a message: seconds on its way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageProgram:
    """Of every rank of a stage, which differ in their groups alone."""

    stage: int
    ranks: range
    nodes: tuple[Node, ...]

    def peer(self, rank: int, node: Node) -> int:
        """The rank at the other end of a message."""
        return rank + (node.stage - self.stage) * len(self.ranks)


def stage_programs(replayed: ReplayedStep) -> Iterator[StageProgram]:
    """Stage by stage."""
    messages = _Messages(replayed)
    graph = replayed.step.graph
    stages = graph.streams // len(OF_REPLAY)
    for stage in range(replayed.step.order.stages):
        ranks = range(stage * messages.apart, (stage + 1) * messages.apart)
        nodes = _Nodes(replayed, messages, stage).of(np.flatnonzero(stages == stage))
        yield StageProgram(stage=stage, ranks=ranks, nodes=nodes)


class _Messages:
    """Which task sends to which stage, and which receives."""

    def __init__(self, replayed: ReplayedStep) -> None:
        step, slots = replayed.step, replayed.step.slots
        handed = np.flatnonzero(slots.received >= 0)
        senders = slots.received[handed]
        sources = step.graph.streams[senders] // len(OF_REPLAY)
        self.to = dict(
            zip(senders.tolist(), zip(slots.stage[handed].tolist(), handed.tolist(), strict=True), strict=True)
        )
        """Sending task → stage of the receiver, tag."""
        self.at = {
            first: (source, slot, step.labels[step.label[sender]])
            for first, source, slot, sender in zip(
                slots.first[handed].tolist(), sources.tolist(), handed.tolist(), senders.tolist(), strict=True
            )
        }
        """Task that waits for a message → stage of the sender, tag, what was sent."""
        self.apart = replayed.mapping.chips // replayed.mapping.pipeline


class _Nodes:
    """Turns the tasks of one stage into nodes."""

    def __init__(self, replayed: ReplayedStep, messages: _Messages, stage: int) -> None:
        self.step, self.starts, self.ends = replayed.step, replayed.starts, replayed.ends
        self.messages = messages
        self.stage = stage
        self.nodes: list[Node] = []
        self.behind: dict[int, tuple[int, ...]] = {}
        """Task → the nodes after which it has ended."""
        self.last: dict[int, tuple[int, ...]] = {}
        """Stream → the same of its last task."""

    def of(self, tasks: "np.typing.NDArray[np.intp]") -> tuple[Node, ...]:
        graph, streams = self.step.graph, len(OF_REPLAY)
        first = int(tasks[0]) if tasks.size else 0
        for task in tasks.tolist():
            stream = int(graph.streams[task]) % streams
            waits = list(self.last.get(stream, ()))
            for before in graph.predecessors[graph.pointers[task] : graph.pointers[task + 1]].tolist():
                if before >= first:
                    waits += self.behind.get(before, ())
            if task in self.messages.at:
                waits += self._received(task)
            after = tuple(dict.fromkeys(waits))
            label = self.step.labels[self.step.label[task]]
            if graph.durations[task] > 0.0:
                after = self._done(task, stream, label, after)
            self.behind[task] = self.last[stream] = after
        return tuple(self.nodes)

    def _received(self, task: int) -> tuple[int, ...]:
        source, tag, label = self.messages.at[task]
        after = self.last.get(RECEIVING, ())
        start = float(self.ends[task])
        for moved in label.moves:
            if moved.collective is None:
                found = Node(
                    number=len(self.nodes),
                    name="receive",
                    part=label.line.part,
                    kind=Kind.RECEIVE,
                    stream=RECEIVING,
                    seconds=0.0,
                    start=start,
                    after=after,
                    size=moved.size,
                    group=moved.group,
                    stage=source,
                    tag=tag,
                    transit=moved.seconds,
                )
            else:
                found = self._moved(label, moved, RECEIVING, start, after)
            self.nodes.append(found)
            after = self.last[RECEIVING] = (found.number,)
        return after

    def _done(self, task: int, stream: int, label: Label, after: tuple[int, ...]) -> tuple[int, ...]:
        start = float(self.starts[task])
        if not label.moves:
            found = Node(
                number=len(self.nodes),
                name=label.name,
                part=label.line.part,
                kind=Kind.COMPUTE,
                stream=stream,
                seconds=float(self.step.graph.durations[task]),
                start=start,
                after=after,
                computed=label.computed,
            )
            self.nodes.append(found)
            return (found.number,)
        stage, tag = self.messages.to.get(task, (-1, -1))
        for moved in label.moves:
            if stage >= 0 and moved.collective is not None:
                continue  # the receiver's
            found = self._moved(label, moved, stream, start, after)
            if stage >= 0:
                found = replace(found, kind=Kind.SEND, stage=stage, tag=tag, transit=moved.seconds)
            self.nodes.append(found)
            after, start = (found.number,), start + moved.seconds
        return after

    def _moved(self, label: Label, moved: Moved, stream: int, start: float, after: tuple[int, ...]) -> Node:
        return Node(
            number=len(self.nodes),
            name=label.name,
            part=label.line.part,
            kind=Kind.COLLECTIVE,
            stream=stream,
            seconds=moved.seconds,
            start=start,
            after=after,
            collective=moved.collective,
            size=moved.size,
            group=moved.group,
        )
