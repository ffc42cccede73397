"""Tasks that run on streams in order: flat arrays, a few bytes a task.

A stream is a queue of a device: it runs its tasks one after another, in the order of their numbers. A task starts when
the one before it on its stream and all its predecessors have ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import GraphError

Real = NDArray[np.float64]
Whole = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskGraph:
    """What runs where, for how long, and after what."""

    durations: Real
    """Seconds of every task."""
    streams: Whole
    """The stream that each runs on."""
    pointers: Whole
    """Where each task's predecessors begin in `predecessors`; one more than there are tasks."""
    predecessors: Whole
    names: tuple[str, ...]
    """Of the streams."""

    def __post_init__(self) -> None:
        tasks, streams = len(self.durations), len(self.names)
        bad = np.flatnonzero(~(self.durations >= 0.0))
        if bad.size:
            raise GraphError(
                f"task {bad[0]} takes {self.durations[bad[0]]} seconds; give every task a time of zero or more"
            )
        bad = np.flatnonzero((self.streams < 0) | (self.streams >= streams))
        if bad.size:
            raise GraphError(
                f"task {bad[0]} is on stream {self.streams[bad[0]]}; there are {streams}, numbered from zero"
            )
        bad = np.flatnonzero((self.predecessors < 0) | (self.predecessors >= tasks))
        if bad.size:
            task = int(np.searchsorted(self.pointers, bad[0], side="right")) - 1
            raise GraphError(
                f"task {task} waits for task {self.predecessors[bad[0]]}; there are {tasks}, numbered from zero"
            )

    @classmethod
    def of(
        cls,
        durations: Sequence[float],
        streams: Sequence[int],
        predecessors: Sequence[Sequence[int]],
        *,
        names: Sequence[str] = (),
    ) -> "TaskGraph":
        """From lists, an entry a task; streams that are not named get their numbers as names."""
        if not len(durations) == len(streams) == len(predecessors):
            raise GraphError(
                f"{len(durations)} durations, {len(streams)} streams and {len(predecessors)} lists of predecessors; "
                "give one of each for every task"
            )
        count = max((stream + 1 for stream in streams), default=0)
        return cls(
            durations=np.array(durations, dtype=np.float64),
            streams=np.array(streams, dtype=np.int32),
            pointers=np.cumsum([0, *map(len, predecessors)], dtype=np.int32),
            predecessors=np.array([task for some in predecessors for task in some], dtype=np.int32),
            names=tuple(names) or tuple(str(number) for number in range(count)),
        )

    def __len__(self) -> int:
        return len(self.durations)

    @cached_property
    def following(self) -> Whole:
        """The next task on the stream of each; -1: there is none."""
        found = np.full(len(self), -1, dtype=np.int32)
        order = self._by_stream
        same = self.streams[order[1:]] == self.streams[order[:-1]]
        found[order[:-1][same]] = order[1:][same]
        return found

    @cached_property
    def first(self) -> Whole:
        """The first task of every stream; -1: it has none."""
        found = np.full(len(self.names), -1, dtype=np.int32)
        order = self._by_stream
        streams, places = np.unique(self.streams[order], return_index=True)
        found[streams] = order[places]
        return found

    @property
    def _by_stream(self) -> Whole:
        return np.argsort(self.streams, kind="stable").astype(np.int32)

    @property
    def bytes_per_task(self) -> float:
        """What a replay holds, its ends among it."""
        held = (self.durations, self.streams, self.pointers, self.predecessors, self.following)
        ends, hung = 8, 4
        return sum(array.nbytes for array in held) / max(len(self), 1) + ends + hung

    def starts(self, ends: Real) -> Real:
        """When every task began, from when all ended: the end of the last it waited for."""
        found = np.zeros(len(self))
        has_next = self.following >= 0
        found[self.following[has_next]] = ends[has_next]
        waits = np.diff(self.pointers) > 0
        if np.any(waits):
            latest = np.maximum.reduceat(ends[self.predecessors], self.pointers[:-1][waits])
            found[waits] = np.maximum(found[waits], latest)
        return found

    def blocked(self, ends: Real) -> str:
        """Which stream is the first that cannot go on, and what it waits for, where tasks are left undone."""
        undone = ends < 0.0
        for stream, name in enumerate(self.names):
            tasks = np.flatnonzero((self.streams == stream) & undone)
            if tasks.size:
                task = int(tasks[0])
                before = self.predecessors[self.pointers[task] : self.pointers[task + 1]]
                if not undone[before].any():
                    return f"stream {name!r} is blocked: what its task {task} runs on is gone for good"
                waited = int(before[undone[before]][0])
                where = self.names[self.streams[waited]]
                return f"stream {name!r} is blocked: its task {task} waits for task {waited} of stream {where!r}"
        return ""
