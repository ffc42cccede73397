"""Speculation as a law of nature: what drafts may and may not change."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import volvelle
from volvelle.estimators.serving.iteration import Batch, Iteration
from volvelle.estimators.serving.speculative import SpeculativeIteration
from volvelle.estimators.serving.step_tables import step_costs
from volvelle.simulation.batching.cycles import in_cycles
from volvelle.simulation.batching.metrics import measure
from volvelle.simulation.batching.serving import serve
from volvelle.verbs.serving.serve import Serving
from volvelle.workload.serving.lengths import Independent, UniformBelow
from volvelle.workload.serving.loads import Closed, Poisson

ASKED = {"on": "dgx-h100/8", "weights": "fp8", "input": 512, "output": 64}
SHARE = st.integers(0, 20).map(lambda share: share / 20)


@cache
def served(speculate: str | None, *, model: str = "llama3-70b", **more: object) -> Serving:
    return volvelle.serve(model, speculate=speculate, **{**ASKED, **more})  # type: ignore[arg-type]


def tpot(speculate: str | None, batch: int = 8) -> float:
    static = served(speculate, batch=batch).static
    assert static is not None
    return static.tpot


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(["eagle", "mtp", "parallel", "ngram", "draft llama3-8b"]), st.integers(1, 6), SHARE, SHARE)
def test_more_acceptance_is_never_slower(drafter: str, window: int, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert tpot(f"{drafter} {window} acceptance {high:g}") <= tpot(f"{drafter} {window} acceptance {low:g}") * (
        1 + 1e-12
    )


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["eagle", "mtp", "parallel", "draft llama3-8b"]), st.integers(1, 6), st.sampled_from([1, 8, 64]))
def test_drafts_that_are_never_accepted_cost_what_they_cost_and_gain_nothing(
    drafter: str, window: int, batch: int
) -> None:
    answer = served(f"{drafter} {window} acceptance 0", batch=batch)
    assert answer.static is not None
    assert answer.speculation is not None
    assert answer.speculation.speculation.tokens == 1.0
    drafting = sum(part.seconds for part in answer.static.decode if part.name.startswith("draft"))
    assert drafting > 0.0
    assert answer.static.tpot >= tpot(None, batch) + drafting * 0.999
    assert answer.speculation.loss_from == 1


@pytest.mark.parametrize(
    "asked", [{"batch": 8}, {"load": "closed 8", "requests": 40}, {"load": "poisson 4/s", "requests": 80}]
)
@pytest.mark.parametrize("drafter", ["eagle", "ngram", "draft llama3-8b"])
def test_no_window_is_no_speculation(drafter: str, asked: dict[str, object]) -> None:
    without, with_none = served(None, **asked), served(f"{drafter} 0", **asked)
    assert with_none.speculation is None
    assert with_none.to_dict() | {"notes": []} == without.to_dict() | {"notes": []}


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), SHARE, st.integers(1, 100).map(lambda share: share / 100), st.integers(2, 400))
def test_a_cycle_yields_from_one_token_to_all_that_it_verifies(
    window: int, first: float, decay: float, made: int
) -> None:
    found = served(f"ngram {window} acceptance {first:g} decay {decay:g}", batch=1).instance.speculation
    assert found is not None
    assert 1.0 <= found.tokens <= window + 1 + 1e-12
    cycles = found.cycles(made)
    assert made / (window + 1) - 1e-9 <= cycles <= made + 1e-9
    assert cycles >= made / found.tokens - 1e-9


@pytest.mark.parametrize("speculate", ["eagle 3", "ngram 4", "parallel 5", "draft llama3-8b 4"])
def test_the_gain_falls_with_the_batch_of_a_dense_model(speculate: str) -> None:
    found = served(speculate, batch=8).speculation
    assert found is not None
    gains = [row.gain for row in found.batches]
    assert len(gains) > 5
    assert all(later <= earlier * 1.005 for earlier, later in pairwise(gains))
    assert gains[0] > 1.2 > gains[-1]


def test_from_the_batch_that_is_told_on_it_is_a_loss() -> None:
    found = served("ngram 4", batch=8).speculation
    assert found is not None
    assert found.loss_from is not None
    assert tpot("ngram 4", found.loss_from) > tpot(None, found.loss_from)
    assert tpot("ngram 4", found.loss_from - 1) <= tpot(None, found.loss_from - 1)


def test_one_verified_token_and_no_drafter_are_the_steps_of_the_target() -> None:
    target = served(None, batch=1).instance.iteration
    assert isinstance(target, Iteration)
    same = SpeculativeIteration(target=target, verified=1)
    batch = Batch(decodes=np.array([1.0, 64.0]), context=np.array([512.0, 64 * 2048.0]), **_none(2))
    assert np.array_equal(same.steps(batch), target.steps(batch))
    tables = (step_costs(one, most_tokens=600, most_sequences=64) for one in (same, target))
    first, second = (table.tables for table in tables)
    assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))


def _none(rows: int) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    return {name: np.zeros(rows) for name in ("prompt_tokens", "prompts", "past")}


@pytest.mark.parametrize("speculate", ["eagle 3", "eagle 3 acceptance 0.4", "draft llama3-8b 4 tp1", "ngram 5"])
def test_one_client_gets_the_static_answer(speculate: str) -> None:
    loaded = served(speculate, load="closed 1", requests=400, output=256).load
    static = served(speculate, batch=1, output=256).static
    assert loaded is not None
    assert static is not None
    assert loaded.latencies["tpot"].mean == pytest.approx(static.tpot, rel=0.02)
    assert loaded.latencies["ttft"].mean == pytest.approx(static.ttft, rel=0.05)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["vllm", "sglang", "trtllm"]),
    st.sampled_from(["eagle 3", "ngram 5", "eagle 2 tree 3x2", "parallel 4 acceptance 0.6"]),
    st.sampled_from([Closed(clients=5), Closed(clients=40), Poisson(rate=3.0), Poisson(rate=200.0)]),
    st.integers(0, 1000),
    st.sampled_from([400, 3000, 10**6]),
)
def test_jumping_between_cycles_is_following_them_one_by_one(
    engine: str, speculate: str, load: Closed | Poisson, seed: int, blocks: int
) -> None:
    instance = served(speculate, batch=1, engine=engine).instance
    drafts = instance.speculation
    assert drafts is not None
    shape = Independent(
        input=UniformBelow(tokens=600, range_ratio=0.5), output=UniformBelow(tokens=150, range_ratio=0.9)
    )
    requests = drafts.drawn(load.requests(shape, count=30, seed=seed), seed)
    rules = instance.rules(concurrency=64)
    rules = type(rules)(**{**{name: getattr(rules, name) for name in rules.__slots__}, "kv_blocks": blocks})
    costs, rules = in_cycles(instance.costs(rules), rules, requests, lookahead=drafts.lookahead)
    jumped, stepped = (serve(requests, costs, rules, jumping=jumping) for jumping in (True, False))
    assert np.allclose(jumped.end, stepped.end, rtol=1e-9, atol=0.0)
    assert np.allclose(jumped.first_token, stepped.first_token, rtol=1e-9, atol=0.0)
    assert jumped.free_blocks == stepped.free_blocks == rules.kv_blocks
    found = measure(jumped)
    assert found.total_output_tokens == int(requests.output_tokens.sum())
    assert found.tpot.mean <= found.itl.mean * (1 + 1e-9) or found.preemptions


def test_under_load_a_gap_carries_the_tokens_of_a_cycle() -> None:
    loaded = served("eagle 3", load="closed 1", requests=100, output=256).load
    drafts = served("eagle 3", load="closed 1", requests=100, output=256).instance.speculation
    assert loaded is not None
    assert drafts is not None
    found = loaded.latencies
    assert found["itl"].mean / found["tpot"].mean == pytest.approx(1.0 / drafts.token_cycles(255), rel=0.02)


def test_doubt_about_acceptance_widens_the_interval_of_tokens_and_not_of_the_first() -> None:
    sure, unsure = served("eagle 3 acceptance 0.8 decay 0.95", batch=8), served("eagle 3", batch=8)
    assert unsure.ranges["tpot"].high / unsure.ranges["tpot"].low > sure.ranges["tpot"].high / sure.ranges["tpot"].low
    plain = served(None, batch=8)
    widths = [one.ranges["ttft"].high / one.ranges["ttft"].low for one in (plain, unsure)]
    assert widths[0] == pytest.approx(widths[1])


def test_a_drafter_takes_memory_from_the_cache() -> None:
    plain, eagle, model = (served(one, batch=8).memory for one in (None, "eagle 3", "draft llama3-8b 4 tp1"))
    assert plain.draft_weights == 0.0 < eagle.draft_weights < model.draft_weights
    assert plain.cache_blocks > eagle.cache_blocks > model.cache_blocks
    assert plain.request_cache < eagle.request_cache < model.request_cache
    assert sum(part.bytes for part in model.parts) == pytest.approx(model.capacity)


def test_experts_that_all_verified_tokens_touch_make_verification_dearer_than_of_a_dense_model() -> None:
    def verification(model: str) -> float:
        drafted, plain = (
            served(one, model=model, batch=1, kv="bf16", weights="fp8").static for one in ("ngram 4 acceptance 0", None)
        )
        assert drafted is not None
        assert plain is not None
        return drafted.tpot / plain.tpot

    assert verification("qwen3-235b-a22b") > 1.1 * verification("llama3-70b")
