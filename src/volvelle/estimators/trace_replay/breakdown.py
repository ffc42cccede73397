"""Where a replayed trace's time goes: the chain of tasks that ends last, and sums by operation and by stream."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from volvelle.estimators.trace_replay.operation_times import Bound
from volvelle.estimators.trace_replay.replayed import BETWEEN, Replayed
from volvelle.simulation.critical import critical_chain
from volvelle.workload.trace.values import Operation, Place

DISPATCH = "host dispatch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Seconds of the replayed time that go to one kind of operation."""

    kind: str
    time: float
    bounds: dict[str, float]
    """Seconds by what binds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationSum:
    """All operations of one name that are bound by the same."""

    name: str
    kind: str
    bound: str
    count: int
    time: float
    """Seconds on the machine."""
    measured: float | None
    """Seconds as measured."""
    understood: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamUse:
    """How long a stream works."""

    name: str
    operations: int
    busy: float


def kind_of(operation: Operation) -> str:
    """In a word or two: what sort of operation it is."""
    if operation.communication is not None:
        return operation.communication.collective.value
    if operation.place is not Place.DEVICE:
        return BETWEEN if operation.name == BETWEEN else "host"
    if operation.work is None:
        return "not understood"
    return operation.work.kind


def critical_parts(found: Replayed) -> tuple[Part, ...]:
    """The chain of tasks that decides the end, by kind; the parts add up to the time."""
    sums: dict[str, float] = defaultdict(float)
    bounds: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for task in critical_chain(found.graph, found.ends).tolist():
        number, seconds = found.tasks[task], float(found.graph.durations[task])
        kind, bound = (
            (DISPATCH, Bound.HOST)
            if number < 0
            else (kind_of(found.trace.operations[number]), found.timed[number].bound)
        )
        sums[kind] += seconds
        bounds[kind][bound.value] += seconds
    order = sorted(sums, key=lambda kind: -sums[kind])
    return tuple(Part(kind=kind, time=sums[kind], bounds=dict(bounds[kind])) for kind in order)


def operation_sums(found: Replayed) -> tuple[OperationSum, ...]:
    """Operations by name and bound, the longest first."""
    sums: dict[tuple[str, str, str, bool], list[float]] = {}
    for operation, timed in zip(found.trace.operations, found.timed, strict=True):
        key = (operation.name, kind_of(operation), timed.bound.value, operation.understood)
        entry = sums.setdefault(key, [0.0, 0.0, 0.0, 0.0])
        entry[0] += 1
        entry[1] += timed.seconds
        if operation.seconds is not None:
            entry[2] += operation.seconds
            entry[3] += 1
    rows = [
        OperationSum(
            name=name,
            kind=kind,
            bound=bound,
            count=int(entry[0]),
            time=entry[1],
            measured=entry[2] if entry[3] else None,
            understood=understood,
        )
        for (name, kind, bound, understood), entry in sums.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.time, -(row.measured or 0.0), row.name, row.bound)))


def stream_use(found: Replayed) -> tuple[StreamUse, ...]:
    """How long every stream works, in the order of the graph; streams without a task are left out."""
    graph = found.graph
    busy = np.bincount(graph.streams, weights=graph.durations, minlength=len(graph.names))
    counts = np.bincount(graph.streams, minlength=len(graph.names))
    return tuple(
        StreamUse(name=name, operations=int(counts[number]), busy=float(busy[number]))
        for number, name in enumerate(graph.names)
        if counts[number]
    )


def bound_times(found: Replayed) -> dict[str, float]:
    """Seconds of all operations by what binds them, those of a chip and a network alone."""
    sums: dict[str, float] = defaultdict(float)
    for operation, timed in zip(found.trace.operations, found.timed, strict=True):
        if operation.place is Place.DEVICE:
            sums[timed.bound.value] += timed.seconds
    return {bound.value: sums[bound.value] for bound in Bound if bound.value in sums}
