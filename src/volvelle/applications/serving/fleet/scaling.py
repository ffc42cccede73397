"""How many replicas there are, minute by minute: what a policy orders, and what of it is ready.

A policy looks at rates over some minutes, and orders as many replicas as keep each at the wanted share of its capacity.
What it orders is paid for at once, and serves when it has started. It lets replicas go when it has needed fewer for a
while.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from volvelle.domains import NO_DEGREE, SHARE, WAIT, check_fields, number
from volvelle.workload.serving.offered import SLOT, OfferedLoad
from volvelle.workload.serving.requests import Real, Whole

Kind = Literal["fixed", "reactive", "ahead"]
"""As many as the busiest time needs; what the last minutes needed; what the next minutes will need."""
_SLACK = 1e-9
"""Part of a replica that rounding may add to what is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """A policy."""

    kind: Kind = "reactive"
    target: float = number(SHARE, 0.8)
    """Share of the capacity of a replica that is to be used."""
    look_back: float = number(WAIT, 300.0)
    """Seconds over which rates are taken."""
    cool_down: float = number(WAIT, 600.0)
    """Seconds for which fewer must have been needed before replicas are let go."""
    least: int = number(NO_DEGREE, 1)
    """Replicas that are always there."""

    def __post_init__(self) -> None:
        check_fields(self, "scaling")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Schedule:
    """Replicas of each minute."""

    ordered: Whole
    """That are paid for, spares not counted."""
    ready: Whole
    """Of them, that serve."""

    @property
    def peak(self) -> int:
        """Most that are ordered at any time."""
        return int(self.ordered.max())


def schedule(load: OfferedLoad, capacity: float, scaling: Scaling, *, cold_start: float) -> Schedule:
    """Replicas by the minute for a load; each takes so many requests a second."""
    window, kept, start = (_slots(time) for time in (scaling.look_back, scaling.cool_down, cold_start))
    past, coming = _window_rates(load, max(window, 1))
    each = scaling.target * capacity
    both = _needed(np.maximum(past, coming), each, scaling.least)
    if scaling.kind == "fixed":
        ordered = np.full(load.slots, int(both.max()))
        return Schedule(ordered=ordered, ready=ordered)
    if scaling.kind == "ahead":
        soon = _sliding(both, start, np.maximum, later=True)
        ordered = _sliding(soon, kept, np.maximum)
    else:
        # What is decided in a minute rests on those before it; the first begins as it needs.
        seen = _needed(np.concatenate(([coming[0]], past[:-1])), each, scaling.least)
        ordered = _sliding(seen, kept, np.maximum)
    # So many replicas are ready as were ordered throughout the time that a start takes: the youngest go first.
    return Schedule(ordered=ordered, ready=_sliding(ordered, start, np.minimum))


def _slots(seconds: float) -> int:
    return int(np.ceil(seconds / SLOT - _SLACK))


def _window_rates(load: OfferedLoad, window: int) -> tuple[Real, Real]:
    """Mean rates over the window that ends with each slot, and over the one that begins with it."""

    def means(counts: Real, seconds: Real) -> Real:
        until = np.concatenate(([0.0], np.cumsum(counts)))
        time = np.concatenate(([0.0], np.cumsum(seconds)))
        end = np.arange(1, counts.size + 1)
        begin = np.maximum(end - window, 0)
        found: Real = (until[end] - until[begin]) / (time[end] - time[begin])
        return found

    return means(load.counts, load.seconds), means(load.counts[::-1], load.seconds[::-1])[::-1]


def _needed(rates: Real, each: float, least: int) -> Whole:
    return np.maximum(np.ceil(rates / each - _SLACK), least).astype(np.int64)


def _sliding(values: Whole, slots: int, of: np.ufunc, *, later: bool = False) -> Whole:
    """The most or the least of each value and so many before it, or after it; beyond the ends all is as there."""
    if later:
        return _sliding(values[::-1], slots, of)[::-1]
    found, reach, wanted = values, 1, min(slots, values.size) + 1
    while reach < wanted:
        # Of twice as many: those up to here, and as many that end before them.
        step = min(reach, wanted - reach)
        found = of(found, np.concatenate((np.full(step, found[0]), found[:-step])))
        reach += step
    return found
