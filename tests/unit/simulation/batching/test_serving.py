"""Rules of engines, one at a time, on cases that can be added up by hand."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.simulation.batching.small import flat_costs, requests
from volvelle.errors import DescriptionError, OutsideDomainError
from volvelle.simulation.batching import worker
from volvelle.simulation.batching.rules import Eviction, Rules, sglang, tensorrt_llm, vllm
from volvelle.simulation.batching.serving import serve
from volvelle.simulation.batching.worker import Worker
from volvelle.workload.serving.requests import Requests

VLLM = vllm(kv_blocks=100, token_budget=64, max_sequences=8, block_tokens=4)
SGLANG = sglang(kv_blocks=1000, token_budget=64, chunk_tokens=32, max_sequences=8)
TENSORRT_LLM = tensorrt_llm(kv_blocks=100, token_budget=64, max_sequences=8, block_tokens=4)


def test_a_prompt_is_computed_and_then_a_token_comes_a_step() -> None:
    served = serve(requests((2.0, 10, 3)), flat_costs(), VLLM)
    assert served.first_token[0] == pytest.approx(2.0 + 1.1)
    assert served.end[0] == pytest.approx(2.0 + 1.1 + 2 * 1.01)


def test_vllm_computes_a_prompt_beside_sequences_that_decode() -> None:
    served = serve(requests((0.0, 10, 5), (1.5, 20, 2)), flat_costs(), VLLM)
    # The second is seen when the first step with decoding alone ends, at 2.11.
    assert served.admitted[1] == pytest.approx(2.11)
    assert served.first_token[1] == pytest.approx(2.11 + 1.21)
    assert served.end[0] == pytest.approx(2.11 + 1.21 + 1.02 + 1.01)


@pytest.mark.parametrize("rules", [VLLM, SGLANG, TENSORRT_LLM], ids=["vllm", "sglang", "trtllm"])
def test_what_comes_while_a_step_runs_waits_for_the_one_after_the_next_where_steps_are_chosen_ahead(
    rules: Rules,
) -> None:
    asked = requests((0.0, 10, 9), (1.5, 20, 2))
    # It comes in the step that ends at 2.11; the one after that was chosen when it began.
    assert serve(asked, flat_costs(), rules).admitted[1] == pytest.approx(2.11)
    assert serve(asked, flat_costs(), replace(rules, ahead=True)).admitted[1] == pytest.approx(2.11 + 1.01)


def test_an_idle_engine_that_chooses_steps_ahead_starts_at_once() -> None:
    asked = requests((0.0, 10, 3), (50.0, 20, 2))
    ahead = serve(asked, flat_costs(), replace(VLLM, ahead=True))
    np.testing.assert_allclose(ahead.first_token, serve(asked, flat_costs(), VLLM).first_token)


def test_looks_at_what_has_arrived_are_as_far_apart_where_steps_are_chosen_ahead() -> None:
    rules = replace(SGLANG, receive_interval=10, ahead=True)
    served = serve(requests((0.0, 10, 40), (1.5, 20, 2)), flat_costs(), rules)
    assert served.admitted[1] == pytest.approx(1.1 + 10 * 1.01)


def test_vllm_cuts_a_prompt_where_the_budget_ends() -> None:
    served = serve(requests((0.0, 100, 1)), flat_costs(), VLLM)
    assert served.first_token[0] == pytest.approx(1.64 + 1.36)


def test_sglang_lets_decoding_wait_for_prompts() -> None:
    served = serve(requests((0.0, 10, 5), (1.5, 20, 2)), flat_costs(), SGLANG)
    assert served.first_token[1] == pytest.approx(2.11 + 1.2)
    assert served.end[0] == pytest.approx(2.11 + 1.2 + 1.02 + 1.01 + 1.01)


def test_sglang_mixes_where_it_is_asked_to() -> None:
    mixed = serve(requests((0.0, 10, 5), (1.5, 20, 2)), flat_costs(), replace(SGLANG, mixes=True))
    assert mixed.first_token[1] == pytest.approx(2.11 + 1.21)


def test_sglang_looks_at_what_has_arrived_once_an_interval() -> None:
    served = serve(requests((0.0, 10, 30), (1.5, 20, 2)), flat_costs(), replace(SGLANG, receive_interval=10))
    # The prompt is worth a thousand steps: it looks at 1.1, and then ten decoding steps later.
    assert served.admitted[1] == pytest.approx(1.1 + 10 * 1.01)


def test_tensorrt_llm_lets_prompts_wait_for_a_fuller_step() -> None:
    waits = replace(TENSORRT_LLM, batch_wait_steps=5, batch_wait_ratio=0.5)
    one = serve(requests((0.0, 10, 30), (1.5, 20, 2)), flat_costs(), waits)
    assert one.admitted[1] == pytest.approx(1.1 + 1.01 + 5 * 1.01)
    two = serve(requests((0.0, 10, 30), (1.5, 20, 2), (3.0, 20, 2)), flat_costs(), waits)
    assert two.admitted[1] == pytest.approx(1.1 + 2 * 1.01)


def test_tensorrt_llm_lets_prompts_wait_until_all_ranks_have_one_or_every_so_many_steps() -> None:
    balanced = replace(TENSORRT_LLM, balance_steps=10, balance_queue=2)
    one = serve(requests((0.0, 10, 30), (1.5, 20, 2)), flat_costs(), balanced)
    assert one.admitted[1] == pytest.approx(1.1 + 10 * 1.01)
    two = serve(requests((0.0, 10, 30), (1.5, 20, 2), (3.0, 20, 2)), flat_costs(), balanced)
    assert two.admitted[1] == two.admitted[2] == pytest.approx(1.1 + 2 * 1.01)
    longer = serve(
        requests((0.0, 10, 30), (1.5, 20, 2), (3.0, 20, 2)), flat_costs(), replace(balanced, balance_wait_steps=3)
    )
    assert longer.admitted[1] == pytest.approx(1.1 + 5 * 1.01)


def test_who_comes_matters_while_more_wait_than_may_run_but_not_all_ranks_have_a_prompt() -> None:
    balanced = replace(TENSORRT_LLM, max_sequences=2, balance_steps=1000, balance_queue=4)
    rows = [(0.0, 10, 60), (1.5, 20, 2), (1.5, 20, 2), (1.5, 20, 2), (9.0, 20, 2)]
    known = serve(requests(*rows), flat_costs(), balanced)
    one = Worker.idle(flat_costs(), balanced)
    for row in rows:
        one.run(until=row[0])
        one.give([row[0]], [row[1]], [row[2]], [False])
    one.run()
    assert one.admissions.tolist() == pytest.approx(known.admitted.tolist())


def test_tensorrt_llm_starts_a_request_only_if_it_fits_to_its_end() -> None:
    tight = replace(TENSORRT_LLM, kv_blocks=12)
    load = requests((0.0, 10, 20), (0.0, 10, 20))
    assert serve(load, flat_costs(), tight).admitted[1] > 10
    free = serve(load, flat_costs(), replace(tight, eviction=Eviction.RECOMPUTE))
    assert free.admitted[1] == 0
    assert free.preemptions == 1


def test_vllm_preempts_the_last_admitted_and_finds_its_blocks_again() -> None:
    tight = replace(VLLM, kv_blocks=12)
    load = requests((0.0, 10, 20), (0.0, 10, 20))
    served = serve(load, flat_costs(), tight)
    assert served.preempted.tolist() == [0, 1]
    without = serve(load, flat_costs(), replace(tight, prefix_caching=False))
    assert without.prefilled_tokens > served.prefilled_tokens
    assert served.free_blocks == without.free_blocks == 12


def test_the_first_that_waits_blocks_those_behind_it() -> None:
    tight = replace(VLLM, kv_blocks=15)
    served = serve(requests((0.0, 20, 20), (0.5, 30, 2), (0.5, 1, 2)), flat_costs(), tight)
    assert served.admitted[2] >= served.admitted[1]


def test_a_shared_beginning_is_computed_once() -> None:
    load = Requests(
        arrival=np.array([0.0, 5.0]),
        input_tokens=np.array([20, 20]),
        output_tokens=np.array([2, 2]),
        hash_ids=np.array([7, 8, 7, 9]),
        hash_starts=np.array([0, 2, 4]),
        hash_tokens=8,
    )
    for rules in (VLLM, replace(SGLANG, block_tokens=4), TENSORRT_LLM):
        served = serve(load, flat_costs(), rules)
        assert served.found_tokens == 8
        assert served.prefilled_tokens == 32
        assert served.free_blocks == rules.kv_blocks


def test_a_prompt_that_is_all_there_still_computes_its_last_token() -> None:
    load = Requests(
        arrival=np.array([0.0, 5.0]),
        input_tokens=np.array([16, 16]),
        output_tokens=np.array([2, 2]),
        hash_ids=np.array([7, 8, 7, 8]),
        hash_starts=np.array([0, 2, 4]),
        hash_tokens=8,
    )
    assert serve(load, flat_costs(), VLLM).prefilled_tokens == 17


def test_clients_send_the_next_request_when_one_has_ended() -> None:
    served = serve(requests((0.0, 10, 3), (0.0, 10, 3), clients=1), flat_costs(), replace(VLLM, api_seconds=0.25))
    assert served.sent[1] == served.end[0]
    assert served.admitted[1] == pytest.approx(served.end[0] + 0.25)


def test_it_goes_on_where_its_room_for_notes_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    load = requests(*((0.3 * turn, 10 + turn, 20) for turn in range(20)))
    tight = replace(VLLM, kv_blocks=16)
    whole = serve(load, flat_costs(), tight)
    monkeypatch.setattr(worker, "_SPANS", 3)
    pieces = serve(load, flat_costs(), tight)
    np.testing.assert_allclose(pieces.end, whole.end, rtol=1e-12)
    assert pieces.preemptions == whole.preemptions > 0


def test_a_million_requests_at_once_do_not_hang() -> None:
    count = 1_000_000
    load = Requests(
        arrival=np.zeros(count),
        input_tokens=np.full(count, 12),
        output_tokens=np.full(count, 3),
    )
    served = serve(load, flat_costs(4096, 256), vllm(kv_blocks=2000, token_budget=4096, max_sequences=256))
    assert served.free_blocks == 2000
    assert np.all(np.diff(served.end) >= 0)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (replace(VLLM, kv_blocks=10), "needs room for 59 tokens, and all KV blocks hold 40"),
        (replace(TENSORRT_LLM, kv_blocks=14), "needs room for 60 tokens, and all KV blocks hold 56"),
        (replace(TENSORRT_LLM, token_budget=30), "prompts are not cut; let a step have more tokens"),
    ],
)
def test_a_request_that_can_never_run_is_refused_with_the_reason(rules: object, said: str) -> None:
    with pytest.raises(OutsideDomainError, match=said):
        serve(requests((0.0, 10, 5), (0.0, 50, 10)), flat_costs(), rules)  # type: ignore[arg-type]


def test_times_that_end_before_the_rules_are_refused() -> None:
    with pytest.raises(DescriptionError, match="steps of 64 tokens, and the costs of a step end at 32"):
        serve(requests((0.0, 10, 5)), flat_costs(32), VLLM)
    with pytest.raises(DescriptionError, match="8 sequences, and the costs of a step end at 4"):
        serve(requests((0.0, 10, 5)), flat_costs(64, 4), VLLM)


def test_more_steps_than_are_followed_are_refused_before_the_first() -> None:
    rules = replace(VLLM, kv_blocks=10**9, token_budget=8, max_sequences=8)
    with pytest.raises(OutsideDomainError, match="take 6,250,000 steps or more of 8 each, and 5,000,000 are followed"):
        serve(requests((0.0, 50_000_000, 1)), flat_costs(), rules)
