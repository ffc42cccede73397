"""Tasks on streams in order whose speed depends on what else runs: an event queue.

A task may use a resource. Those that take a stated share of it run at full speed; what they leave is divided equally
among the others, which slow down with it: kernels while communication takes part of the chip's units, transfers that
share a host link. A resource may also change with time: a chip that throttles, a link that degrades. Where nothing is
shared, ends are equal to those of `replay`, to the last bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from volvelle.errors import GraphError
from volvelle.simulation.compiler import compiled as machine_code
from volvelle.simulation.compiler import entry, plain
from volvelle.simulation.replay import pays
from volvelle.simulation.tasks import Real, TaskGraph, Whole


@dataclass(frozen=True, kw_only=True, eq=False)
class Shared:
    """What tasks use together."""

    resources: Whole
    """Task → the resource it uses; -1: none."""
    shares: Real
    """Task → the share of it that it takes at full speed; 0: it runs with what is left."""
    changes: Sequence[tuple[float, int, float]] = ()
    """When a resource changes, which one, and what is left of it (1: all)."""

    def checked(self, graph: TaskGraph) -> "Shared":
        """Itself, if it goes with a graph."""
        if not len(self.resources) == len(self.shares) == len(graph):
            raise GraphError(
                f"{len(self.resources)} resources and {len(self.shares)} shares for {len(graph)} tasks; give one each"
            )
        bad = np.flatnonzero(~((self.shares >= 0.0) & (self.shares <= 1.0)))
        if bad.size:
            raise GraphError(f"task {bad[0]} takes {self.shares[bad[0]]} of a resource; give a share from 0 to 1")
        for time, resource, left in self.changes:
            if not (time >= 0.0 and left >= 0.0 and resource >= 0):
                raise GraphError(
                    f"at {time} s resource {resource} changes to {left}; give a time, a number and a share, "
                    "none of them negative"
                )
        return self


def event_queue(graph: TaskGraph, shared: Shared | None = None, *, compiled: bool | None = None) -> Real:
    """When every task ends, the first starting at zero; ties are broken by the numbers of tasks.

    By machine code or plain Python (None: as it pays).
    """
    count, streams = len(graph), len(graph.names)
    used = shared.checked(graph) if shared else Shared(resources=np.full(1, -1, dtype=np.int32), shares=np.zeros(1))
    changes = sorted(used.changes)
    resources = int(max(used.resources.max(initial=-1), *(change[1] for change in changes), -1)) + 1
    ends = np.full(count, -1.0)

    def none(size: int) -> Whole:
        return np.full(size, -1, dtype=np.int32)

    arrays: tuple[Any, ...] = (
        *(graph.durations, graph.pointers, graph.predecessors, graph.following, ends),
        *(used.resources, used.shares),
        *(np.array([change[place] for change in changes], dtype=np.float64) for place in range(3)),
        *(none(count), graph.first.copy(), none(streams)),
        *(none(streams), np.zeros(streams, dtype=np.int32), np.zeros(streams, dtype=np.int32)),
        *(np.zeros(streams), np.zeros(streams), np.zeros(streams), np.zeros(streams)),
        *(np.ones(resources), np.zeros(resources), np.zeros(resources, dtype=np.int32)),
        np.zeros(streams, dtype=np.int32),
    )
    if pays(run, graph) if compiled is None else compiled:
        done = run(shared is not None, *arrays)
    else:
        lists = [array.tolist() for array in arrays]
        done = plain(run)(shared is not None, *lists)
        ends = np.array(lists[4])
    if done < count:
        raise GraphError(f"a deadlock: {graph.blocked(ends)}; check the order of its tasks")
    return ends


@machine_code
def _sooner(one: int, other: int, due: Real, running: Whole) -> bool:
    return bool(due[one] < due[other] or (due[one] == due[other] and running[one] < running[other]))


@machine_code
def _rise(place: int, heap: Whole, places: Whole, due: Real, running: Whole) -> None:
    stream = heap[place]
    while place > 0:
        above = (place - 1) >> 1
        if not _sooner(stream, heap[above], due, running):
            break
        heap[place] = heap[above]
        places[heap[place]] = place
        place = above
    heap[place] = stream
    places[stream] = place


@machine_code
def _sink(place: int, size: int, heap: Whole, places: Whole, due: Real, running: Whole) -> None:
    stream = heap[place]
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and _sooner(heap[below + 1], heap[below], due, running):
            below += 1
        if not _sooner(heap[below], stream, due, running):
            break
        heap[place] = heap[below]
        places[heap[place]] = place
        place = below
    heap[place] = stream
    places[stream] = place


@machine_code
def _paced(
    resource: int,
    now: float,
    size: int,
    resources: Whole,
    shares: Real,
    running: Whole,
    heap: Whole,
    places: Whole,
    due: Real,
    left: Real,
    since: Real,
    speeds: Real,
    whole: Real,
    taken: Real,
    others: Whole,
) -> None:
    """Give every task that runs with what is left of a resource its new speed."""
    speed = max(whole[resource] - taken[resource], 0.0) / max(others[resource], 1)
    speed = min(speed, 1.0)
    for stream in range(len(running)):
        task = running[stream]
        if task < 0 or resources[task] != resource or shares[task] > 0.0 or speeds[stream] == speed:
            continue
        left[stream] = max(left[stream] - (now - since[stream]) * speeds[stream], 0.0)
        since[stream] = now
        speeds[stream] = speed
        due[stream] = now + left[stream] / speed if speed > 0.0 else inf
        _rise(places[stream], heap, places, due, running)
        _sink(places[stream], size, heap, places, due, running)


@machine_code
def _use(resource: int, share: float, sign: int, taken: Real, others: Whole) -> None:
    """A task begins to use a resource, or ends."""
    if share > 0.0:
        taken[resource] += sign * share
    else:
        others[resource] += sign


@entry
def run(  # noqa: PLR0915 - one loop, whose parts are too small to be worth their arguments
    sharing: bool,
    durations: Real,
    pointers: Whole,
    predecessors: Whole,
    following: Whole,
    ends: Real,
    resources: Whole,
    shares: Real,
    change_times: Real,
    change_resources: Real,
    change_values: Real,
    hung: Whole,
    current: Whole,
    beside: Whole,
    running: Whole,
    heap: Whole,
    places: Whole,
    due: Real,
    left: Real,
    since: Real,
    speeds: Real,
    whole: Real,
    taken: Real,
    others: Whole,
    stack: Whole,
) -> int:
    """Fill in `ends`, in which -1 is what has not ended; how many tasks ended.

    `heap` has the streams that run something, soonest end first. See `replay.longest_path` for `hung` and `beside`.
    """
    size, done, now, change = 0, 0, 0.0, 0
    top = 0
    for stream in range(len(current) - 1, -1, -1):
        stack[top] = stream
        top += 1
    while True:
        while top > 0:  # streams that may be able to start their next task
            top -= 1
            stream = stack[top]
            task = current[stream]
            if task < 0:
                continue
            edge, last = pointers[task], pointers[task + 1]
            while edge < last and ends[predecessors[edge]] >= 0.0:
                edge += 1
            if edge < last:
                waited = predecessors[edge]
                beside[stream] = hung[waited]
                hung[waited] = stream
                continue
            running[stream] = task
            due[stream] = now + durations[task]
            heap[size] = stream
            size += 1
            _rise(size - 1, heap, places, due, running)
            if sharing and resources[task] >= 0:
                resource = resources[task]
                left[stream], since[stream], speeds[stream] = durations[task], now, 1.0
                _use(resource, shares[task], 1, taken, others)
                _paced(
                    resource, now, size, resources, shares, running, heap, places, due, left, since, speeds, whole,
                    taken, others,
                )  # fmt: skip
        if change < len(change_times) and (size == 0 or change_times[change] < due[heap[0]]):
            if size == 0 and done == len(durations):
                break
            now = change_times[change]
            resource = int(change_resources[change])
            whole[resource] = change_values[change]
            change += 1
            _paced(
                resource, now, size, resources, shares, running, heap, places, due, left, since, speeds, whole, taken,
                others,
            )  # fmt: skip
            continue
        if size == 0 or due[heap[0]] == inf:
            break
        stream = heap[0]
        task = running[stream]
        now = due[stream]
        size -= 1
        if size > 0:
            heap[0] = heap[size]
            places[heap[0]] = 0
            _sink(0, size, heap, places, due, running)
        ends[task] = now
        done += 1
        running[stream] = -1
        current[stream] = following[task]
        if sharing and resources[task] >= 0:
            resource = resources[task]
            _use(resource, shares[task], -1, taken, others)
            _paced(
                resource, now, size, resources, shares, running, heap, places, due, left, since, speeds, whole, taken,
                others,
            )  # fmt: skip
        woken = hung[task]
        while woken >= 0:
            stack[top] = woken
            top += 1
            woken = beside[woken]
        stack[top] = stream
        top += 1
    return done
