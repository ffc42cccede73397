"""Speculative decoding: drafts, trees of drafts, and cycles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from volvelle.laws.serving.speculation import (
    accepted_tokens,
    any_accepted,
    cycle_time,
    decayed_acceptance,
    evenly_accepted_tokens,
    proportion_tokens,
    speculated_rate,
    tree_leaves,
    tree_positions,
)

SHARE = st.floats(0.0, 1.0)
SHARES = st.lists(SHARE, max_size=10)


@given(SHARES, st.integers(0, 9), SHARE)
def test_more_acceptance_never_lowers_the_tokens_of_a_cycle(shares: list[float], at: int, other: float) -> None:
    better = [max(one, other) if place == at else one for place, one in enumerate(shares)]
    assert accepted_tokens(better) >= accepted_tokens(shares) - 1e-12
    assert any_accepted(better) >= any_accepted(shares) - 1e-12


@given(SHARES)
def test_a_cycle_yields_one_token_at_least_and_one_more_than_was_drafted_at_most(shares: list[float]) -> None:
    assert 1.0 <= accepted_tokens(shares) <= len(shares) + 1.0 + 1e-9


@given(SHARE, SHARE)
def test_without_a_draft_a_cycle_yields_one_token(share: float, decay: float) -> None:
    assert accepted_tokens(()) == 1.0
    assert evenly_accepted_tokens(share, window=0.0) == pytest.approx(1.0)
    assert proportion_tokens(share, window=0.0) == 1.0
    assert decayed_acceptance(1.0, first=share, decay=decay) == share


@given(SHARE, st.integers(0, 12))
def test_equal_acceptances_are_a_special_case(share: float, window: int) -> None:
    assert accepted_tokens([share] * window) == pytest.approx(evenly_accepted_tokens(share, window=float(window)))


@given(SHARES)
def test_a_tree_that_never_branches_is_a_sequence(shares: list[float]) -> None:
    assert accepted_tokens([any_accepted((one,)) for one in shares]) == pytest.approx(accepted_tokens(shares))
    assert tree_positions([1.0] * len(shares)) == len(shares) + 1
    assert tree_leaves([1.0] * len(shares)) == 1.0


@given(SHARE, st.integers(1, 5))
def test_more_candidates_are_accepted_more_often(share: float, count: int) -> None:
    assert any_accepted([share] * (count + 1)) >= any_accepted([share] * count) - 1e-12


def test_two_candidates_everywhere_double_the_width_at_every_level() -> None:
    assert tree_leaves([2.0] * 4) == 16.0
    assert tree_positions([2.0] * 4) == 1 + 2 + 4 + 8 + 16


def test_leviathan_s_example_of_equal_acceptances() -> None:
    """Leviathan 2023, equation 1: 0.8 and five drafted tokens."""
    assert evenly_accepted_tokens(0.8, window=5.0) == pytest.approx((1 - 0.8**6) / 0.2)
    columns = evenly_accepted_tokens(np.array([0.5, 1.0]), window=2.0)
    assert list(np.asarray(columns)) == pytest.approx([1.75, 3.0])


def test_a_proportion_of_the_window_is_another_quantity_than_an_acceptance() -> None:
    assert proportion_tokens(0.8, window=4.0) == pytest.approx(4.2)
    assert evenly_accepted_tokens(0.8, window=4.0) == pytest.approx(3.3616)


@given(st.floats(0.1, 1.0), st.floats(0.1, 1.0), st.integers(1, 10))
def test_acceptance_that_falls_with_the_position_yields_no_more_than_one_that_stays(
    first: float, decay: float, window: int
) -> None:
    falling = [decayed_acceptance(float(place), first=first, decay=decay) for place in range(1, window + 1)]
    assert accepted_tokens(falling) <= evenly_accepted_tokens(first, window=float(window)) + 1e-9


def test_a_cycle_is_its_draft_steps_and_one_step_of_the_target() -> None:
    cycle = cycle_time([1.0, 2.0, 3.0], 10.0)
    assert cycle == 16.0
    assert cycle_time((), 10.0) == 10.0
    assert speculated_rate(4.0, cycle) == 0.25
