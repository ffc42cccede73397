"""Cycles of drafts as steps of the machine."""

from dataclasses import replace

import numpy as np

from tests.unit.simulation.batching.small import flat_costs
from volvelle.simulation.batching.cycles import in_cycles
from volvelle.simulation.batching.rules import tensorrt_llm, vllm
from volvelle.workload.serving.requests import Requests

COSTS = replace(
    flat_costs(tokens=16_384, sequences=2048),
    context_nodes=np.array([1.0, 50.0, 200.0, 400.0]),
    decode=np.zeros((2049, 4)),
)
EVEN = Requests(
    arrival=np.zeros(4), input_tokens=np.full(4, 100), output_tokens=np.full(4, 61), decode_steps=np.full(4, 20)
)


def test_steps_of_one_token_leave_all_as_it_was() -> None:
    rules = vllm(kv_blocks=100)
    same = replace(EVEN, decode_steps=np.full(4, 60))
    assert in_cycles(COSTS, rules, same, lookahead=0) == (COSTS, rules)


def test_a_context_beyond_the_prompt_is_reached_in_as_many_fewer_steps() -> None:
    costs, _ = in_cycles(COSTS, vllm(kv_blocks=100), EVEN, lookahead=3)
    beyond = COSTS.context_nodes > 100
    assert np.allclose(costs.context_nodes[beyond], 100 + (COSTS.context_nodes[beyond] - 100) / 3)
    assert np.array_equal(costs.context_nodes[~beyond], COSTS.context_nodes[~beyond])


def test_as_many_requests_fit_to_their_end_as_with_all_their_tokens() -> None:
    _, rules = in_cycles(COSTS, tensorrt_llm(kv_blocks=10_000, token_budget=16_384), EVEN, lookahead=3)
    held, counted = 100 + 61 + 3, 100 + 21
    assert rules.kv_blocks == int(10_000 * counted / held)


def test_a_request_that_fits_alone_still_does() -> None:
    _, rules = in_cycles(COSTS, vllm(kv_blocks=11), EVEN, lookahead=3)
    assert rules.kv_blocks * rules.block_tokens >= 100 + 21
