"""How much of a load one rank serves within limits: trials of parts of the load, and the largest part that keeps them.

The part is found on a geometric grid, so that it does not depend on where the search for it began. Latencies are taken
to rise with the load.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, floor, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.speculation.drafted_load import cycle_costs, drafted
from volvelle.applications.serving.under_load import count_of, share_of
from volvelle.errors import DescriptionError
from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.gaps import gaps
from volvelle.simulation.batching.metrics import Latency
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.serving import serve
from volvelle.simulation.batching.stability import unstable
from volvelle.simulation.batching.warm_up import steady_part
from volvelle.workload.serving.lengths import AbstractShape
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import AbstractLoad, AbstractSteadyRate, AtOnce, Closed, Ramp, Recorded
from volvelle.workload.serving.requests import Requests

STEP = 1.01
"""Of the grid of parts of a load: goodput is known to one in a hundred."""
_FIRST = 400
"""Requests that a hasty trial looks at first."""
_LEAST = 64.0
"""Times that the least part that is tried is below what a closed form allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedLoad:
    """A load, of which ranks get parts; with the same seed, a part is the same requests everywhere."""

    load: AbstractLoad
    shape: AbstractShape | None
    requests: int | None = None
    """Of all ranks together; None: as many as a run takes."""
    seed: int = 0
    settled: int | None = None
    """Requests of all ranks, where it is known how many more settle a run; what drafts cost is that of a first run."""

    def __post_init__(self) -> None:
        if isinstance(self.load, AtOnce):
            raise DescriptionError(
                "requests that come all at once have no rate that could be kept up; plan for 'poisson 12/s', "
                "'closed 64' or a trace"
            )

    def part(self, share: float) -> Requests:
        """The requests of one rank that gets such a part of the load; above 1 it gets more than all of it."""
        return _part(self, share)

    def first_part(self, share: float) -> Requests:
        """The same, before it was known how many settle a run."""
        return _part(replace(self, settled=None), share)


@lru_cache(maxsize=256)
def _part(asked: AskedLoad, share: float) -> Requests:
    ranks = max(1, ceil(1.0 / share - 1e-9))
    own, _ = share_of(_faster(asked.load, ranks * share), ranks)
    wanted = asked.requests if asked.settled is None else asked.settled
    return own.requests(asked.shape, count=count_of(own, wanted, ranks), seed=asked.seed)


def _faster(load: AbstractLoad, factor: float) -> AbstractLoad:
    """The same load, so many times as much."""
    if abs(factor - 1.0) < 1e-12:
        return load
    if isinstance(load, Closed):
        return Closed(clients=max(1, round(load.clients * factor)))
    if isinstance(load, AbstractSteadyRate):
        return replace(load, rate=load.rate * factor)
    if isinstance(load, Ramp):
        return replace(load, start_rate=load.start_rate * factor, end_rate=load.end_rate * factor)
    assert isinstance(load, Recorded), "others are refused"
    return replace(load, rate_factor=load.rate_factor * factor)


class HeldToLimits:
    """What has figures that limits were held against: none, where requests come faster than they are served."""

    __slots__ = ()
    figures: tuple[Any, ...]
    excess: float

    @property
    def stable(self) -> bool:
        """Whether requests were served as fast as they came."""
        return bool(self.figures)

    @property
    def kept(self) -> bool:
        """Whether all limits were."""
        return self.stable and self.excess <= 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial(HeldToLimits):
    """What came of a part of a load on one rank."""

    share: float
    figures: tuple[float, ...]
    """What is limited, in the order of the limits; nothing where requests come faster than they are served."""
    excess: float
    """The largest figure over its limit, or what comes over what is served; above 1 the limits are broken."""
    throughput: float
    """Output tokens a second of the rank."""
    tpot: float
    """Seconds a token after the first, in the mean."""


def trial(
    instance: Instance,
    asked: AskedLoad,
    limits: tuple[LatencyLimit, ...],
    share: float,
    *,
    costs: StepCosts | None = None,
    slower: float = 1.0,
    hasty: bool = False,
) -> Trial:
    """Serve a part of the load on one rank; `costs` are those of its steps, where they are known; `slower` by so much.

    A `hasty` trial ends where the first requests alone break a limit: more requests only make them wait longer.
    """
    requests = asked.part(share)
    rules = instance.rules(concurrency=requests.clients or None)
    steps = instance.costs(rules) if costs is None else costs
    steps = steps if slower == 1.0 else slowed(steps, slower)
    if instance.speculation is not None:
        first = requests = drafted(instance, requests, seed=asked.seed)
        if asked.settled is not None:
            first = drafted(instance, asked.first_part(share), seed=asked.seed)
        steps, rules = cycle_costs(instance, first, steps, rules)
    if hasty and requests.stationary and len(requests) > 2 * _FIRST:
        begun = serve(requests.first(_FIRST), steps, rules, patient=True)
        if _breaks(begun, limits, len(requests)):
            return _outcome(begun, limits, share)
    return _outcome(serve(requests, steps, rules, patient=True), limits, share)


