"""The chain of tasks that decides when a replayed graph ends."""

import numpy as np
from numpy.typing import NDArray

from volvelle.simulation.tasks import Real, TaskGraph


def critical_chain(graph: TaskGraph, ends: Real) -> NDArray[np.int64]:
    """Tasks of the chain that ends last, the last first; nothing waits between them, so they add up to the time."""
    if not len(graph):
        return np.zeros(0, dtype=np.int64)
    has_next = np.flatnonzero(graph.following >= 0)
    waiting = np.concatenate([np.repeat(np.arange(len(graph)), np.diff(graph.pointers)), graph.following[has_next]])
    before = np.concatenate([graph.predecessors, has_next])
    # Of all that a task waits for, what ends last; of those that end at once, the first.
    order = np.lexsort((-before, ends[before], waiting))
    last = np.full(len(graph), -1, dtype=np.int64)
    last[waiting[order]] = before[order]
    awaited, task, found = last.tolist(), int(np.argmax(ends)), []
    while task >= 0:
        found.append(task)
        task = awaited[task]
    return np.array(found, dtype=np.int64)
