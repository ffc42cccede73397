"""What clients measure, as ``vllm bench serve`` computes it: TTFT, TPOT, ITL, E2EL, throughput and goodput.

TTFT is from when a request was sent, not from when a client was free to send it. TPOT is one figure a request, of those
with more than one output token; ITL is every gap between two pieces of an answer, of all requests together. Percentiles
are interpolated linearly, as NumPy does.

Benchmarks count every request. An answer about a service that runs leaves the warm-up of a closed loop out, by the rule
of :mod:`volvelle.simulation.batching.warm_up`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import NumberDomain, check_fields, number
from volvelle.simulation.batching.gaps import gaps
from volvelle.simulation.batching.peaks import most_requests, most_tokens
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.warm_up import SteadyPart, steady_part

Real = NDArray[np.float64]
LIMIT_SECONDS = NumberDomain(0.0, 1e9)
PERCENTILES = (50.0, 90.0, 95.0, 99.0)
TAIL = 99.9
"""A percentile that is kept beside those that are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How one kind of latency is spread, in seconds; all NaN where no request has it."""

    mean: float
    median: float
    std: float
    percentiles: Mapping[float, float]
    tail: float
    """At `TAIL`."""

    @classmethod
    def of(cls, seconds: Real, percentiles: tuple[float, ...] = PERCENTILES, weights: Real | None = None) -> "Latency":
        """Of values, each as often as its weight says."""
        if not seconds.size:
            nothing = float("nan")
            none = dict.fromkeys(percentiles, nothing)
            return cls(mean=nothing, median=nothing, std=nothing, percentiles=none, tail=nothing)
        if weights is None:
            found = np.percentile(seconds, [50.0, *percentiles, TAIL])
            mean, std = float(np.mean(seconds)), float(np.std(seconds))
        else:
            found = _weighted(seconds, weights, np.array([50.0, *percentiles, TAIL]))
            mean = float(np.average(seconds, weights=weights))
            std = float(np.sqrt(np.average((seconds - mean) ** 2, weights=weights)))
        given = dict(zip(percentiles, map(float, found[1:-1]), strict=True))
        return cls(mean=mean, median=float(found[0]), std=std, percentiles=given, tail=float(found[-1]))


def _weighted(values: Real, weights: Real, percentiles: Real) -> Real:
    """Percentiles of values that each stand for several: what NumPy finds where all are written out."""
    order = np.argsort(values, kind="stable")
    until = np.cumsum(weights[order])
    place = percentiles / 100.0 * (until[-1] - 1.0)
    below = np.floor(place)
    low = values[order[np.searchsorted(until, below, side="right")]]
    high = values[order[np.minimum(np.searchsorted(until, below + 1.0, side="right"), values.size - 1)]]
    found: Real = low + (high - low) * (place - below)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Latencies in seconds that a request must keep, all of them, to count for goodput; None: no limit."""

    ttft: float | None = number(LIMIT_SECONDS, None)
    tpot: float | None = number(LIMIT_SECONDS, None)
    e2el: float | None = number(LIMIT_SECONDS, None)

    def __post_init__(self) -> None:
        check_fields(self, "limits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Figures of one run of a load."""

    duration: float
    """Seconds from the beginning of the load to the last token, its rise and its tail included."""
    completed: int
    total_input_tokens: int
    total_output_tokens: int
    request_throughput: float
    output_throughput: float
    total_token_throughput: float
    request_goodput: float | None
    """Requests a second that kept all limits; None: there were none."""
    ttft: Latency
    tpot: Latency
    itl: Latency
    e2el: Latency
    client_queue_time: Latency
    """From when the load has a request to when a client is free to send it."""
    max_output_tokens_per_s: int
    """In any one second."""
    max_concurrent_requests: int
    """In any one second: a request counts in every second that it touches."""
    preemptions: int
    counted: int
    """Requests whose latencies are counted; the others were warm-up."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClientTimes:
    """What clients of an engine, or of several, saw: one entry a request."""

    offered: Real
    sent: Real
    first_token: Real
    end: Real
    input_tokens: NDArray[np.int64]
    output_tokens: NDArray[np.int64]
    between: tuple[Real, Real]
    """Seconds between two pieces of an answer, and how often each occurs."""
    most_tokens: int
    """That came in any one second."""
    preemptions: int


def measure(
    served: Served,
    *,
    limits: Limits | None = None,
    percentiles: tuple[float, ...] = PERCENTILES,
    after_warm_up: bool = False,
) -> Metrics:
    """Return what clients of a run measure, of all requests or only of those after the warm-up."""
    steady = steady_part(served.sent, served.end, served.clients) if after_warm_up else None
    seen = ClientTimes(
        offered=served.offered,
        sent=served.sent,
        first_token=served.first_token,
        end=served.end,
        input_tokens=served.input_tokens,
        output_tokens=served.output_tokens,
        between=gaps(served, since=0.0 if steady is None else steady.begin),
        most_tokens=most_tokens(served, start=float(served.sent.min())),
        preemptions=served.preemptions,
    )
    return metrics_of(seen, limits=limits, percentiles=percentiles, steady=steady)


def metrics_of(
    seen: ClientTimes,
    *,
    limits: Limits | None = None,
    percentiles: tuple[float, ...] = PERCENTILES,
    steady: SteadyPart | None = None,
) -> Metrics:
    """Return the figures of what clients saw, in all of the run or in its steady part."""
    ttft = seen.first_token - seen.sent
    e2el = seen.end - seen.sent
    counted = np.ones(ttft.size, np.bool_) if steady is None else steady.counted
    several = (seen.output_tokens > 1) & counted
    tpot = (seen.end - seen.first_token) / np.maximum(seen.output_tokens - 1, 1)
    duration = float(seen.end.max(initial=0.0))
    inputs, outputs = int(seen.input_tokens.sum()), int(seen.output_tokens.sum())
    goodput = None
    if limits is not None:
        kept = np.ones(ttft.size, np.bool_)
        for seconds, limit in ((ttft, limits.ttft), (tpot, limits.tpot), (e2el, limits.e2el)):
            if limit is not None:
                kept &= seconds <= limit
        goodput = float(kept.sum()) / duration
    between, weights = seen.between
    inside, span = np.ones(ttft.size), duration
    if steady is not None:
        inside, span = steady.inside(seen.sent, seen.end), steady.seconds
    per_second = [float(np.sum(inside * tokens)) / span for tokens in (1.0, seen.input_tokens, seen.output_tokens)]
    return Metrics(
        duration=duration,
        completed=int(seen.end.size),
        total_input_tokens=inputs,
        total_output_tokens=outputs,
        request_throughput=per_second[0],
        output_throughput=per_second[2],
        total_token_throughput=per_second[1] + per_second[2],
        request_goodput=goodput,
        ttft=Latency.of(ttft[counted], percentiles),
        tpot=Latency.of(tpot[several], percentiles),
        itl=Latency.of(between, percentiles, weights),
        e2el=Latency.of(e2el[counted], percentiles),
        client_queue_time=Latency.of((seen.sent - seen.offered)[counted], percentiles),
        max_output_tokens_per_s=seen.most_tokens,
        max_concurrent_requests=most_requests(seen.sent, seen.end),
        preemptions=seen.preemptions,
        counted=int(np.count_nonzero(counted)),
    )
