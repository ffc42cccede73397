"""An instance under load: what clients measure, how full the engine was, and what it ran out of first."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.load_answer import MachineAnswer
from volvelle.applications.serving.speculation.drafted_load import cycle_costs, drafted
from volvelle.applications.serving.static_answer import prediction_errors
from volvelle.domains import NumberDomain
from volvelle.errors import DescriptionError
from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.metrics import Metrics
from volvelle.simulation.batching.rules import Rules
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.serving import serve
from volvelle.simulation.batching.stability import Run, Unstable, answer, settled
from volvelle.simulation.batching.warm_up import steady_part
from volvelle.workload.serving.lengths import AbstractShape
from volvelle.workload.serving.loads import AbstractLoad, AbstractSteadyRate, AtOnce, Closed, Ramp, Recorded
from volvelle.workload.serving.requests import Requests

_ROUNDS = 10
"""Requests of each client, where nothing is said."""
_FEWEST, _SETTLING = 20, 2000
"""Requests of a run at least, and those that a run of an open load starts with."""
_FLOOD = 4000
"""Requests by which is found what a rank serves where requests always wait."""
_MOST = 128_000
"""Requests of a run at most."""
_CLIENTS = NumberDomain(1, 200_000, whole=True)
"""That are followed one by one on a rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancy:
    """How full the engine was on one rank."""

    most_running: int
    mean_running: float
    most_waiting: int
    kv_peak: float
    """Part of the blocks of the cache that was in use at most."""
    preemptions: int
    limited_by: str
    """What it ran out of first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadAnswer(MachineAnswer):
    """What came of a load on all ranks together; latencies are those of one rank, as all get the same share."""

    ranks: int
    """Data-parallel ranks of all replicas, which share the load evenly."""
    occupancy: Occupancy
    served: Served = field(repr=False, compare=False)
    """Every request and step of one rank."""


def answer_under_load(
    instance: Instance,
    load: AbstractLoad,
    shape: AbstractShape | None,
    *,
    replicas: int,
    requests: int | None = None,
    seed: int = 0,
    capacity: bool = True,
) -> LoadAnswer:
    """A load that replicas and their data-parallel ranks share evenly; `requests` are those of all of them.

    Without `capacity`, what is served where requests always wait is not looked for; it bounds ranges of open loads.
    """
    ranks = replicas * instance.layout.data
    own, share = share_of(load, ranks)
    concurrency = followed_clients(own, _CLIENTS, "one rank")
    rules = instance.rules(concurrency=concurrency)
    costs = instance.costs(rules)

    def drawn(count: int) -> Requests:
        return drafted(instance, own.requests(shape, count=count, seed=seed), seed=seed)

    if instance.speculation is not None:
        costs, rules = cycle_costs(instance, drawn(count_of(own, requests, ranks)), costs, rules)

    def run(count: int) -> tuple[Served, Metrics | Unstable]:
        served = serve(drawn(count), costs, rules)
        return served, answer(served, after_warm_up=True)

    served, outcome = run_of_load(own, requests, ranks, run)
    span = arrival_span(load, served.sent, served.clients, requests)
    flood = drawn(served.sent.size) if capacity and span > 0.0 and isinstance(outcome, Metrics) else None
    return LoadAnswer(
        requests=int(served.sent.size),
        ranks=ranks,
        share=share,
        chips=instance.layout.chips * replicas,
        outcome=outcome,
        occupancy=occupancy_of(served, rules, instance.rules()),
        errors=prediction_errors(instance),
        served=served,
        stationary=served.stationary,
        span=span,
        capacity=None if flood is None else share * _rate_at_once(flood, costs, rules),
    )


def arrival_span(load: AbstractLoad, sent: NDArray[np.float64], clients: int, requests: int | None) -> float:
    """Return seconds until the last request of the whole load comes; 0: clients send them, or all come at once.

    `sent` are the requests of one part of it, of which the last may come earlier.
    """
    if clients:
        return 0.0
    if isinstance(load, Recorded):
        arrivals = load.recorded.arrival[:requests]
        return float(arrivals[-1]) / load.rate_factor
    return float(sent[-1])


def _rate_at_once(requests: Requests, costs: StepCosts, rules: Rules) -> float:
    """Return requests a second that a rank serves where all of the first ones are there at once."""
    some = requests.first(min(len(requests), _FLOOD))
    return len(some) / serve(replace(some, arrival=np.zeros(len(some)), stationary=False), costs, rules).duration


def followed_clients(load: AbstractLoad, followed: NumberDomain, part: str) -> int | None:
    """Clients of the part of a machine that is followed, if there are any; more than are followed are refused."""
    if not isinstance(load, Closed):
        return None
    followed.check(load.clients, f"load: clients of {part}")
    return load.clients


def run_of_load(
    load: AbstractLoad, requests: int | None, parts: int, run: Callable[[int], tuple[Run, Metrics | Unstable]]
) -> tuple[Run, Metrics | Unstable]:
    """A run of so many requests; where nothing is said of them and they come by chance, of as many as settle it."""
    if requests is None and isinstance(load, AbstractSteadyRate):
        return settled(run, count=_SETTLING, most=_MOST)
    return run(count_of(load, requests, parts))


def share_of(load: AbstractLoad, ranks: int) -> tuple[AbstractLoad, float]:
    """The load of one rank, and times that all have as much."""
    if ranks == 1:
        return load, 1.0
    if isinstance(load, Closed):
        clients = ceil(load.clients / ranks)
        return Closed(clients=clients), load.clients / clients
    if isinstance(load, AbstractSteadyRate):
        return replace(load, rate=load.rate / ranks), float(ranks)
    if isinstance(load, Ramp):
        return replace(load, start_rate=load.start_rate / ranks, end_rate=load.end_rate / ranks), float(ranks)
    if isinstance(load, AtOnce):
        return load, float(ranks)
    assert isinstance(load, Recorded), "loads are of these kinds"
    kept = _every(load.recorded, ranks)
    return replace(load, recorded=kept), len(load.recorded) / len(kept)


def _every(requests: Requests, ranks: int) -> Requests:
    """Those that one of so many ranks gets, in turn."""
    rows = np.arange(0, len(requests), ranks)
    starts = [requests.hash_ids[requests.hash_starts[row] : requests.hash_starts[row + 1]] for row in rows]
    return Requests(
        arrival=requests.arrival[rows],
        input_tokens=requests.input_tokens[rows],
        output_tokens=requests.output_tokens[rows],
        clients=requests.clients,
        hash_ids=np.concatenate(starts),
        hash_starts=np.concatenate(([0], np.cumsum([part.size for part in starts]))).astype(np.int64),
        hash_tokens=requests.hash_tokens,
        stationary=requests.stationary,
    )


def count_of(load: AbstractLoad, requests: int | None, ranks: int) -> int:
    """Requests of one rank."""
    if isinstance(load, Recorded):
        if requests is not None and ceil(requests / ranks) > len(load.recorded):
            raise DescriptionError(
                f"the trace has {len(load.recorded) * ranks:,} requests, not {requests:,}; ask for no more"
            )
        return 0 if requests is None else ceil(requests / ranks)
    if requests is not None:
        return ceil(requests / ranks)
    if isinstance(load, Closed):
        return max(min(_ROUNDS * load.clients, _MOST), 2 * load.clients, _FEWEST)
    return _SETTLING


def occupancy_of(served: Served, rules: Rules, engine: Rules) -> Occupancy:
    """Return how full the engine was, from its steps, each as long as it took; the warm-up is left out."""
    spans, steady = served.spans, steady_part(served.sent, served.end, served.clients)
    lengths = spans.end - spans.begin
    running, waiting, used = served.curve(spans.begin)
    peak = float(used.max(initial=0.0))
    if steady is not None:
        inside = (spans.begin >= steady.begin) & (spans.begin < steady.end)
        lengths, running, waiting = lengths[inside], running[inside], waiting[inside]
    whole = float(lengths.sum())
    most_running, most_waiting = int(running.max(initial=0)), int(waiting.max(initial=0))
    # A request that waits for the budget alone waits for the end of a step; in the mean one waits all of the time.
    longest = int(np.max(-(-served.input_tokens // rules.block_tokens)))
    if served.preemptions or (most_waiting and served.least_free_blocks < longest):
        limit = "KV cache"
    elif most_running >= engine.max_sequences and most_waiting:
        limit = "sequences"
    elif float((waiting * lengths).sum()) >= whole:
        limit = "token budget"
    else:
        limit = "clients" if served.clients else "arrivals"
    return Occupancy(
        most_running=most_running,
        mean_running=float((running * lengths).sum()) / whole if whole > 0 else 0.0,
        most_waiting=most_waiting,
        kv_peak=peak,
        preemptions=served.preemptions,
        limited_by=limit,
    )
