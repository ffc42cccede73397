"""Cycles of speculative decoding that an answer takes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle.laws.serving.cycles import cycles_until, yield_chances
from volvelle.laws.serving.speculation import accepted_tokens

SHARES = st.lists(st.floats(0.0, 1.0), max_size=8)


@given(SHARES)
def test_chances_of_all_yields_are_one_and_their_mean_is_what_a_cycle_yields(shares: list[float]) -> None:
    chances = yield_chances(shares)
    assert chances.sum() == pytest.approx(1.0)
    assert chances @ np.arange(1, len(shares) + 2) == pytest.approx(accepted_tokens(shares))


def test_nothing_drafted_or_nothing_accepted_takes_a_cycle_a_token() -> None:
    tokens = np.array([0, 1, 7, 100])
    for shares in ([], [0.0, 0.5]):
        mean, variance = cycles_until(tokens, yield_chances(shares))
        assert np.allclose(mean, tokens)
        assert np.allclose(variance, 0.0)


def test_all_accepted_takes_as_few_cycles_as_there_can_be() -> None:
    mean, variance = cycles_until(np.array([1, 4, 5, 8, 9]), yield_chances([1.0, 1.0, 1.0]))
    assert mean.tolist() == [1, 1, 2, 2, 3]  # type: ignore[union-attr]
    assert np.allclose(variance, 0.0)


def test_mean_and_variance_are_those_of_cycles_that_are_drawn() -> None:
    chances = yield_chances([0.8, 0.6, 0.5])
    drawn = np.random.default_rng(1).choice(np.arange(1, 5), p=chances, size=(20_000, 60))
    cycles = (np.cumsum(drawn, axis=1) < 60).sum(axis=1) + 1
    mean, variance = cycles_until(np.array([60]), chances)
    assert float(np.max(mean)) == pytest.approx(cycles.mean(), rel=0.005)
    assert float(np.max(variance)) == pytest.approx(cycles.var(), rel=0.05)


def test_a_long_answer_takes_a_cycle_for_what_each_yields() -> None:
    chances = yield_chances([0.7, 0.7])
    short, long = (np.max(cycles_until(np.array([size]), chances)[0]) for size in (2048, 1_000_000))
    assert long - short == pytest.approx((1_000_000 - 2048) / accepted_tokens([0.7, 0.7]))
