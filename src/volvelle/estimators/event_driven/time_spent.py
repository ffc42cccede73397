"""Where the time of a replayed step went: the compute stream of the stage with most work, and what it waited for.

Its busy time by contribution, and its idle intervals, each charged to what ended last before it, are the step's length
by construction.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.event_driven.slot_tasks import STREAMS
from volvelle.estimators.event_driven.step_tasks import StepTasks
from volvelle.estimators.training.lines import BUBBLE, HAND_OVER, Line
from volvelle.simulation.tasks import Real


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """Intervals in which a compute stream waits, each with what for."""

    start: Real
    end: Real
    line: NDArray[np.intp]
    """Its contribution, by its place in `lines`."""
    lines: tuple[Line, ...]

    def time(self) -> dict[Line, float]:
        """Seconds by contribution."""
        spent = np.bincount(self.line, weights=self.end - self.start, minlength=len(self.lines))
        return {line: float(seconds) for line, seconds in zip(self.lines, spent, strict=True) if seconds > 0.0}


def busiest_stage(step: StepTasks, ran: Real) -> int:
    """The stage whose compute stream runs longest, as tasks ran; of equal ones the first."""
    streams = len(STREAMS)
    busy = np.bincount(step.graph.streams, weights=ran, minlength=step.order.stages * streams)
    computing = busy[::streams]
    return int(np.argmax(computing >= computing.max() * (1.0 - 1e-9)))


def idle_time(step: StepTasks, ends: Real, stage: int) -> Idle:
    """When the compute stream of a stage waits: for an exchange, a transfer, another stage's work.

    What is waited for is charged as long as it runs; the wait before it began to what that waited for in turn.
    """
    graph, length = step.graph, float(ends.max())
    tasks = np.flatnonzero(graph.streams == step.stream(stage))
    before = np.concatenate(([0.0], ends[tasks[:-1]]))
    begun = graph.starts(ends)
    waited = np.flatnonzero(begun[tasks] > before)
    lines = tuple(dict.fromkeys([*(label.line for label in step.labels), BUBBLE, HAND_OVER]))
    numbers = {line: place for place, line in enumerate(lines)}
    of_label = np.array([numbers[label.line] for label in step.labels], dtype=np.intp)
    found = [(np.array([float(ends[tasks[-1]])]), np.array([length]), np.array([numbers[BUBBLE]]))]
    begin, end, reason = before[waited], begun[tasks[waited]], _reasons(step, ends, tasks[waited])
    while len(reason):
        line = of_label[step.label[reason]]
        middle = np.clip(begun[reason], begin, end)
        found.append((middle, end, line))
        # What a stage does before it hands over is its work, and whatever it waits for: a bubble here.
        left = middle > begin
        handed = left & ((line == numbers[HAND_OVER]) | (line == numbers[BUBBLE]))
        found.append((begin[handed], middle[handed], np.full(int(handed.sum()), numbers[BUBBLE])))
        left &= ~handed
        begin, end, reason = begin[left], middle[left], _reasons(step, ends, reason[left])
    start, stop, line = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(start, kind="stable")
    return Idle(start=start[order], end=stop[order], line=line[order].astype(np.intp), lines=lines)


def _reasons(step: StepTasks, ends: Real, tasks: NDArray[np.intp]) -> NDArray[np.intp]:
    """What each task waited for that ended last: a predecessor, or the task before it on its stream."""
    graph = step.graph
    found = step.earlier[tasks].astype(np.intp)
    latest = np.where(found >= 0, ends[found], -1.0)
    counts = np.diff(graph.pointers)[tasks]
    for place in range(int(counts.max(initial=0))):
        has = np.flatnonzero(counts > place)
        other = graph.predecessors[graph.pointers[tasks[has]] + place]
        later = ends[other] > latest[has]
        latest[has[later]], found[has[later]] = ends[other[later]], other[later]
    return found


def time_spent(step: StepTasks, starts: Real, ends: Real, stage: int) -> dict[Line, float]:
    """Seconds of a step by contribution: exposed on the compute stream of a stage, and hidden behind it."""
    first = step.stream(stage)
    streams = step.graph.streams - first
    own = (streams >= 0) & (streams < len(STREAMS))

    def by_line(chosen: NDArray[np.bool_]) -> dict[Line, float]:
        ran = ends[chosen] - starts[chosen]
        spent = np.bincount(step.label[chosen], weights=ran, minlength=len(step.labels))
        sums: dict[Line, float] = {}
        for label, seconds in zip(step.labels, spent, strict=True):
            if seconds > 0.0:
                sums[label.line] = sums.get(label.line, 0.0) + float(seconds)
        return sums

    found = by_line(own & (streams == 0))
    waited = idle_time(step, ends, stage).time()
    for line, seconds in waited.items():
        found[line] = found.get(line, 0.0) + seconds
    for line, seconds in by_line(own & (streams > 0)).items():
        hidden = seconds - waited.get(line, 0.0)
        if hidden > 1e-12 * seconds:
            found[replace(line, exposed=False)] = hidden
    return found
