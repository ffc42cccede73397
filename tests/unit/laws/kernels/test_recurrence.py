"""Recurrent layers: the state that a token moves, and the work of a prompt."""

import pytest

from volvelle.laws.kernels.recurrence import delta_rule_work, state_step_time


def test_a_token_reads_and_writes_the_state_of_every_sequence_once() -> None:
    sizes = {"key_dim": 128.0, "value_dim": 128.0, "memory_rate": 1e12, "start": 1e-5}
    assert state_step_time(8.0, 32.0, **sizes) == pytest.approx(1e-5 + 2 * 8 * 32 * 128 * 128 * 4 / 1e12)


def test_the_work_of_a_prompt_grows_with_its_tokens_and_not_with_their_square() -> None:
    one, two = (delta_rule_work(tokens, 32.0, key_dim=128.0, value_dim=128.0, chunk=64.0) for tokens in (1e3, 2e3))
    assert two == pytest.approx(2 * one)
    assert one == pytest.approx(2 * 1e3 * 32 * (64 * 512 + 3 * 128 * 128))
