"""Collectives over nested dimensions: each carries what has to cross it."""

import pytest

from volvelle.laws.nested_collectives import Tier, nested_all_to_all_time


def test_an_all_to_all_pays_each_dimension_for_what_crosses_it() -> None:
    """Four chips in each of two nodes: three quarters of the data leave a chip for its node, half leave the node."""
    inner = Tier(chips=4.0, rate=4.0, latency=0.0, steps=3.0)
    outer = Tier(chips=2.0, rate=1.0, latency=0.0, steps=1.0)
    assert nested_all_to_all_time(8.0, (inner, outer), pipelined=False) == pytest.approx(8 * 3 / 4 / 4 + 8 / 2 / 1)
    assert nested_all_to_all_time(8.0, (inner, outer)) == pytest.approx(8 / 2 / 1)


def test_a_token_that_crosses_once_for_many_experts_saves_its_copies() -> None:
    whole = nested_all_to_all_time(8.0, (Tier(chips=2.0, rate=1.0, latency=0.0, steps=1.0),))
    saved = nested_all_to_all_time(8.0, (Tier(chips=2.0, rate=1.0, latency=0.0, steps=1.0, crossing=0.25),))
    assert saved == pytest.approx(whole / 4)
