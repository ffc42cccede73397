"""Steps as tables, of one rank and of ranks that wait for each other."""

from dataclasses import replace

import numpy as np
import pytest

from volvelle import Catalogue
from volvelle.applications.serving.instance import instance
from volvelle.estimators.serving.iteration import Iteration
from volvelle.estimators.serving.step_tables import lock_step_costs, step_costs
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.served_model import ServedModel


@pytest.fixture
def spread(catalogue: Catalogue) -> Iteration:
    served = ServedModel(shape=catalogue.model("qwen3-30b-a3b"))
    return instance(catalogue, served, "h100-sxm", ServingLayout(data=2, expert=2), "vllm-0.19").iteration


def test_ranks_that_decode_alike_take_as_long_together_as_each(spread: Iteration) -> None:
    alone = step_costs(spread, most_tokens=256, most_sequences=32)
    both = lock_step_costs(spread, most_tokens=256, most_sequences=32)
    np.testing.assert_allclose(both.captured[2:65:2], alone.captured[1:33])
    np.testing.assert_allclose(both.decode[2::2], alone.decode[1:])


def test_a_prompt_of_one_rank_takes_less_than_such_prompts_of_both(spread: Iteration) -> None:
    alone = step_costs(spread, most_tokens=2048, most_sequences=32)
    both = lock_step_costs(spread, most_tokens=2048, most_sequences=32)
    assert both.most_tokens == 2 * alone.most_tokens
    assert both.tokens[1024] < alone.tokens[1024]
    assert both.tokens[2048] > alone.tokens[1024]


def test_gathering_moves_each_token_once_a_rank_and_not_once_for_each_of_its_experts(spread: Iteration) -> None:
    tokens = np.array([4096.0])
    sent = {
        gathers: spread.__class__._experts(replace(spread, engine=replace(spread.engine, gathers=gathers)), tokens)[
            "dispatch and combine"
        ][0]
        for gathers in (False, True)
    }
    assert sent[True] < 0.5 * sent[False], "two ranks, eight experts a token"
