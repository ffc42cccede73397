"""Whether an engine keeps up with a rate; where it does not, what it sustains, in place of latencies.

Past that rate the queue grows for as long as requests come. Any latency of such a run says how long the run was.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from volvelle.simulation.batching.metrics import PERCENTILES, Limits, Metrics, measure
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.state import Real

_FEWEST = 40
"""Requests below which a queue cannot be told to grow."""
_GROWTH = 1.15
"""How much longer requests wait in the last quarter of a run than in the quarter before, where the queue grows, and was
never empty in either; growing evenly from the beginning it is 1.4 times as long."""

_SETTLED = 0.05
"""Part of the mean TTFT that a run of twice the length may move it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unstable:
    """Requests come faster than they are served: rates, and no latencies."""

    offered: float
    """Requests a second that come."""
    sustained: float
    """Requests a second that are served while some wait."""

    def __str__(self) -> str:
        return f"unstable: offered {self.offered:.3g}/s, sustained {self.sustained:.3g}/s"


def unstable(served: Served) -> Unstable | None:
    """The rates where a load that comes at one rate is too much; None: it is not, or it has no rate of its own."""
    return outgrown(served.sent, served.admitted) if served.stationary else None


def outgrown(sent: Real, admitted: Real) -> Unstable | None:
    """The same of requests that come at one rate, in the order of time, by when each was admitted."""
    count = sent.size
    if count < _FEWEST:
        return None
    *_, third, fourth = (float(part.mean()) for part in np.array_split(admitted - sent, 4))
    ahead = np.arange(count) - np.searchsorted(np.sort(admitted), sent, side="right")
    if fourth <= _GROWTH * third or ahead[count // 2 :].min() <= 0:
        return None
    return rates(sent, admitted, float(sent[count // 2]))


def rates(sent: Real, admitted: Real, begin: float) -> Unstable:
    """What came and what was served, from when on somebody always waited."""
    count, last, starts = sent.size, float(sent[-1]), np.sort(admitted)
    # Somebody waits until the last is admitted: until there the engine does what it can.
    later = count - int(np.searchsorted(starts, begin, side="right"))
    until_last = int(np.searchsorted(starts, last, side="right"))
    return Unstable(offered=count / last, sustained=min(later / (float(starts[-1]) - begin), until_last / last))


def answer(
    served: Served,
    *,
    limits: Limits | None = None,
    percentiles: tuple[float, ...] = PERCENTILES,
    after_warm_up: bool = False,
) -> Metrics | Unstable:
    """Return what clients measure, or that the load is more than the engine sustains."""
    return unstable(served) or measure(served, limits=limits, percentiles=percentiles, after_warm_up=after_warm_up)


class Admissions(Protocol):
    """Of a run: when requests were sent and admitted, in the order of time."""

    @property
    def sent(self) -> Real:
        """Seconds since the load began."""

    @property
    def admitted(self) -> Real:
        """When work on each began."""

    @property
    def stationary(self) -> bool:
        """Whether requests come at one rate throughout."""


Run = TypeVar("Run", bound=Admissions)


def settled(
    run: Callable[[int], tuple[Run, Metrics | Unstable]], *, count: int, most: int
) -> tuple[Run, Metrics | Unstable]:
    """Runs of twice as many requests each, until the mean TTFT stays what it is: the last, and what clients measure.

    A load whose TTFT has not settled within `most` requests is unstable: it comes as fast as the engine can serve.
    """
    before = np.nan
    while True:
        served, found = run(count)
        if isinstance(found, Unstable) or not served.stationary or abs(found.ttft.mean / before - 1.0) < _SETTLED:
            return served, found
        before = found.ttft.mean
        count *= 2
        if count > most:
            return served, rates(served.sent, served.admitted, 0.0)
