"""What holds of any load on any engine, and that the machine that jumps is the one that steps."""

from dataclasses import replace

import numpy as np
import pytest

from tests.property.plain_engines import PlainEngine, PlainSharing
from volvelle.errors import VolvelleError
from volvelle.simulation.batching import worker
from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.metrics import measure
from volvelle.simulation.batching.rules import Engine, Eviction, Rules, vllm
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.serving import serve
from volvelle.workload.serving.lengths import FixedLength, Independent, UniformBelow
from volvelle.workload.serving.loads import Closed, Poisson
from volvelle.workload.serving.requests import Requests

EVERY = 4
"""Of the seeds, one in so many is drawn each time; all of them by scripts/test long."""


def some_of(seeds: range) -> list[object]:
    return [
        pytest.param(seed, marks=() if place % EVERY == 0 else pytest.mark.long) for place, seed in enumerate(seeds)
    ]


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine as long loads run it, however short these are."""
    monkeypatch.setitem(worker._PLAIN, "spans", 0)


def some_costs(generator: np.random.Generator, tokens: int, sequences: int) -> StepCosts:
    """A machine of some kind: captured or not, overlapped or not, with attention that need not be straight."""
    contexts = np.unique(np.concatenate(([0, 10**4], generator.integers(1, 400, 5)))).astype(float)
    chunks, pasts = np.array([0.0, 8.0, tokens + 9.0]), np.array([0.0, 64.0, 4096.0])
    base = generator.uniform(1e-3, 1e-2)
    sizes = np.arange(tokens + 1)
    padded = -(-sizes // 8) * 8
    return StepCosts(
        tokens=base + sizes * generator.uniform(1e-6, 1e-4),
        captured=np.where(sizes <= generator.integers(0, tokens + 1), 0.5 * base + padded * 1e-5, np.inf),
        captures_prompts=bool(generator.random() < 0.5),
        launches=float(generator.choice([0.0, 1.3 * base])),
        head=np.arange(sequences + 1) * 1e-6,
        chunk_nodes=chunks,
        past_nodes=pasts,
        chunk=1e-7 * chunks[:, None] * (pasts + chunks[:, None] / 2),
        chunk_start=1e-5,
        context_nodes=contexts,
        decode=1e-6 * np.arange(sequences + 1)[:, None] * np.sort(generator.uniform(0, 1000, contexts.size)),
        host=generator.uniform(0, 1.5 * base),
        host_sequence=float(generator.choice([0.0, 2e-4])),
        host_overlapped=bool(generator.random() < 0.5),
        per_sequence=1e-5,
        per_admission=1e-4,
    )


def some_rules(generator: np.random.Generator) -> Rules:
    """Settings of any engine, small enough that memory runs short now and then."""
    engine = Engine(int(generator.integers(3)))
    sequences = int(generator.integers(1, 12))
    block = int(generator.choice([1, 4, 16]))
    blocks = int(generator.choice([260, 500, 4000])) // block + 4
    budget = int(generator.integers(12 if engine is Engine.VLLM else 16, 200))
    rules = Rules(
        engine=engine,
        token_budget=budget,
        max_sequences=sequences,
        block_tokens=block,
        kv_blocks=blocks,
        reserve_whole_prompt=bool(generator.random() < 0.5),
        prefix_caching=bool(generator.random() < 0.7),
        api_seconds=float(generator.choice([0.0, 0.004])),
        tokenising=float(generator.choice([0.0, 2e-5])),
        ahead=bool(generator.random() < 0.5),
    )
    if engine is Engine.SGLANG:
        return replace(
            rules,
            mixes=bool(generator.random() < 0.4),
            chunk_tokens=int(generator.choice([0, 32, 100])),
            receive_interval=int(generator.choice([1, 3, 10])),
            conservativeness=float(generator.choice([0.1, 0.3, 1.0])),
            max_output=int(generator.choice([0, 70])),
        )
    if engine is Engine.TENSORRT_LLM:
        return replace(
            rules,
            chunks=bool(generator.random() < 0.5),
            token_budget=max(budget, 121),
            eviction=Eviction(int(generator.integers(2))),
            batch_wait_steps=int(generator.choice([0, 5])),
            batch_wait_ratio=0.7,
            balance_steps=int(generator.choice([0, 0, 7])),
            balance_wait_steps=int(generator.choice([0, 3])),
            balance_queue=int(generator.choice([1, 3])),
            reserve_whole_prompt=True,
        )
    return rules


def some_requests(generator: np.random.Generator) -> Requests:
    count = int(generator.integers(1, 60))
    arrival = np.zeros(count)
    clients = int(generator.choice([0, 1, 5]))
    if clients == 0 and generator.random() < 0.8:
        arrival = np.cumsum(generator.exponential(generator.choice([0.01, 0.1, 1.0]), count))
    return Requests(
        arrival=arrival,
        input_tokens=generator.integers(1, 121, count),
        output_tokens=generator.integers(1, 90, count),
        clients=clients,
    )


def case(seed: int) -> tuple[Requests, StepCosts, Rules]:
    generator = np.random.default_rng(seed)
    rules, requests = some_rules(generator), some_requests(generator)
    return requests, some_costs(generator, rules.most_tokens, rules.max_sequences), rules


def assert_same(one: Served, other: Served) -> None:
    for name in ("sent", "admitted", "first_token", "end"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(one.preempted, other.preempted)


@pytest.mark.parametrize("seed", some_of(range(200)))
def test_jumping_between_events_is_stepping_token_by_token(seed: int) -> None:
    requests, costs, rules = case(seed)
    jumped, stepped = serve(requests, costs, rules), serve(requests, costs, rules, jumping=False)
    assert_same(jumped, stepped)
    one, other = measure(jumped), measure(stepped)
    assert one.itl.mean == pytest.approx(other.itl.mean, rel=1e-9, nan_ok=True)
    assert one.itl.percentiles[99.0] == pytest.approx(other.itl.percentiles[99.0], rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("seed", some_of(range(200)))
def test_the_machine_is_the_engine_written_out_plainly(seed: int) -> None:
    requests, costs, rules = case(seed)
    served, plain = serve(requests, costs, rules), PlainEngine(requests, costs, rules).run()
    np.testing.assert_allclose(served.end, [each.times[-1] for each in plain.all], rtol=1e-9)
    np.testing.assert_allclose(served.first_token, [each.times[0] for each in plain.all], rtol=1e-9)
    np.testing.assert_array_equal(served.preempted, [each.preempted for each in plain.all])
    gaps = np.concatenate([np.diff(each.times) for each in plain.all])
    found = measure(served)
    itl = found.itl
    seconds = np.floor(np.concatenate([each.times for each in plain.all]) - served.sent.min())
    assert found.max_output_tokens_per_s == np.unique(seconds, return_counts=True)[1].max()
    touched = [np.arange(np.floor(sent), np.floor(end) + 1) for sent, end in zip(served.sent, served.end, strict=True)]
    assert found.max_concurrent_requests == np.unique(np.concatenate(touched), return_counts=True)[1].max()
    if gaps.size:
        assert itl.mean == pytest.approx(gaps.mean(), rel=1e-9)
        assert itl.std == pytest.approx(gaps.std(), rel=1e-6, abs=1e-12)
        assert itl.percentiles[99.0] == pytest.approx(np.percentile(gaps, 99), rel=1e-9)
        assert itl.median == pytest.approx(np.median(gaps), rel=1e-9)


def test_the_cases_are_not_idle_ones() -> None:
    """Some preempt, some queue, of every engine."""
    preempted = dict.fromkeys(Engine, 0)
    for seed in range(200):
        requests, costs, rules = case(seed)
        preempted[rules.engine] += serve(requests, costs, rules).preemptions > 0
    assert min(preempted.values()) >= 5, preempted


@pytest.mark.parametrize("seed", some_of(range(0, 200, 4)))
def test_tokens_blocks_and_requests_are_conserved(seed: int) -> None:
    requests, costs, rules = case(seed)
    served = serve(requests, costs, rules)
    assert served.free_blocks == rules.kv_blocks
    assert served.least_free_blocks >= 0
    first = int((requests.input_tokens).sum())
    recomputed = served.prefilled_tokens + served.found_tokens - first
    assert recomputed >= 0
    assert recomputed == 0 or served.preemptions > 0
    decoded = int((served.spans.steps * served.spans.decoding).sum())
    # Every token comes of a decoding step, of a prompt, or of a prompt that was computed again.
    assert decoded + len(requests) + served.resumption_gaps.size == int(requests.output_tokens.sum())


@pytest.mark.parametrize("seed", some_of(range(0, 200, 4)))
def test_time_goes_on_and_nobody_is_answered_before_asking(seed: int) -> None:
    requests, costs, rules = case(seed)
    served = serve(requests, costs, rules)
    assert np.all(served.offered <= served.sent)
    assert np.all(served.sent + rules.api_seconds <= served.admitted)
    assert np.all(served.admitted < served.first_token)
    assert np.all(served.first_token <= served.end)
    assert np.all(np.diff(served.spans.begin) > 0)
    assert np.all(served.spans.end[:-1] <= served.spans.begin[1:] * (1 + 1e-12))


@pytest.mark.parametrize("seed", some_of(range(0, 200, 4)))
def test_a_first_token_takes_at_least_what_its_prompt_takes_alone(seed: int) -> None:
    """Times of a step that only grow with what is in it."""
    requests, costs, rules = case(seed)
    costs = replace(costs, captured=np.full(costs.tokens.size, np.inf))
    alone = replace(requests, clients=1, arrival=np.zeros(len(requests)))
    alone_ttft = serve(alone, costs, rules)
    served = serve(requests, costs, rules)
    lone = alone_ttft.first_token - alone_ttft.sent
    # A request that waits for nobody may still meet one whose prompt ends in the same step.
    assert np.all(served.first_token - served.sent >= lone * (1 - 1e-9) - 1e-12)


@pytest.mark.parametrize("seed", some_of(range(0, 200, 4)))
def test_little_s_law_holds(seed: int) -> None:
    """Requests in the system, averaged over time, are those that come a second times the time that each stays."""
    requests, costs, rules = case(seed)
    served = serve(requests, costs, rules)
    edges = np.unique(np.concatenate((served.sent, served.end, [0.0])))
    middle = 0.5 * (edges[1:] + edges[:-1])
    inside = np.searchsorted(np.sort(served.sent), middle) - np.searchsorted(np.sort(served.end), middle)
    average = float((inside * np.diff(edges)).sum()) / served.duration
    rate = len(requests) / served.duration
    assert average == pytest.approx(rate * float((served.end - served.sent).mean()), rel=1e-9)


def lone_sum(requests: Requests, costs: StepCosts, rules: Rules) -> float:
    """Seconds that requests take one after the other, step by step."""
    return PlainEngine(replace(requests, clients=1), costs, rules).run().now


FIXED = Independent(input=FixedLength(tokens=100), output=FixedLength(tokens=40))
MIXED = Independent(input=UniformBelow(tokens=120, range_ratio=0.5), output=UniformBelow(tokens=60, range_ratio=0.5))


def test_one_client_waits_for_the_sum_of_all_steps() -> None:
    costs, rules = some_costs(np.random.default_rng(1), 64, 8), vllm(kv_blocks=200, token_budget=64, max_sequences=8)
    requests = Closed(clients=1).requests(MIXED, count=20)
    assert serve(requests, costs, rules).duration == pytest.approx(lone_sum(requests, costs, rules), rel=1e-9)


def test_requests_that_come_rarely_are_served_as_by_one_client() -> None:
    costs, rules = some_costs(np.random.default_rng(2), 64, 8), vllm(kv_blocks=200, token_budget=64, max_sequences=8)
    rare = serve(Poisson(rate=1e-3).requests(MIXED, count=20, seed=3), costs, rules)
    single = serve(Closed(clients=1).requests(MIXED, count=20, seed=3), costs, rules)
    np.testing.assert_allclose(rare.first_token - rare.sent, single.first_token - single.sent, rtol=1e-6)
    np.testing.assert_allclose(rare.end - rare.sent, single.end - single.sent, rtol=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_more_memory_or_faster_steps_never_slow_one_client_down(seed: int) -> None:
    generator = np.random.default_rng(seed)
    costs, rules = some_costs(generator, 64, 8), vllm(kv_blocks=12, token_budget=64, max_sequences=8)
    requests = Closed(clients=1).requests(MIXED, count=10, seed=seed)
    slow = serve(requests, costs, rules).duration
    assert serve(requests, costs, replace(rules, kv_blocks=1000)).duration <= slow
    faster = replace(costs, tokens=0.9 * costs.tokens, captured=0.9 * costs.captured, decode=0.9 * costs.decode)
    assert serve(requests, faster, rules).duration <= slow


def test_a_prompt_larger_than_all_memory_is_refused_with_the_reason() -> None:
    costs, rules = some_costs(np.random.default_rng(1), 64, 8), vllm(kv_blocks=8, token_budget=64, max_sequences=8)
    with pytest.raises(VolvelleError, match=r"request 1 of 100 prompt and 40 output tokens .* KV blocks hold 128"):
        serve(Closed(clients=1).requests(FIXED, count=2), costs, rules)


def test_a_budget_below_a_block_still_serves() -> None:
    costs, rules = some_costs(np.random.default_rng(1), 5, 2), vllm(kv_blocks=20, token_budget=5, max_sequences=2)
    requests = Closed(clients=3).requests(FIXED, count=5)
    assert serve(requests, costs, rules).free_blocks == 20


def test_the_same_load_gives_the_same_times() -> None:
    requests, costs, rules = case(7)
    assert_same(serve(requests, costs, rules), serve(requests, costs, rules))


@pytest.mark.parametrize("seed", some_of(range(100)))
def test_shared_beginnings_are_found_and_forgotten_block_by_block(seed: int) -> None:
    generator = np.random.default_rng(seed)
    count, block = int(generator.integers(2, 50)), 8
    prompts = generator.integers(block, 90, count)
    paths = []
    for tokens in prompts:
        # A few conversations: each block is one of two that may follow the block before it.
        path, at = [], 0
        for _ in range(-(-int(tokens) // block)):
            at = 2 * at + 1 + int(generator.random() < 0.3)
            path.append(at)
        paths.append(path)
    requests = Requests(
        arrival=np.cumsum(generator.exponential(0.05, count)),
        input_tokens=prompts,
        output_tokens=generator.integers(1, 40, count),
        hash_ids=np.array([hashed for path in paths for hashed in path]),
        hash_starts=np.concatenate(([0], np.cumsum([len(path) for path in paths]))),
        hash_tokens=block,
    )
    rules = vllm(
        kv_blocks=int(generator.choice([20, 40, 400])),
        token_budget=int(generator.integers(8, 100)),
        max_sequences=8,
        block_tokens=block,
        reserve_whole_prompt=bool(generator.random() < 0.5),
    )
    costs = some_costs(generator, rules.most_tokens, 8)
    served, plain = serve(requests, costs, rules), PlainSharing(requests, costs, rules).run()
    np.testing.assert_allclose(served.end, [each.times[-1] for each in plain.all], rtol=1e-9)
    np.testing.assert_array_equal(served.preempted, [each.preempted for each in plain.all])
    assert served.free_blocks == rules.kv_blocks == len(plain.free)
    assert served.found_tokens > 0 or count < 5
    assert_same(served, serve(requests, costs, rules, jumping=False))
