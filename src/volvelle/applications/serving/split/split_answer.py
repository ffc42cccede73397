"""A load on two pools: what clients measure, how full each pool is, which of them binds, and how they would match."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import gcd

import numpy as np

from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.load_answer import MachineAnswer
from volvelle.applications.serving.split.cache_transfer import TransferLink, cache_transfer
from volvelle.applications.serving.static_answer import prediction_errors
from volvelle.applications.serving.under_load import (
    Occupancy,
    arrival_span,
    followed_clients,
    occupancy_of,
    run_of_load,
    share_of,
)
from volvelle.catalogue.engines import split_error
from volvelle.domains import NumberDomain
from volvelle.laws.serving.transfer import matched_ratio
from volvelle.simulation.batching.metrics import PERCENTILES, Latency, Metrics
from volvelle.simulation.batching.rules import Rules
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.serving import serve
from volvelle.simulation.batching.stability import Unstable
from volvelle.simulation.pools.served_split import PoolName, ServedSplit
from volvelle.simulation.pools.two_pools import Pool, Router, serve_split
from volvelle.workload.serving.lengths import AbstractShape
from volvelle.workload.serving.loads import AbstractLoad
from volvelle.workload.serving.requests import Requests

_CLIENTS = NumberDomain(1, 50_000, whole=True)
"""That are followed of one part: requests are handed over one by one, which takes several times as long as serving."""
_BATCHES = 8
"""Steps full of prompts in which the rate of a pool is found."""
_WAVES = 3
"""Times that a full batch of answers is decoded for the same."""
_FEWEST, _MOST_FOUND = 32, 3000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorkerPool:
    """Instances that are alike."""

    instance: Instance
    workers: int

    @property
    def ranks(self) -> int:
        """Data-parallel ranks of all workers: each has a scheduler of its own."""
        return self.workers * self.instance.layout.data

    @property
    def chips(self) -> int:
        """Of all workers."""
        return self.workers * self.instance.layout.chips


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolAnswer:
    """What one pool did."""

    workers: int
    ranks: int
    chips: int
    busy: float
    """Part of the time in which its engines were in a step, in the mean."""
    capacity: float | None
    """Requests a second that all of its workers sustain when requests always wait; None: none come, or not asked."""
    rate: float
    """Requests a second that went through it."""
    occupancy: Occupancy | None
    """Of one rank, the fullest; None: none came."""

    @property
    def utilisation(self) -> float:
        """Of what it sustains, the part that was asked of it."""
        return self.rate / self.capacity if self.capacity else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitAnswer(MachineAnswer):
    """What came of a load on all workers; latencies are those of some ranks of each worker, which stand for all."""

    parts: int
    """Equal parts of the ranks of every worker, of which one is followed."""
    unstable_pool: PoolName | None
    """The pool that does not keep up."""
    first_at_prefill: Latency
    """TTFT where the first token is handed out before the transfer."""
    transfer: Latency
    wait_for_room: Latency
    prefill: PoolAnswer
    decode: PoolAnswer

    def _latencies(self, found: Metrics) -> Mapping[str, Latency]:
        """The first token is handed out when the answer begins to be decoded."""
        return {
            "ttft": found.ttft,
            "ttft_at_prefill": self.first_at_prefill,
            "transfer": self.transfer,
            "wait_for_room": self.wait_for_room,
            "tpot": found.tpot,
            "itl": found.itl,
            "e2el": found.e2el,
        }

    @property
    def throughput_per_user(self) -> float | None:
        """Output tokens a second that one request gets once it has its first."""
        found = self.metrics
        return None if found is None or not np.isfinite(found.tpot.mean) else 1.0 / found.tpot.mean

    @property
    def binds(self) -> PoolName:
        """The pool that is nearer to what it sustains."""
        if self.unstable_pool is not None:
            return self.unstable_pool
        return "prefill" if self.prefill.utilisation >= self.decode.utilisation else "decode"

    @property
    def matched(self) -> float | None:
        """Prefill workers for each decode worker with which both pools would sustain the same; None: one is idle."""
        if not self.prefill.capacity or not self.decode.capacity:
            return None
        own = self.prefill.capacity / self.prefill.workers, self.decode.capacity / self.decode.workers
        return float(matched_ratio(*own))


def split_answer(
    prefill: WorkerPool,
    decode: WorkerPool,
    load: AbstractLoad,
    shape: AbstractShape | None,
    *,
    link: TransferLink,
    by_layer: bool = False,
    router: Router = Router.ROUND_ROBIN,
    requests: int | None = None,
    seed: int = 0,
    rates: bool = True,
    percentiles: tuple[float, ...] = (),
    after_warm_up: bool = True,
) -> SplitAnswer:
    """A load on two pools; `requests` are those of the whole machine, `rates` is whether to find what pools sustain.

    `percentiles` of what clients measure are kept beside the usual ones. Without `after_warm_up`, the first request of
    each client is counted too, as benchmarks do.

    All workers are followed. Where those of both pools have several data-parallel ranks, an equal part of each worker
    is, with an even share of the load: as ranks of one worker go.
    """
    parts = gcd(prefill.instance.layout.data, decode.instance.layout.data)
    own, share = share_of(load, parts)
    concurrency = followed_clients(own, _CLIENTS, "one part of the pools")
    first = _pool(prefill, parts, prefill.instance.rules(concurrency=concurrency))
    second = _pool(decode, parts, decode.instance.rules(concurrency=concurrency).behind_front_end)

    kept = tuple(dict.fromkeys((*PERCENTILES, *percentiles)))

    def run(count: int) -> tuple[ServedSplit, Metrics | Unstable]:
        asked = own.requests(shape, count=count, seed=seed)
        transfer = cache_transfer(prefill.instance, decode.instance, asked.input_tokens, link, by_layer=by_layer)
        served = replace(serve_split(asked, first, second, transfer, router=router), after_warm_up=after_warm_up)
        found = served.unstable()
        return served, served.measure(percentiles=kept) if found is None else found[1]

    served, outcome = run_of_load(own, requests, parts, run)
    growing = served.unstable()
    every = share * served.sent.size / served.duration
    several = share * int((served.output_tokens > 1).sum()) / served.duration
    first_pool = _of_pool(
        prefill,
        served.prefill,
        first.rules,
        served.duration,
        every,
        _prefill_rate(prefill, served) if rates else None,
    )
    second_pool = _of_pool(
        decode,
        served.decode,
        second.rules,
        served.duration,
        several,
        _decode_rate(decode, served) if rates else None,
    )
    sustained = [rate for rate in (first_pool.capacity, second_pool.capacity) if rate is not None]
    return SplitAnswer(
        requests=int(served.sent.size),
        parts=parts,
        share=share,
        chips=prefill.chips + decode.chips,
        outcome=outcome,
        unstable_pool=None if isinstance(outcome, Metrics) else (growing[0] if growing else "prefill"),
        first_at_prefill=served.first_at_prefill,
        transfer=served.transfer,
        wait_for_room=served.wait_for_room,
        prefill=first_pool,
        decode=second_pool,
        errors=errors_of_pools(prefill.instance, decode.instance),
        stationary=served.stationary,
        span=arrival_span(load, served.sent, served.clients, requests),
        capacity=min(sustained, default=None),
    )


def _pool(pool: WorkerPool, parts: int, rules: Rules) -> Pool:
    return Pool(costs=pool.instance.costs(rules), rules=rules, engines=pool.ranks // parts)


def errors_of_pools(prefill: Instance, decode: Instance) -> Mapping[str, float]:
    """Of the pool that a figure comes from, and the larger of both where it comes from both.

    No smaller than runs of split pools showed: a first token waits for a pool, a transfer and another pool.
    """
    first, second = prediction_errors(prefill), prediction_errors(decode)
    both = {name: max(first[name], second[name]) for name in ("latency", "throughput")}
    found = {"ttft": first["ttft"], "tpot": second["tpot"], **both}
    return {name: max(error, split_error(name)) for name, error in found.items()}


def _of_pool(
    pool: WorkerPool, engines: tuple[Served, ...], rules: Rules, duration: float, rate: float, capacity: float | None
) -> PoolAnswer:
    used = [served for served in engines if served.spans.steps.size]
    stepping = sum(float((served.spans.end - served.spans.begin).sum()) for served in used)
    found = [occupancy_of(served, rules, pool.instance.rules()) for served in used]
    fullest = max(found, key=lambda one: (one.most_waiting, one.mean_running), default=None)
    return PoolAnswer(
        workers=pool.workers,
        ranks=pool.ranks,
        chips=pool.chips,
        busy=stepping / (duration * len(engines)),
        capacity=capacity,
        rate=rate,
        occupancy=fullest,
    )


def _first(served: ServedSplit, kept: np.typing.NDArray[np.bool_], count: int, outputs: int | None) -> Requests:
    """So many requests at once, of the lengths that were served; those that there are again and again."""
    rows = np.resize(np.flatnonzero(kept), count)
    answers = served.output_tokens[rows] if outputs is None else np.full(count, outputs, np.int64)
    return Requests(arrival=np.zeros(count), input_tokens=served.input_tokens[rows], output_tokens=answers)


def _prefill_rate(pool: WorkerPool, served: ServedSplit) -> float:
    """Requests a second that all workers compute the prompts of, when prompts always wait."""
    rules = pool.instance.rules()
    mean = float(served.input_tokens.mean())
    count = int(np.clip(_BATCHES * rules.token_budget / mean, _FEWEST, _MOST_FOUND))
    asked = _first(served, np.ones(served.sent.size, np.bool_), count, 1)
    found = serve(asked, pool.instance.costs(rules), rules.behind_front_end)
    return pool.ranks * count / found.duration


def _decode_rate(pool: WorkerPool, served: ServedSplit) -> float | None:
    """Requests a second that all workers decode, when computed prompts always wait."""
    several = served.output_tokens > 1
    if not several.any():
        return None
    rules = pool.instance.rules().behind_front_end
    length = float((served.input_tokens + served.output_tokens)[several].mean())
    together = max(1, min(rules.max_sequences, int(rules.kv_blocks * rules.block_tokens / length)))
    count = int(np.clip(_WAVES * together, _FEWEST, _MOST_FOUND))
    asked = _first(served, several, count, None)
    found = serve(asked, pool.instance.costs(rules), rules, handed=np.ones(count, np.bool_))
    return pool.ranks * count / found.duration
