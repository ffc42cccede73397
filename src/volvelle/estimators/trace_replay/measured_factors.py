"""What operations took over what the law gives them, from a profile: what another run of the same kind is scaled by.

A profile of several steps is better than one of a single step: of every operation the median counts, so that what else
a machine did meanwhile does not.
"""

from collections.abc import Sequence
from statistics import median

import numpy as np

from volvelle.estimators.trace_replay.operation_times import OperationTimes
from volvelle.workload.trace.values import Place, Trace, Work

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
    """Measured over law, by name of operation and size.

    An operation takes a time to start and one that grows as the law says. Where a profile has several sizes of an
    operation they tell both; of one size alone, starting takes what it takes the shortest operations.
    """

    def __init__(self, profile: Trace, times: OperationTimes) -> None:
        """`times` are those of the machine on which the profile was recorded."""
        timed: dict[tuple[str, Work], list[float]] = {}
        host: dict[str, list[float]] = {}
        count = 0
        for operation in profile.operations:
            if operation.place is Place.HOST:
                host.setdefault(operation.name, []).append(operation.seconds or 0.0)
                continue
            count += 1
            if operation.work is not None and operation.seconds is not None:
                timed.setdefault((operation.name, operation.work), []).append(operation.seconds)
        sizes: dict[str, list[tuple[float, float, int]]] = {}
        for (name, work), taken in timed.items():
            law = times(work)
            if law is not None and law.seconds > 0.0:
                sizes.setdefault(name, []).append((law.seconds, median(taken), len(taken)))
        shortest = shortest_operation(profile)
        self._lines = {name: _line(points, shortest) for name, points in sizes.items()}
        self.host_time = sum(len(taken) * median(taken) for taken in host.values()) / max(count, 1)
        """Seconds of host work and of what is between operations, for every operation that is work."""

    def __call__(self, name: str, law: float) -> float | None:
        """Measured over law; None: the profile has no operation of that name."""
        line = self._lines.get(name)
        if line is None or law <= 0.0:
            return None
        start, slope = line
        return start / law + slope


def _line(points: Sequence[tuple[float, float, int]], shortest: float) -> tuple[float, float]:
    """Seconds to start, and seconds a second of the law; neither negative. Nearest to all sizes as shares of each."""
    law, taken, count = (np.array(column, dtype=np.float64) for column in zip(*points, strict=True))
    weights = np.sqrt(count) / np.maximum(taken, 1e-12)
    table = np.stack([weights, law * weights], axis=1)
    start, slope = np.linalg.lstsq(table, taken * weights, rcond=None)[0]
    if np.ptp(law) <= 1e-9 * law.max() or start < 0.0 or slope < 0.0:
        start = min(shortest, float(taken.min()))
        slope = float(((taken - start) * weights * (law * weights)).sum() / ((law * weights) ** 2).sum())
    return float(start), float(slope)
