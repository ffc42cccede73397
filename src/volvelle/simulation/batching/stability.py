"""Whether an engine keeps up with a rate; where it does not, what it sustains, in place of latencies.

Past that rate the queue grows for as long as requests come. Any latency of such a run says how long the run was.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.metrics import PERCENTILES, Limits, Metrics, measure
from volvelle.simulation.batching.rules import Rules
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.serving import OfferedRequests, serve

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
    count = served.sent.size
    if not served.stationary or count < _FEWEST:
        return None
    *_, third, fourth = (float(part.mean()) for part in np.array_split(served.admitted - served.sent, 4))
    starts = np.sort(served.admitted)
    ahead = np.arange(count) - np.searchsorted(starts, served.sent, side="right")
    if fourth <= _GROWTH * third or ahead[count // 2 :].min() <= 0:
        return None
    return _rates(served, float(served.sent[count // 2]))


def _rates(served: Served, begin: float) -> Unstable:
    """What came and what was served, from when on somebody always waited."""
    count, last, starts = served.sent.size, float(served.sent[-1]), np.sort(served.admitted)
    # Somebody waits until the last is admitted: until there the engine does what it can.
    admitted = count - int(np.searchsorted(starts, begin, side="right"))
    until_last = int(np.searchsorted(starts, last, side="right"))
    return Unstable(offered=count / last, sustained=min(admitted / (float(starts[-1]) - begin), until_last / last))


def answer(
    served: Served, *, limits: Limits | None = None, percentiles: tuple[float, ...] = PERCENTILES
) -> Metrics | Unstable:
    """What clients measure, or that the load is more than the engine sustains."""
    return unstable(served) or measure(served, limits=limits, percentiles=percentiles)


def settled_answer(
    requests: Callable[[int], OfferedRequests],
    costs: StepCosts,
    rules: Rules,
    *,
    limits: Limits | None = None,
    percentiles: tuple[float, ...] = PERCENTILES,
    count: int = 2000,
    most: int = 128_000,
) -> Metrics | Unstable:
    """What clients measure of a load that goes on: of twice as many requests until the mean TTFT stays what it is.

    A load whose TTFT has not settled within `most` requests is unstable: it comes as fast as the engine can serve.
    """
    before = np.nan
    while True:
        served = serve(requests(count), costs, rules)
        found = answer(served, limits=limits, percentiles=percentiles)
        if isinstance(found, Unstable) or not served.stationary or abs(found.ttft.mean / before - 1.0) < _SETTLED:
            return found
        before = found.ttft.mean
        count *= 2
        if count > most:
            return _rates(served, 0.0)
