"""What holds of any load on two pools, whatever the engines, the links and the router."""

import os
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

from tests.property.test_batching import assert_same, case, some_costs
from volvelle.simulation.batching import worker
from volvelle.simulation.batching.metrics import measure
from volvelle.simulation.batching.rules import Engine
from volvelle.simulation.batching.serving import serve
from volvelle.simulation.pools.served_split import ServedSplit
from volvelle.simulation.pools.two_pools import Pool, Router, serve_split
from volvelle.workload.serving.requests import Requests

SEEDS = range(200 if os.environ.get("VOLVELLE_EXAMPLES") == "fuzz" else 20)


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(worker._PLAIN, "spans", 0)


@dataclass(frozen=True)
class Links:
    """So many seconds a token, after the prompt or beside it."""

    tokens: np.ndarray
    seconds: float = 0.0
    layers: int = 1

    @property
    def least(self) -> float:
        return float(self.tokens.min()) * self.seconds / self.layers

    def arrival(self, request: int, *, started: float, computed: float, free: float) -> float:
        took = float(self.tokens[request]) * self.seconds
        first = max(started + (computed - started) / self.layers, free)
        return max(first + took, computed + took / self.layers)


@dataclass(frozen=True)
class Split:
    requests: Requests
    prefill: Pool
    decode: Pool
    links: Links
    router: Router

    def run(self) -> ServedSplit:
        return serve_split(self.requests, self.prefill, self.decode, self.links, router=self.router)


