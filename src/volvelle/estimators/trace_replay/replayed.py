"""A trace on another machine: every operation timed again, then all replayed in order.

What is understood takes the law's time there: as measured, times the law there over the law here, where it is known on
which machine the trace was recorded; by the law alone, where it is not. What is not understood, and what the host does,
takes what was measured.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

import numpy as np

from volvelle.estimators.trace_replay.communication_times import CommunicationTimes
from volvelle.estimators.trace_replay.measured_factors import MeasuredFactors, shortest_operation
from volvelle.estimators.trace_replay.operation_times import Bound, OperationTimes, TimedWork
from volvelle.simulation.replay import replay
from volvelle.simulation.tasks import Real, TaskGraph
from volvelle.system.cluster import Cluster
from volvelle.workload.trace.values import Operation, Place, Trace

_READS_BACK = ("_local_scalar_dense", "aten::item", "aten::is_nonzero")
"""Operations in which the host waits for a value of the device."""
BETWEEN = "between operations"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replayed:
    """When every operation of a trace ends, and what its time is made of."""

    trace: Trace
    timed: tuple[TimedWork, ...]
    """An entry an operation."""
    graph: TaskGraph
    tasks: tuple[int, ...]
    """The operation of every task of the graph; what the host does to start operation n is ~n."""
    ends: Real
    beside: float = 0.0
    """Seconds of the host in every operation that a profile scales."""
    notes: tuple[str, ...] = ()

    @property
    def time(self) -> float:
        """Seconds from the first start to the last end."""
        return float(self.ends.max(initial=0.0))


def replayed(
    trace: Trace,
    on: Cluster | None = None,
    *,
    source: Cluster | None = None,
    profile: Trace | None = None,
    element: str | None = None,
    group: int | None = None,
    gaps: bool = True,
) -> Replayed:
    """The trace on a machine; as measured where none is named.

    `source` is the machine on which the trace was recorded, `profile` a measured trace of it whose operations say how
    far from the law those of this one are, `group` the ranks of exchanges that do not say, `gaps` whether time between
    operations counts.
    """
    notes: list[str] = []
    times, beside = _times(trace, on, source, profile, element, group)
    timed = tuple(times(operation) for operation in trace.operations)
    if not gaps:
        timed = tuple(
            TimedWork(0.0, Bound.HOST) if operation.name == BETWEEN else one
            for operation, one in zip(trace.operations, timed, strict=True)
        )
    apart = trace.host_work and on is not None and on.chip.units is not None
    if apart:
        notes.append("operations run on a stream of the device, which the host feeds without waiting")
    graph, tasks = _apart(trace, timed, on) if apart and on is not None else _together(trace, timed)
    ends = replay(graph)
    return Replayed(trace=trace, timed=timed, graph=graph, tasks=tasks, ends=ends, beside=beside, notes=tuple(notes))


Timing = Callable[[Operation], TimedWork]
"""What an operation takes."""


def _times(
    trace: Trace,
    on: Cluster | None,
    source: Cluster | None,
    profile: Trace | None,
    element: str | None,
    group: int | None,
) -> tuple[Timing, float]:
    """What operations take, and seconds of the host that are in those which a profile scales."""
    if on is None:
        return _as_measured, 0.0
    shortest = shortest_operation(profile or trace) if source is not None else 0.0
    there = OperationTimes(on, element=element, least_launch=shortest)
    here = None if source is None else OperationTimes(source, least_launch=shortest)
    exchanges = CommunicationTimes(on, group=group)
    factors = None if profile is None or here is None else MeasuredFactors(profile, here)

    def timed(operation: Operation) -> TimedWork:
        if operation.communication is not None:
            return TimedWork(exchanges(operation.communication), Bound.NETWORK)
        if operation.place is not Place.DEVICE or operation.work is None:
            return _as_measured(operation)
        law = there(operation.work)
        if law is None:
            return _as_measured(operation)
        seconds, scaled = law.seconds * operation.share, False
        base = None if here is None else here(operation.work)
        if base is not None and operation.seconds is not None:
            if base.seconds * operation.share > 0.0:
                seconds, scaled = operation.seconds * (seconds / (base.seconds * operation.share)), True
        elif base is not None and factors is not None:
            factor = factors(operation.name, base.seconds)
            seconds, scaled = seconds * (1.0 if factor is None else factor) + factors.host_time, factor is not None
        return TimedWork(seconds if isfinite(seconds) else 0.0, law.bound, scaled)

    return timed, 0.0 if factors is None else factors.host_time


def _as_measured(operation: Operation) -> TimedWork:
    if operation.place is not Place.DEVICE:
        return TimedWork(operation.seconds or 0.0, Bound.HOST)
    if operation.seconds is None:
        return TimedWork(0.0, Bound.UNKNOWN)
    return TimedWork(operation.seconds, Bound.MEASURED)


def _together(trace: Trace, timed: tuple[TimedWork, ...]) -> tuple[TaskGraph, tuple[int, ...]]:
    """Streams as the trace has them."""
    counts = [len(operation.after) for operation in trace.operations]
    graph = TaskGraph(
        durations=np.fromiter((one.seconds for one in timed), np.float64, len(timed)),
        streams=np.fromiter((operation.stream for operation in trace.operations), np.int32, len(timed)),
        pointers=np.cumsum([0, *counts], dtype=np.int32),
        predecessors=np.fromiter(
            (other for operation in trace.operations for other in operation.after), np.int32, sum(counts)
        ),
        names=trace.streams,
    )
    return graph, tuple(range(len(timed)))


def _apart(trace: Trace, timed: tuple[TimedWork, ...], on: Cluster) -> tuple[TaskGraph, tuple[int, ...]]:
    """What threads computed goes to a device, one behind the other; threads prepare it, and wait where they read."""
    dispatch = float(OperationTimes(on).rates(next(iter(on.chip.matrix_rates))).host_dispatch_time)
    durations: list[float] = []
    streams: list[int] = []
    after: list[list[int]] = []
    tasks: list[int] = []
    device, network = len(trace.streams), len(trace.streams) + 1
    task_of: list[int] = []
    last = -1

    def add(number: int, seconds: float, stream: int, before: list[int]) -> int:
        tasks.append(number)
        durations.append(seconds)
        streams.append(stream)
        after.append(before)
        return len(durations) - 1

    for number, (operation, one) in enumerate(zip(trace.operations, timed, strict=True)):
        before = [task_of[other] for other in operation.after]
        if operation.place is not Place.DEVICE or one.bound in (Bound.HOST, Bound.MEASURED):
            if last >= 0 and operation.name in _READS_BACK:
                before.append(last)
            task_of.append(add(number, one.seconds, operation.stream, before))
            continue
        launch = add(~number, dispatch, operation.stream, before)
        if operation.communication is not None:
            task_of.append(add(number, one.seconds, network, [launch, *([last] if last >= 0 else [])]))
        else:
            # Threads of the host do not wait for it, but what waited for it on a thread does.
            last = add(number, one.seconds, device, [launch, *(task for task in before if streams[task] == network)])
            task_of.append(launch)
    return TaskGraph.of(durations, streams, after, names=(*trace.streams, "device", "network")), tuple(tasks)
