"""When a graph of tasks ends on sampled machines: replayed on some, on the others by its longest chain.

The chain of tasks that ends last is a lower bound of the time on every machine, and costs no replay: it is the control
variate by which a few replays tell of all samples.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.sampler import Column
from volvelle.laws.sensitivity import by_control_variate
from volvelle.simulation.critical import critical_chain
from volvelle.simulation.replay import replay
from volvelle.simulation.tasks import Real, TaskGraph

MOST_REPLAYS = 64
"""Sampled machines that are replayed at most."""
FEWEST_REPLAYS = 4
"""With fewer than so many, a correlation means nothing: the chain stands alone."""
_LONGER = 1.001
"""A replay that takes so many times the longest chain known has another one."""
MOST_TASKS, MOST_FLOWS = 100_000, 5_000
"""Tasks of a graph that is replayed at all, each stream by itself and with shared links, and of its replays together
beyond the fewest; machine code or not, so that digits do not depend on it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VaryingPart:
    """Seconds of tasks that go by some numbers of a machine."""

    seconds: Real
    """Of every task, on the machine that was asked about."""
    row: NDArray[np.int64]
    """Of every task, the row of factors that they go by."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampledTimes:
    """When a graph ends on every sampled machine."""

    time: Column
    replays: int
    """On how many it was replayed; 0: all by the longest chain."""
    correlation: float | None = None
    """Of those replays with the chain."""


def worthwhile_replays(tasks: int, most_tasks: int = MOST_TASKS) -> int:
    """How many replays of so many tasks are worth their time."""
    return 0 if tasks > most_tasks else min(MOST_REPLAYS, max(FEWEST_REPLAYS, most_tasks // max(tasks, 1)))


def sampled_times(
    graph: TaskGraph,
    chain: NDArray[np.int64],
    parts: Sequence[VaryingPart],
    factors: NDArray[np.float64],
    *,
    replays: int | None = None,
) -> SampledTimes:
    """Of a graph whose tasks take the sum of their parts, each times the factor of its row on every sample.

    `chain` are the tasks that decide the end on the machine that was asked about. With so many `replays`, or as many as
    are worth their time; one that ends after all chains known has a longer one, which then counts too.
    """

    def along(tasks: NDArray[np.int64]) -> Column:
        rows = (
            np.bincount(part.row[tasks], weights=part.seconds[tasks], minlength=len(factors)) @ factors
            for part in parts
        )
        return sum(rows, np.zeros(factors.shape[1]))

    control = along(chain)
    most = worthwhile_replays(len(graph)) if replays is None else replays
    if not most or not _varies(control):
        return SampledTimes(time=control, replays=0)
    chosen, seen = evenly(control, most), []
    for sample in chosen.tolist():
        durations = sum((part.seconds * factors[part.row, sample] for part in parts), np.zeros(len(graph)))
        there = replace(graph, durations=durations)
        ended = replay(there)
        seen.append(float(ended.max()))
        if seen[-1] > _LONGER * control[sample]:
            control = np.maximum(control, along(critical_chain(there, ended)))
    found = _carried(chosen, np.array(seen), control)
    return replace(found, time=np.maximum(found.time, control))


def by_some(dear: Callable[[int], float], control: Column, most: int) -> SampledTimes:
    """A time on all samples that is asked for on a few, evenly over those of the control."""
    if not most or not _varies(control):
        return SampledTimes(time=control, replays=0)
    chosen = evenly(control, most)
    return _carried(chosen, np.array([dear(sample) for sample in chosen.tolist()]), control)


def _varies(control: Column) -> bool:
    return bool(np.all(control > 0.0)) and float(np.ptp(control)) > 1e-12 * float(control.max())


def evenly(control: Column, most: int) -> NDArray[np.int64]:
    """Samples from the least to the largest."""
    places = np.linspace(0, len(control) - 1, min(most, len(control))).astype(np.int64)
    return np.argsort(control, kind="stable")[places].astype(np.int64)


def _carried(chosen: NDArray[np.int64], seen: Column, control: Column) -> SampledTimes:
    """What some samples take, carried on to all by the control.

    What they are off the line through them stays with the samples next to each, so that a range does not shrink by what
    the control does not tell.
    """
    logs, told = np.log(control), np.log(seen)
    found, correlation = by_control_variate(told, logs[chosen], logs)
    order = chosen[np.argsort(logs[chosen], kind="stable")]
    between = (logs[order][1:] + logs[order][:-1]) / 2.0
    off = dict(zip(chosen.tolist(), (told - found[chosen]).tolist(), strict=True))
    found = found + np.array([off[int(sample)] for sample in order])[np.searchsorted(between, logs)]
    found[chosen] = told
    return SampledTimes(time=np.exp(found), replays=len(chosen), correlation=correlation)
