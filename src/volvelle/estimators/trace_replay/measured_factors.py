"""What operations took over what the law gives them, from a profile: what another run of the same kind is scaled by."""

from bisect import bisect_left
from math import log

from volvelle.estimators.trace_replay.operation_times import OperationTimes
from volvelle.workload.trace.values import Operation, Place, Trace, Work

_SHORTEST = 0.05
"""Share of a profile's operations that only show what starting one takes."""


def shortest_operation(trace: Trace) -> float:
    """Seconds of a profile's shortest operations, which is what starting one takes; 0 where nothing was measured."""
    found = sorted(
        operation.seconds
        for operation in trace.operations
        if operation.seconds and operation.work is not None and operation.place is Place.DEVICE
    )
    return found[int(_SHORTEST * len(found))] if found else 0.0


class MeasuredFactors:
    """Measured over law by name of operation and size; asked for another size, that of the nearest measured one."""

    def __init__(self, profile: Trace, times: OperationTimes) -> None:
        """`times` are those of the machine on which the profile was recorded."""
        sums: dict[tuple[str, Work], list[float]] = {}
        for operation in profile.operations:
            if operation.work is not None and operation.seconds is not None and operation.place is Place.DEVICE:
                sums.setdefault((operation.name, operation.work), []).append(operation.seconds)
        self._known: dict[str, list[tuple[float, float]]] = {}
        for (name, work), taken in sums.items():
            law = times(work)
            if law is not None and law.seconds > 0.0:
                mean = sum(taken) / len(taken)
                self._known.setdefault(name, []).append((log(law.seconds), mean / law.seconds))
        for points in self._known.values():
            points.sort()
        gaps = [operation for operation in profile.operations if _between(operation)]
        counted = [operation for operation in profile.operations if operation.place is Place.DEVICE]
        self.host_time = sum(operation.seconds or 0.0 for operation in gaps) / max(len(counted), 1)
        """Seconds of host work and of what is between operations, for every operation that is work."""

    def __call__(self, name: str, law: float) -> float | None:
        """Measured over law; None: the profile has no operation of that name."""
        points = self._known.get(name)
        if not points or law <= 0.0:
            return None
        at = log(law)
        place = bisect_left(points, (at, 0.0))
        near = points[max(place - 1, 0) : place + 1]
        return min(near, key=lambda point: abs(point[0] - at))[1]


def _between(operation: Operation) -> bool:
    return operation.place is Place.HOST
