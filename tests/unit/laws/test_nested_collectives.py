"""Collectives over nested dimensions: each carries what has to cross it."""

import pytest

from volvelle.laws.collectives import (
    in_network_all_reduce_time,
    pipelined_broadcast_time,
    tree_all_reduce_time,
)
from volvelle.laws.nested_collectives import (
    Tier,
    in_network_through_tiers_time,
    nested_all_reduce_time,
    nested_all_to_all_time,
    nested_broadcast_time,
    tree_through_tiers_time,
)


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


@pytest.mark.parametrize(
    ("nested", "plain"),
    [
        (tree_through_tiers_time, tree_all_reduce_time),
        (in_network_through_tiers_time, in_network_all_reduce_time),
        (nested_broadcast_time, pipelined_broadcast_time),
    ],
)
def test_in_one_dimension_the_nested_law_is_the_plain_one(nested, plain) -> None:  # type: ignore[no-untyped-def]
    for chips in (1.0, 2.0, 6.0, 8.0, 64.0):
        tier = Tier(chips=chips, rate=3e9, latency=2e-6, steps=3.0, reduces=True)
        assert nested(1e6, (tier,)) == pytest.approx(plain(1e6, chips, rate=3e9, latency=2e-6), rel=1e-12)


def test_two_trees_between_units_carry_only_what_each_chip_of_a_unit_has() -> None:
    inner = Tier(chips=8.0, rate=100.0, latency=0.0, steps=3.0)
    outer = Tier(chips=4.0, rate=1.0, latency=0.0, steps=2.0)
    assert tree_through_tiers_time(80.0, (inner, outer)) == pytest.approx(2 * 80 / 8 / 1)
    assert tree_through_tiers_time(80.0, (inner, outer), pipelined=False) == pytest.approx(20 + 2 * 80 / 100)


def test_a_broadcast_leaves_a_unit_by_the_links_of_all_its_chips() -> None:
    inner = Tier(chips=8.0, rate=100.0, latency=0.0, steps=3.0)
    outer = Tier(chips=4.0, rate=1.0, latency=0.0, steps=2.0)
    assert nested_broadcast_time(80.0, (inner, outer)) == pytest.approx(80 / 8)


def test_a_network_that_is_told_to_add_up_does_so_even_for_two_who_would_be_faster_without() -> None:
    pair = (Tier(chips=2.0, rate=1.0, latency=0.0, steps=1.0, reduces=True),)
    assert in_network_through_tiers_time(8.0, pair) == pytest.approx(1.5 * 8)
    assert nested_all_reduce_time(8.0, pair) == pytest.approx(8.0)
    plain = (Tier(chips=8.0, rate=1.0, latency=1.0, steps=3.0),)
    assert in_network_through_tiers_time(8.0, plain) == pytest.approx(float(nested_all_reduce_time(8.0, plain)))


@pytest.mark.parametrize("share", [0.0, 0.15, 1.0])
def test_what_a_pipeline_does_not_hide_lies_between_all_at_once_and_one_after_another(share: float) -> None:
    tiers = [Tier(chips=4.0, rate=rate, latency=0.0, steps=3.0, unhidden=share) for rate in (4.0, 1.0, 2.0)]
    bare = [Tier(chips=4.0, rate=rate, latency=0.0, steps=3.0) for rate in (4.0, 1.0, 2.0)]
    at_once, in_turn = (nested_all_reduce_time(8.0, bare, pipelined=pipelined) for pipelined in (True, False))
    assert nested_all_reduce_time(8.0, tiers) == pytest.approx(at_once + share * (in_turn - at_once))
