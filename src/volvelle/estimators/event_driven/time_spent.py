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


def busiest_stage(step: StepTasks) -> int:
    """The stage whose compute stream has most to do; of equal ones the first."""
    streams = len(STREAMS)
    busy = np.bincount(step.graph.streams, weights=step.graph.durations, minlength=step.order.stages * streams)
    computing = busy[::streams]
    return int(np.argmax(computing >= computing.max() * (1.0 - 1e-12)))


def idle_time(step: StepTasks, ends: Real, stage: int) -> Idle:
    """When the compute stream of a stage waits: for an exchange, a transfer, another stage's work."""
    graph, length = step.graph, float(ends.max())
    tasks = np.flatnonzero(graph.streams == step.stream(stage))
    before = np.concatenate(([0.0], ends[tasks[:-1]]))
    starts = _starts(step, ends, tasks, before)
    waited = np.flatnonzero(starts > before)
    reason = _reasons(step, ends, tasks[waited])
    lines = tuple(dict.fromkeys([*(label.line for label in step.labels), BUBBLE, HAND_OVER]))
    numbers = {line: place for place, line in enumerate(lines)}
    of_label = np.array([numbers[label.line] for label in step.labels], dtype=np.intp)
    line = of_label[step.label[reason]]
    begin, end = before[waited], starts[waited]
    # A transfer is waited for as long as it runs; what was waited before it began is another stage's work.
    handed = line == numbers[HAND_OVER]
    middle = np.clip(end - graph.durations[reason], begin, end)
    split = handed & (middle > begin)
    idle = (
        np.concatenate((begin[split], np.where(split, middle, begin), [float(ends[tasks[-1]])])),
        np.concatenate((middle[split], end, [length])),
        np.concatenate((np.full(int(split.sum()), numbers[BUBBLE]), line, [numbers[BUBBLE]])),
    )
    order = np.argsort(idle[0], kind="stable")
    return Idle(start=idle[0][order], end=idle[1][order], line=idle[2][order], lines=lines)


def _starts(step: StepTasks, ends: Real, tasks: NDArray[np.intp], before: Real) -> Real:
    """When tasks of one stream began."""
    found = before.copy()
    counts = np.diff(step.graph.pointers)[tasks]
    for place in range(int(counts.max(initial=0))):
        has = counts > place
        edge = step.graph.pointers[tasks[has]] + place
        found[has] = np.maximum(found[has], ends[step.graph.predecessors[edge]])
    return found


def _reasons(step: StepTasks, ends: Real, tasks: NDArray[np.intp]) -> NDArray[np.intp]:
    """The predecessor of each task that ended last."""
    graph = step.graph
    found = np.zeros(len(tasks), dtype=np.intp)
    latest = np.full(len(tasks), -1.0)
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
