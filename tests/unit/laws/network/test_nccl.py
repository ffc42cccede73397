"""NCCL's cost model: latencies and rates by hand."""

import numpy as np
import pytest

from volvelle.laws.network.nccl import (
    nccl_ring_latency,
    nccl_ring_rate,
    nccl_switch_rate,
    nccl_tree_latency,
    nccl_tree_rate,
)


def test_a_ring_of_eight_chips_takes_fourteen_steps_and_leaves_its_node_in_none() -> None:
    assert nccl_ring_latency(14.0, 0.0, base=8.4, inside=3.4, between=14.0) == pytest.approx(8.4 + 14 * 3.4)


def test_a_ring_over_two_nodes_pays_the_network_twice() -> None:
    assert nccl_ring_latency(30.0, 2.0, base=8.4, inside=3.4, between=14.0) == pytest.approx(8.4 + 28 * 3.4 + 28.0)


def test_a_tree_is_climbed_and_descended() -> None:
    assert nccl_tree_latency(8.0, 16.0, base=8.4, inside=4.0, between=14.0) == pytest.approx(8.4 + 2 * (28 + 56))
    assert nccl_tree_latency(8.0, 1.0, base=8.4, inside=4.0, between=14.0) == pytest.approx(8.4 + 56)


def test_a_ring_passes_each_byte_twice_less_a_share() -> None:
    assert nccl_ring_rate(360e9, 8.0, 14.0) == pytest.approx(360e9 * 8 / 14)


def test_a_tree_is_corrected_by_the_size_of_the_message_and_not_beyond_the_last_factor() -> None:
    sizes = np.array([1.0, 64.0, 128.0, 200.0, 1e9])
    rates = nccl_tree_rate(100.0, sizes, corrections=np.array([0.5, 0.8]))
    assert rates == pytest.approx([25.0, 25.0, 40.0, 40.0, 50.0])


def test_switches_of_eight_h100_add_up_at_476_gigabytes_a_second() -> None:
    """As nccl-tests measure it on such nodes: 475 to 480 of bus bandwidth."""
    assert nccl_switch_rate(8.0, 40e9, efficiency=0.85, passes=2.0) == pytest.approx(476e9)
