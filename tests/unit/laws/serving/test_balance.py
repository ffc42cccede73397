"""Ranks that wait for each other's prompts."""

import pytest

from volvelle.laws.serving.balance import draws_of_each_until_all


def test_a_rank_alone_waits_for_one_prompt_and_two_ranks_have_three_between_them() -> None:
    assert draws_of_each_until_all(1) == 1.0
    assert 2 * draws_of_each_until_all(2) == pytest.approx(3.0)


def test_more_ranks_wait_for_more() -> None:
    waits = [draws_of_each_until_all(ranks) for ranks in (1, 2, 4, 8, 16)]
    assert waits == sorted(set(waits))
