"""When tasks of fixed length end on streams in order: the longest path through their graph.

No queue of events is needed: a stream runs until a predecessor has not ended, hangs itself on that task, and is woken
when it ends. The additions are those of the event queue (`events`), in the same order, so ends are equal to the last
bit.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import GraphError
from volvelle.simulation.compiler import INSTALLED, entry, plain, ready
from volvelle.simulation.tasks import Real, TaskGraph, Whole

WORTH_COMPILING = 2_000_000
"""Tasks from which on it pays to compile first, where that was not done before."""


def pays(function: Callable[..., object], graph: TaskGraph) -> bool:
    """Whether machine code can be had and is worth it: it is there, or so many tasks would take longer without."""
    return INSTALLED and (len(graph) >= WORTH_COMPILING or ready(function))


def replay(graph: TaskGraph, *, compiled: bool | None = None) -> Real:
    """When every task ends, the first starting at zero; by machine code or plain Python (None: as it pays)."""
    count, streams = len(graph), len(graph.names)
    given = (graph.durations, graph.pointers, graph.predecessors, graph.following)
    state = (np.zeros(streams), graph.first.copy(), np.full(streams, -1, np.int32), np.zeros(streams, np.int32))
    if pays(longest_path, graph) if compiled is None else compiled:
        ends = np.full(count, -1.0)
        done = longest_path(*given, ends, np.full(count, -1, np.int32), *state)
    else:
        lists: list[Any] = [*_lists(given), [-1.0] * count, [-1] * count, *_lists(state)]
        done = plain(longest_path)(*lists)
        ends = np.array(lists[len(given)])
    if done < count:
        raise GraphError(f"a deadlock: {graph.blocked(ends)}; check the order of its tasks")
    return ends


def _lists(arrays: Iterable[NDArray[Any]]) -> list[Any]:
    """Python reads lists five times as fast as arrays, one number at a time."""
    return [array.tolist() for array in arrays]


@entry
def longest_path(
    durations: Real,
    pointers: Whole,
    predecessors: Whole,
    following: Whole,
    ends: Real,
    hung: Whole,
    free: Real,
    current: Whole,
    beside: Whole,
    stack: Whole,
) -> int:
    """Fill in `ends`, in which -1 is what has not ended; how many tasks ended.

    `hung` is the first stream that waits for a task and `beside` the next that waits for the same; `free` is when
    a stream has ended what it ran, `current` its next task.
    """
    streams = len(current)
    top = 0
    for stream in range(streams - 1, -1, -1):
        stack[top] = stream
        top += 1
    done = 0
    while top > 0:
        top -= 1
        stream = stack[top]
        task = current[stream]
        time = free[stream]
        while task >= 0:
            start = time
            edge, last = pointers[task], pointers[task + 1]
            while edge < last:  # half the time of a range, where Python itself runs it
                end = ends[predecessors[edge]]
                if end > start:
                    start = end
                elif end < 0.0:
                    break
                edge += 1
            if edge < last:
                waited = predecessors[edge]
                beside[stream] = hung[waited]
                hung[waited] = stream
                break
            time = start + durations[task]
            ends[task] = time
            done += 1
            woken = hung[task]
            while woken >= 0:
                stack[top] = woken
                top += 1
                woken = beside[woken]
            task = following[task]
        current[stream] = task
        free[stream] = time
    return done
