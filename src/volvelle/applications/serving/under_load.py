"""An instance under load: what clients measure, how full the engine was, and what it ran out of first."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.static_answer import interval, prediction_errors
from volvelle.domains import NumberDomain
from volvelle.errors import DescriptionError
from volvelle.estimators.result import Range
from volvelle.simulation.batching.metrics import Latency, Metrics
from volvelle.simulation.batching.rules import Rules
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.serving import serve
from volvelle.simulation.batching.stability import Unstable, answer, settled_answer
from volvelle.workload.serving.lengths import AbstractShape
from volvelle.workload.serving.loads import AbstractLoad, AllAtOnce, ClosedLoop, Ramp, Random, Trace
from volvelle.workload.serving.requests import Requests

_ROUNDS = 10
"""Requests of each client, where nothing is said."""
_FEWEST, _SETTLING = 20, 2000
"""Requests of a run at least, and those that a run of an open load starts with."""
_MOST = 128_000
FOLLOWED_CLIENTS = NumberDomain(1, 200_000, whole=True)
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
class LoadAnswer:
    """What came of a load on all ranks together; latencies are those of one rank, as all get the same share."""

    requests: int
    """That were followed on one rank."""
    ranks: int
    """Data-parallel ranks of all replicas, which share the load evenly."""
    share: float
    """Times that the load of all is that of one rank."""
    chips: int
    outcome: Metrics | Unstable
    occupancy: Occupancy
    errors: Mapping[str, float]

    @property
    def metrics(self) -> Metrics | None:
        """Of one rank; None: the load is more than it sustains."""
        return self.outcome if isinstance(self.outcome, Metrics) else None

    @property
    def unstable(self) -> Unstable | None:
        """Rates of all ranks together, where requests come faster than they are served."""
        found = self.outcome
        if isinstance(found, Metrics):
            return None
        return replace(found, offered=self.share * found.offered, sustained=self.share * found.sustained)

    @property
    def latencies(self) -> Mapping[str, Latency]:
        """By name; nothing of a load that is too much, nor of tokens after the first where no request has any."""
        found = self.metrics
        if found is None:
            return {}
        known = {"ttft": found.ttft, "tpot": found.tpot, "itl": found.itl, "e2el": found.e2el}
        return {name: latency for name, latency in known.items() if np.isfinite(latency.mean)}

    @property
    def request_throughput(self) -> float | None:
        """Requests a second, of all ranks."""
        return None if self.metrics is None else self.share * self.metrics.request_throughput

    @property
    def throughput(self) -> float | None:
        """Output tokens a second, of all ranks."""
        return None if self.metrics is None else self.share * self.metrics.output_throughput

    @property
    def total_throughput(self) -> float | None:
        """Tokens a second that go in and come out, of all ranks."""
        return None if self.metrics is None else self.share * self.metrics.total_token_throughput

    @property
    def throughput_per_chip(self) -> float | None:
        """Output tokens a second of one chip."""
        return None if self.throughput is None else self.throughput / self.chips

    @property
    def ranges(self) -> Mapping[str, Range]:
        """Where four of five measurements are to be expected: of mean latencies, and of the throughput."""
        found = self.metrics
        if found is None or self.throughput is None:
            return {}
        values = {"ttft": found.ttft.mean, "tpot": found.tpot.mean, "latency": found.e2el.mean}
        values["throughput"] = self.throughput
        return {name: interval(value, self.errors[name]) for name, value in values.items() if np.isfinite(value)}


def answer_under_load(
    instance: Instance,
    load: AbstractLoad,
    shape: AbstractShape | None,
    *,
    replicas: int,
    requests: int | None = None,
    seed: int = 0,
) -> LoadAnswer:
    """A load that replicas and their data-parallel ranks share evenly; `requests` are those of all of them."""
    ranks = replicas * instance.layout.data
    own, share = share_of(load, ranks)
    concurrency = own.clients if isinstance(own, ClosedLoop) else None
    if concurrency is not None:
        FOLLOWED_CLIENTS.check(concurrency, "load: clients of one rank")
    rules = instance.rules(concurrency=concurrency)
    costs = instance.costs(rules)
    outcome: Metrics | Unstable
    if requests is None and isinstance(own, Random):
        asked: list[Requests] = []

        def longer(count: int) -> Requests:
            asked.append(own.requests(shape, count=count, seed=seed))
            return asked[-1]

        outcome = settled_answer(longer, costs, rules, count=_SETTLING, most=_MOST)
        served = serve(asked[-1], costs, rules)
    else:
        served = serve(own.requests(shape, count=request_count(own, requests, ranks), seed=seed), costs, rules)
        outcome = answer(served)
    return LoadAnswer(
        requests=int(served.sent.size),
        ranks=ranks,
        share=share,
        chips=instance.layout.chips * replicas,
        outcome=outcome,
        occupancy=_occupancy(served, rules, instance.rules()),
        errors=prediction_errors(instance),
    )


def share_of(load: AbstractLoad, ranks: int) -> tuple[AbstractLoad, float]:
    """The load of one rank, and times that all have as much."""
    if ranks == 1:
        return load, 1.0
    if isinstance(load, ClosedLoop):
        clients = ceil(load.clients / ranks)
        return ClosedLoop(clients=clients), load.clients / clients
    if isinstance(load, Random):
        return replace(load, rate=load.rate / ranks), float(ranks)
    if isinstance(load, Ramp):
        return replace(load, start_rate=load.start_rate / ranks, end_rate=load.end_rate / ranks), float(ranks)
    if isinstance(load, AllAtOnce):
        return load, float(ranks)
    assert isinstance(load, Trace), "loads are of these kinds"
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


def request_count(load: AbstractLoad, requests: int | None, ranks: int) -> int:
    """Requests of one rank."""
    if isinstance(load, Trace):
        if requests is not None and ceil(requests / ranks) > len(load.recorded):
            raise DescriptionError(
                f"the trace has {len(load.recorded) * ranks:,} requests, not {requests:,}; ask for no more"
            )
        return 0 if requests is None else ceil(requests / ranks)
    if requests is not None:
        return ceil(requests / ranks)
    if isinstance(load, ClosedLoop):
        return max(min(_ROUNDS * load.clients, _MOST), 2 * load.clients, _FEWEST)
    return _SETTLING


def _occupancy(served: Served, rules: Rules, engine: Rules) -> Occupancy:
    """From the steps of the engine, each as long as it took."""
    spans = served.spans
    lengths = spans.end - spans.begin
    running, waiting, used = served.curve(spans.begin)
    whole = float(lengths.sum())
    peak = float(used.max(initial=0.0))
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
