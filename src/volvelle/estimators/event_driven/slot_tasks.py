"""Tasks of one slot: what a piece of a stage does with a micro-batch, kernel by kernel, on the streams of a rank."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from volvelle.estimators.event_driven.block_steps import How, Step
from volvelle.estimators.event_driven.moved import Computed, Group, Moved
from volvelle.estimators.training.lines import BUBBLE, GRADIENTS, HAND_OVER, HOST, Line
from volvelle.mapping.axes import CUTTING, Axis
from volvelle.workload.tensor_layout import Collective

_FIRST_AXIS = 1


class Stream(IntEnum):
    """Queues of a rank beside those of its axes, counted from the end."""

    SEND = 0
    REPLICAS = 1
    HOST = 2


COMPUTE = 0
STREAMS: tuple[str, ...] = (
    "compute",
    *(axis.communication for axis in CUTTING),
    "pipeline send",
    "data-parallel communication",
    "host link",
)
"""Queues of a rank, each in order."""


def of_axis(axis: Axis) -> int:
    """The stream of an axis's exchanges."""
    return _FIRST_AXIS + CUTTING.index(axis)


def beside(stream: Stream) -> int:
    """The number of a stream that is no axis's."""
    return _FIRST_AXIS + len(CUTTING) + int(stream)


@dataclass(frozen=True, slots=True)
class Label:
    """What a task is called, which contribution it is part of, and what it moves between chips."""

    name: str
    line: Line
    moves: tuple[Moved, ...] = ()
    """One after another; nothing where it computes, waits, or streams from the host."""
    computed: Computed | None = None
    """Of a kernel."""

    @property
    def seconds(self) -> float:
        """Of all that it moves."""
        return sum(moved.seconds for moved in self.moves)


ARRIVAL = Label("received", BUBBLE)
"""Waits for what another stage hands over."""
BEGIN = Label("begun", BUBBLE)
"""Waits for nothing but its turn."""
JOIN = Label("all done", BUBBLE)
STREAMED = Label("host transfer", HOST)


def sent(moves: Iterable[Moved]) -> Label:
    """What is handed to the next stage."""
    return _moving("send to the next stage", HAND_OVER, moves)


def reduced(moves: Iterable[Moved]) -> Label:
    """Gradients, summed among replicas."""
    return _moving("gradient reduction", GRADIENTS, moves)


def gathered(moves: Iterable[Moved]) -> Label:
    """Weights, gathered from replicas."""
    return _moving("weight all-gather", GRADIENTS, moves)


def _moving(name: str, line: Line, moves: Iterable[Moved]) -> Label:
    """With all that the same ranks exchange alike as one."""
    together: dict[tuple[Collective | None, Group], Moved] = {}
    for moved in moves:
        if moved.seconds > 0.0:
            before = together.get((moved.collective, moved.group))
            together[moved.collective, moved.group] = moved if before is None else before.with_more(moved)
    return Label(name, line, tuple(together.values()))


@dataclass(slots=True)
class SlotTasks:
    """Tasks put one after another; places of others are counted from the first of the slot."""

    labels: list[Label] = field(default_factory=list)
    streams: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    after: list[tuple[int, ...]] = field(default_factory=list)
    last: int = -1
    """The last task on the compute stream."""
    before_last: int = -1
    """What that one began after."""
    before_core: int = -1
    """What the attention core began after."""
    in_core: bool = False
    waits: list[int] = field(default_factory=list)
    """What the next kernel waits for."""
    core_waits: list[int] = field(default_factory=list)
    """What the next kernel waits for that is not of the attention core."""
    gather_waits: list[int] = field(default_factory=list)
    """What the next kernel waits for that reads what is gathered again."""
    block_waits: list[int] = field(default_factory=list)
    """What the next block waits for."""

    def __len__(self) -> int:
        return len(self.labels)

    def add(self, label: Label, stream: int, seconds: float, after: Iterable[int] = ()) -> int:
        """A task; its place."""
        self.labels.append(label)
        self.streams.append(stream)
        self.seconds.append(seconds)
        self.after.append(tuple(dict.fromkeys(place for place in after if place >= 0)))
        return len(self.labels) - 1

    def compute(self, label: Label, seconds: float, *, core: bool = False, gathered: bool = False) -> int:
        """A task on the compute stream, behind all that it has to wait for."""
        waits, self.waits = self.waits, []
        if gathered:
            waits += self.gather_waits
            self.gather_waits = []
        if core:
            if not self.in_core:
                self.before_core = self.last
        else:
            waits += self.core_waits
            self.core_waits = []
        self.in_core = core
        self.before_last = self.last
        self.last = self.add(label, COMPUTE, seconds, waits)
        return self.last

    def joined(self) -> int:
        """The task after which all that was begun has ended."""
        self.waits += self.core_waits + self.gather_waits + self.block_waits
        self.core_waits, self.gather_waits, self.block_waits = [], [], []
        if self.waits or self.last < 0:
            self.compute(JOIN, 0.0)
        return self.last

    def block(self, steps: Sequence[Step], labels: Sequence[Label]) -> None:
        """One repetition of a block."""
        began = self.last
        self.waits += self.block_waits
        self.block_waits = []
        for step, label in zip(steps, labels, strict=True):
            if step.axis is None:
                core, gathered = (step.how is how for how in (How.CORE_KERNEL, How.GATHERED_KERNEL))
                self.compute(label, step.seconds, core=core, gathered=gathered)
                continue
            if step.how is How.BLOCKING:
                after, waiting = [self.last, *self.waits, *self.core_waits], self.waits
            elif step.how is How.BEHIND_KERNEL:
                after, waiting = [self.before_last], self.gather_waits
            elif step.how is How.BEHIND_CORE:
                after, waiting = [self.last], self.core_waits
            elif step.how is How.MADE_BY_CORE:
                after, waiting = [self.before_core], self.core_waits
            else:
                after, waiting = [began], self.block_waits
            waiting.append(self.add(label, of_axis(step.axis), step.seconds, after))