def _breaks(served: Served, limits: tuple[LatencyLimit, ...], count: int) -> bool:
    """Whether so many are late that limits are broken, were all others of `count` requests in time."""
    latencies = latencies_of(served, {limit.latency for limit in limits})
    return any(
        limit.percentile is not None
        and limit.latency in latencies
        and np.count_nonzero(latencies[limit.latency] > limit.seconds) > (1.0 - limit.percentile / 100.0) * count + 1.0
        for limit in limits
    )


def _outcome(served: Served, limits: tuple[LatencyLimit, ...], share: float) -> Trial:
    steady = steady_part(served.sent, served.end, served.clients)
    inside, seconds = (
        (1.0, served.duration) if steady is None else (steady.inside(served.sent, served.end), steady.seconds)
    )
    tokens = float((inside * served.output_tokens).sum()) / seconds
    past = unstable(served)
    latencies = latencies_of(served, {limit.latency for limit in limits} | {"tpot"})
    tpot = float(np.mean(latencies["tpot"])) if latencies["tpot"].size else 0.0
    if past is not None:
        return Trial(share=share, figures=(), excess=past.offered / past.sustained, throughput=tokens, tpot=tpot)
    figures = tuple(_figure(limit, served, latencies) for limit in limits)
    excess = max(figure / limit.seconds for figure, limit in zip(figures, limits, strict=True))
    return Trial(share=share, figures=figures, excess=excess, throughput=tokens, tpot=tpot)


def latencies_of(served: Served, names: set[str]) -> Mapping[str, NDArray[np.float64]]:
    """Return latencies of each request after the warm-up, as :mod:`volvelle.simulation.batching.metrics` has them.

    Gaps between tokens are not among them.
    """
    steady = steady_part(served.sent, served.end, served.clients)
    counted = slice(None) if steady is None else steady.counted
    several = (served.output_tokens > 1)[counted]
    known: dict[str, Callable[[], NDArray[np.float64]]] = {
        "ttft": lambda: (served.first_token - served.sent)[counted],
        "e2el": lambda: (served.end - served.sent)[counted],
        "tpot": lambda: ((served.end - served.first_token) / np.maximum(served.output_tokens - 1, 1))[counted][several],
    }
    return {name: made() for name, made in known.items() if name in names}


def _figure(limit: LatencyLimit, served: Served, latencies: Mapping[str, NDArray[np.float64]]) -> float:
    if limit.latency == "itl":
        steady = steady_part(served.sent, served.end, served.clients)
        seconds, weights = gaps(served, since=0.0 if steady is None else steady.begin)
        if not seconds.size:
            return 0.0
        found = Latency.of(seconds, (limit.percentile or 50.0,), weights)
        return found.mean if limit.percentile is None else found.percentiles[limit.percentile]
    seconds = latencies[limit.latency]
    return limit.of(seconds) if seconds.size else 0.0


def slowed(costs: StepCosts, factor: float) -> StepCosts:
    """Steps that all take so many times as long."""
    tables = ("tokens", "captured", "launches", "head", "chunk", "decode")
    numbers = ("chunk_start", "host", "host_sequence", "per_sequence", "per_admission")
    return replace(costs, **{name: getattr(costs, name) * factor for name in (*tables, *numbers)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The largest part of a load that a rank serves within limits."""

    share: float
    """0: not even the least part that was tried."""
    at: Trial
    """The trial of that part, or of the least."""


def largest_share(tried: Callable[[float], Trial], *, bound: float, known: float | None = None) -> Kept:
    """The largest part on the grid that keeps the limits; at most `bound`, and at least `known` where that is kept.

    Places are halved from the same ends whatever is known, which spares trials and changes no answer: latencies do not
    always grow with the load, and another way to the end could find another one.
    """
    broken, kept = _place(bound, up=True) - 1, _place(bound / _LEAST, up=True)
    surely = kept if known is None else _place(known, up=True)
    if surely >= kept and not (lowest := tried(_share(kept))).kept:
        return Kept(share=0.0, at=lowest)
    while kept - broken > 1:
        place = (kept + broken) // 2
        if (known is not None and place >= surely) or tried(_share(place)).kept:
            kept = place
        else:
            broken = place
    at = tried(_share(kept))
    # What is known to be kept may lie between two places of the grid.
    return Kept(share=_share(kept), at=at) if at.kept else largest_share(tried, bound=bound)


def _share(place: int) -> float:
    return float(STEP**-place)


def _place(share: float, *, up: bool) -> int:
    """The place of the grid whose part is the nearest at most as large (`up`), or at least."""
    exact = -log(share) / log(STEP)
    return ceil(exact - 1e-9) if up else floor(exact + 1e-9)


def replicas_for(share: float, tried: Callable[[float], Trial], *, data: int) -> int:
    """Replicas that serve all of a load, where one rank serves such a part; one fewer where a trial keeps limits."""
    replicas = ceil(1.0 / (share * data) - 1e-9)
    fewer = replicas - 1
    if fewer >= 1 and 1.0 / (fewer * data) <= share * STEP and tried(1.0 / (fewer * data)).kept:
        return fewer
    return max(replicas, 1)
