"""A part of the load followed through the engines of all replicas that were ready, request by request.

A router sends requests in turn to the replicas that are ready, and to their data-parallel ranks. Where none is, they
wait for the first. Of a large fleet some ranks are followed, old and young ones in the same proportion; where even one
has too many requests, those minutes are followed in which there is most to do for each, and of a minute that has too
many the first of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.serving.fleet.checked_hour import HourCheck
from volvelle.applications.serving.fleet.scaling import Schedule
from volvelle.applications.serving.instance import Instance
from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.gaps import MOST_STEPS, gaps
from volvelle.simulation.batching.metrics import Latency
from volvelle.simulation.batching.rules import Rules
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.serving import serve
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.offered import OfferedLoad
from volvelle.workload.serving.requests import Real, Requests, Whole

MOST_FOLLOWED = 40_000
"""Requests of one hour at most."""
_MOST_RANKS = 1000
"""Data-parallel ranks, however few requests each has."""
_MOST_DRAWN = 4_000_000
"""Requests of a part of a fleet, of which then some ranks are followed."""
_WARM = 5
"""Minutes before the hour in which replicas fill."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Followed:
    """Requests of one rank."""

    run: Served
    waited: Real
    """Seconds that each waited for a replica to be ready."""
    counted: NDArray[np.bool_]
    """Whether they came in the hour, not before."""


def replayed_hour(
    instance: Instance,
    load: OfferedLoad,
    plan: Schedule,
    hour: int,
    limits: tuple[LatencyLimit, ...],
    *,
    seed: int = 0,
) -> HourCheck | None:
    """One hour of the load through the replicas that are ready; None: no request comes in it."""
    ranks = instance.layout.data
    first, last = _minutes(load, plan, hour, ranks)
    begin = max(first - _WARM, 0)
    # Of a huge fleet a part is looked at, with its part of the requests.
    times = max(int(load.counts[begin:last].sum() / _MOST_DRAWN), 1)
    requests = load.thinned(times).between(begin, last, seed=seed)
    if requests is None:
        return None
    servers = plan.ready * ranks
    sent, server = _routed(requests, load, np.where(servers > 0, np.maximum(servers // times, 1), 0))
    since = float(load.begins[first])
    # Whole ranks are followed: all of them, or every so many.
    some = int(server.max()) + 1
    step = max(-(-len(requests) // MOST_FOLLOWED), -(-some // _MOST_RANKS))
    rules = instance.rules()
    costs = instance.costs(rules)
    followed = [
        _Followed(
            run=_served(costs, rules, requests, sent, rows),
            waited=(sent - requests.arrival)[rows],
            counted=requests.arrival[rows] >= since,
        )
        for rows in (_around(np.flatnonzero(server == rank), requests, since) for rank in range(0, some, step))
        if rows.size
    ]
    count = sum(int(one.counted.sum()) for one in followed)
    if not count:
        return None
    latencies = _latencies(followed)
    return HourCheck(
        hour=hour,
        requests=count,
        ranks=len(followed),
        minutes=last - first,
        served_tokens=sum(int(one.run.output_tokens.sum()) for one in followed),
        latencies=latencies,
        missed=tuple(limit.name for limit in limits if not limit.kept_by(latencies)),
    )


def _around(rows: Whole, requests: Requests, since: float) -> Whole:
    """Requests of a rank as far as they are followed: the last before some moment, and the first from then on."""
    before = int(np.searchsorted(requests.arrival[rows], since))
    return rows[max(before - MOST_FOLLOWED, 0) : before + MOST_FOLLOWED]


def _minutes(load: OfferedLoad, plan: Schedule, hour: int, ranks: int) -> tuple[int, int]:
    """Slots of the hour, or those around the one with most to do for each rank where the hour has too many requests."""
    slots = load.slots_of(hour)
    first, last = slots.start, slots.stop
    each = load.counts[slots] / np.maximum(plan.ready[slots] * ranks, 1)
    if each.sum() <= MOST_FOLLOWED:
        return first, last
    worst = first + int(np.argmax(each))
    reach = int(MOST_FOLLOWED / each.max()) // 2
    return max(first, worst - reach), min(last, worst + max(reach, 1))


def _routed(requests: Requests, load: OfferedLoad, servers: Whole) -> tuple[Real, Whole]:
    """When each request reaches a rank, and which one: in turn, among those that are ready then."""
    slot = np.minimum(np.searchsorted(load.begins, requests.arrival, side="right") - 1, load.slots - 1)
    # The next slot in which some are ready; after the last there are none to wait for, and one is taken to come.
    some = np.where(servers > 0, np.arange(load.slots), load.slots - 1)
    following = np.minimum.accumulate(some[::-1])[::-1]
    reached = following[slot]
    sent = np.maximum(requests.arrival, load.begins[reached])
    turn = np.arange(len(requests))
    return sent, turn % np.maximum(servers[reached], 1)


def _served(costs: StepCosts, rules: Rules, requests: Requests, sent: Real, rows: Whole) -> Served:
    own = Requests(
        arrival=sent[rows] - sent[rows[0]],
        input_tokens=requests.input_tokens[rows],
        output_tokens=requests.output_tokens[rows],
    )
    return serve(own, costs, rules)


def _latencies(followed: list[_Followed]) -> Mapping[str, Latency]:
    """From when a request came, not from when it was sent on, as far as requests have them."""
    ttft, tpot, e2el = [], [], []
    for one in followed:
        run, counted = one.run, one.counted
        ttft.append((run.first_token - run.sent + one.waited)[counted])
        e2el.append((run.end - run.sent + one.waited)[counted])
        several = counted & (run.output_tokens > 1)
        tpot.append((run.end - run.first_token)[several] / (run.output_tokens[several] - 1))
    most = max(MOST_STEPS // len(followed), 1)
    found = zip(*(gaps(one.run, most=most) for one in followed), strict=True)
    between, weights = (np.concatenate(parts) for parts in found)
    spreads = {
        "ttft": Latency.of(np.concatenate(ttft)),
        "tpot": Latency.of(np.concatenate(tpot)),
        "itl": Latency.of(between, weights=weights if between.size else None),
        "e2el": Latency.of(np.concatenate(e2el)),
    }
    return {name: spread for name, spread in spreads.items() if np.isfinite(spread.mean)}