def some_split(seed: int) -> Split:
    requests, costs, rules = case(seed)
    _, _, others = case(seed + 1000)
    generator = np.random.default_rng(seed + 5000)
    decode = others.behind_front_end
    return Split(
        requests=requests,
        prefill=Pool(costs=costs, rules=rules, engines=int(generator.integers(1, 4))),
        decode=Pool(
            costs=some_costs(generator, decode.most_tokens, decode.max_sequences),
            rules=decode,
            engines=int(generator.integers(1, 4)),
        ),
        links=Links(
            tokens=requests.input_tokens,
            seconds=float(generator.choice([0.0, 1e-4, 3e-3])),
            layers=int(generator.choice([1, 20])),
        ),
        router=Router(int(generator.integers(2))),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_tokens_and_blocks_are_conserved_and_nothing_happens_before_its_cause(seed: int) -> None:
    split = some_split(seed)
    found = split.run()
    several = found.output_tokens > 1
    assert sum(one.sent.size for one in found.prefill) == found.sent.size
    assert sum(one.sent.size for one in found.decode) == several.sum()
    assert sum(int(one.input_tokens.sum()) for one in found.prefill) == found.input_tokens.sum()
    assert sum(int(one.output_tokens.sum()) for one in found.decode) == found.output_tokens[several].sum()
    assert all(one.free_blocks == one.kv_blocks for one in (*found.prefill, *found.decode))
    assert all(one.least_free_blocks >= 0 for one in (*found.prefill, *found.decode))
    assert np.all(found.offered <= found.sent)
    assert np.all(found.sent <= found.admitted)
    assert np.all(found.admitted < found.computed)
    assert np.all((found.computed + split.links.least)[several] <= found.arrived[several] + 1e-12)
    assert np.all(found.arrived <= found.delivered)
    assert np.all(found.delivered[several] < found.end[several])
    np.testing.assert_array_equal(found.delivered[~several], found.computed[~several])


@pytest.mark.parametrize("seed", SEEDS)
def test_clients_send_one_request_at_a_time(seed: int) -> None:
    found = some_split(seed).run()
    if found.clients:
        moments = np.sort(found.sent)
        for moment in moments:
            assert np.count_nonzero((found.sent <= moment) & (found.end > moment)) <= found.clients
        later = np.sort(found.sent)[found.clients :]
        np.testing.assert_array_equal(later, np.sort(found.end)[: later.size])


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_of_one_token_are_those_of_the_first_pool_alone(seed: int) -> None:
    """The other pool is idle, and the links carry nothing: one engine is the engine that is not split."""
    split = some_split(seed)
    single = replace(split.requests, output_tokens=np.ones(len(split.requests), np.int64))
    rules = split.prefill.rules
    alone = serve(single, split.prefill.costs, rules)
    found = serve_split(single, replace(split.prefill, engines=1), split.decode, split.links, router=split.router)
    np.testing.assert_array_equal(found.sent, alone.sent)
    np.testing.assert_array_equal(found.admitted, alone.admitted)
    np.testing.assert_array_equal(found.end, alone.end)
    one, other = found.measure(), measure(alone)
    assert one.ttft == other.ttft
    assert one.output_throughput == other.output_throughput
    assert one.max_output_tokens_per_s == other.max_output_tokens_per_s


@pytest.mark.parametrize("seed", SEEDS)
def test_decoding_is_what_one_engine_does_with_prompts_that_come_computed(seed: int) -> None:
    """The second pool, given the arrivals of its caches at once, does the same: nothing depends on how it was asked."""
    split = some_split(seed)
    found = replace(split, decode=replace(split.decode, engines=1)).run()
    pool = found.decode[0]
    if not pool.sent.size:
        return
    arrivals = Requests(arrival=pool.sent, input_tokens=pool.input_tokens, output_tokens=pool.output_tokens)
    handed = np.ones(pool.sent.size, np.bool_)
    for jumping in (True, False):
        again = serve(arrivals, split.decode.costs, split.decode.rules, handed=handed, jumping=jumping)
        np.testing.assert_allclose(again.admitted, pool.admitted, rtol=1e-9)
        np.testing.assert_allclose(again.end, pool.end, rtol=1e-9)
        np.testing.assert_array_equal(again.preempted, pool.preempted)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_crowd_of_clients_is_served_as_if_all_had_been_known_when_they_came(seed: int) -> None:
    """More wait than engines admit: these go on before it is known who comes next, and do the same."""
    split = some_split(seed)
    prefill, decode = replace(split.prefill, engines=1), replace(split.decode, engines=1)
    tokens = np.tile(split.requests.input_tokens, 4), np.tile(split.requests.output_tokens, 4)
    crowd = Requests(arrival=np.zeros(tokens[0].size), input_tokens=tokens[0], output_tokens=tokens[1], clients=40)
    found = serve_split(crowd, prefill, decode, replace(split.links, tokens=tokens[0]), router=split.router)
    later = np.sort(found.sent)[crowd.clients :]
    np.testing.assert_array_equal(later, np.sort(found.end)[: later.size])
    for served, pool, computed in ((found.prefill[0], prefill, False), (found.decode[0], decode, True)):
        if served.sent.size:
            came = Requests(arrival=served.sent, input_tokens=served.input_tokens, output_tokens=served.output_tokens)
            again = serve(came, pool.costs, pool.rules, handed=np.full(served.sent.size, computed))
            assert_same(again, replace(served, sent=again.sent))


@pytest.mark.parametrize("seed", range(20))
def test_a_free_link_and_a_prefill_that_takes_no_time_leave_decoding_alone(seed: int) -> None:
    split = some_split(seed)
    costs = split.prefill.costs
    nothing = replace(
        costs,
        tokens=np.full(costs.tokens.shape, 1e-12),
        captured=np.full(costs.tokens.shape, np.inf),
        launches=np.zeros(1),
        head=np.zeros(costs.head.shape),
        chunk=np.zeros(costs.chunk.shape),
        chunk_start=0.0,
        host=0.0,
        host_sequence=0.0,
        per_sequence=0.0,
        per_admission=0.0,
    )
    count = len(split.requests)
    rules = replace(split.prefill.rules.behind_front_end, kv_blocks=10**6, max_sequences=11)
    requests = replace(
        split.requests, output_tokens=split.requests.output_tokens + 1, arrival=np.arange(count) * 0.01, clients=0
    )
    tall = some_costs(np.random.default_rng(seed), rules.most_tokens, rules.max_sequences)
    nothing = replace(
        nothing,
        **{name: np.resize(getattr(nothing, name), tall.tokens.shape) for name in ("tokens", "captured", "launches")},
    )
    nothing = replace(
        nothing, head=np.zeros(tall.head.shape), decode=np.zeros((tall.head.size, costs.context_nodes.size))
    )
    decode = replace(split.decode, engines=1)
    found = serve_split(requests, Pool(costs=nothing, rules=rules, engines=1), decode, Links(requests.input_tokens))
    alone = serve(requests, decode.costs, decode.rules, handed=np.ones(count, np.bool_))
    np.testing.assert_allclose(found.end, alone.end, atol=1e-6, rtol=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_faster_link_never_raises_the_time_to_the_first_token(seed: int) -> None:
    """Of requests that come by themselves, where each finds room: nobody is overtaken."""
    split = some_split(seed)
    ample = replace(split.decode.rules, kv_blocks=10**6, max_sequences=11, receive_interval=1)
    if ample.engine is not Engine.VLLM:
        return
    costs = some_costs(np.random.default_rng(seed), ample.most_tokens, ample.max_sequences)
    requests = replace(split.requests, clients=0)
    free = []
    for seconds in (0.0, 1e-4, 3e-3, 1e-2):
        links = replace(split.links, seconds=seconds)
        found = serve_split(
            requests, split.prefill, Pool(costs=costs, rules=ample, engines=1), links, router=split.router
        )
        free.append((found.computed, found.arrived))
    for (computed, arrived), (slower_computed, slower_arrived) in pairwise(free):
        np.testing.assert_array_equal(computed, slower_computed)
        assert np.all(arrived <= slower_arrived)


@pytest.mark.parametrize("seed", SEEDS)
def test_littles_law_holds_in_each_pool(seed: int) -> None:
    """Requests in a pool in the mean are those that come a second times how long one stays."""
    found = some_split(seed).run()
    for pool in (found.prefill, found.decode):
        came = np.concatenate([one.sent for one in pool])
        left = np.concatenate([one.end for one in pool])
        if not came.size:
            continue
        moments = np.sort(np.concatenate((came, left)))
        inside = np.searchsorted(np.sort(came), moments, side="right") - np.searchsorted(
            np.sort(left), moments, side="right"
        )
        area = float((inside[:-1] * np.diff(moments)).sum())
        assert area == pytest.approx(float((left - came).sum()), rel=1e-9)
        assert inside.min() >= 0


def test_the_cases_are_not_idle_ones() -> None:
    """Some wait for links, some for room where they decode, some are preempted there; of every engine."""
    waited = room = preempted = 0
    engines = set()
    for seed in range(60):
        split = some_split(seed)
        found = split.run()
        engines.add(split.decode.rules.engine)
        waited += int(np.any(found.arrived - found.computed > split.links.tokens * split.links.seconds + 1e-9))
        room += int(np.any(found.delivered - found.arrived > 0.2))
        preempted += int(any(one.preemptions for one in found.decode))
    assert engines == set(Engine)
    assert min(waited, room, preempted) >= 3
