"""Gaps between pieces of answers."""

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.simulation.batching.small import flat_costs, requests
from volvelle.simulation.batching.gaps import gaps
from volvelle.simulation.batching.rules import sglang, vllm
from volvelle.simulation.batching.serving import serve

RULES = vllm(kv_blocks=100, token_budget=64, max_sequences=8, block_tokens=4)


def test_there_is_a_gap_before_every_token_but_the_first() -> None:
    load = requests((0.0, 10, 7), (1.5, 20, 9), (4.0, 20, 1))
    for rules in (RULES, sglang(kv_blocks=1000, token_budget=64, chunk_tokens=32, max_sequences=8)):
        served = serve(load, flat_costs(), rules)
        seconds, often = gaps(served)
        assert often.sum() == 6 + 8
        assert (seconds * often).sum() == pytest.approx(float((served.end - served.first_token).sum()))


def test_tokens_that_come_several_at_a_time_have_fewer_and_longer_gaps() -> None:
    load = requests((0.0, 10, 8))
    seconds, often = gaps(serve(load, flat_costs(), replace(RULES, stream_interval=3)))
    np.testing.assert_allclose(seconds, [3 * 1.01, 3 * 1.01, 1.01])
    assert often.tolist() == [1, 1, 1]


def test_of_very_many_pieces_those_that_follow_each_other_count_as_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    load = requests((0.0, 10, 101), (0.5, 10, 51))
    served = serve(load, flat_costs(), replace(RULES, stream_interval=2))
    seconds, often = gaps(served)
    monkeypatch.setattr("volvelle.simulation.batching.gaps.MOST_PIECES", 10)
    fewer, alike = gaps(served, most=10)
    assert fewer.size <= 12 < seconds.size
    assert alike.sum() == often.sum() == 50 + 25
    assert (fewer * alike).sum() == pytest.approx((seconds * often).sum(), rel=0.05)
