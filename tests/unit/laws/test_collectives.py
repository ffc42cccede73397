"""Collectives of one dimension, at sizes one can work out on paper."""

import pytest

from volvelle.laws.collectives import (
    all_to_all_time,
    bus_rate,
    direct_all_reduce_time,
    in_network_all_reduce_time,
    pipelined_broadcast_time,
    point_to_point_time,
    ring_all_reduce_time,
    ring_reduce_scatter_time,
    tree_all_reduce_time,
)


def test_all_reduce_algorithms_agree_on_volume_and_differ_in_latency() -> None:
    size, chips, rate = 8e9, 8.0, 1e9
    assert ring_all_reduce_time(size, chips, rate=rate, latency=0.0) == pytest.approx(14.0)
    assert direct_all_reduce_time(size, chips, rate=rate, latency=0.0) == pytest.approx(14.0)
    assert tree_all_reduce_time(size, chips, rate=rate, latency=0.0) == pytest.approx(16.0)
    assert in_network_all_reduce_time(size, chips, rate=rate, latency=0.0) == pytest.approx(9.0)
    assert ring_all_reduce_time(0.0, chips, rate=rate, latency=1.0) == 14
    assert tree_all_reduce_time(0.0, chips, rate=rate, latency=1.0) == 6
    assert direct_all_reduce_time(0.0, chips, rate=rate, latency=1.0) == 2


def test_an_all_reduce_on_a_ring_is_a_reduce_scatter_and_a_gather_that_takes_as_long() -> None:
    """Thakur 2005, section 4: eight chips hold eight parts; seven of them travel."""
    scatter = ring_reduce_scatter_time(8e9, 8.0, rate=1e9, latency=0.5)
    assert scatter == pytest.approx(7 * (0.5 + 1.0))
    assert 2.0 * scatter == pytest.approx(ring_all_reduce_time(8e9, 8.0, rate=1e9, latency=0.5))


def test_all_to_all_on_a_ring_is_bound_by_its_bisection() -> None:
    """Sixteen chips in a ring: half of all data crosses two links of half a chip's rate each way."""
    ring = float(all_to_all_time(16.0, 16.0, rate=1.0, latency=0.0, bisection=2 / 16))
    assert ring == pytest.approx(16 * 16.0 / 4 / 1.0)
    assert float(all_to_all_time(16.0, 16.0, rate=1.0, latency=0.0)) == pytest.approx(15.0)


def test_a_message_and_a_broadcast() -> None:
    assert point_to_point_time(10.0, rate=5.0, latency=1.0) == 3
    assert pipelined_broadcast_time(10.0, 8.0, rate=5.0, latency=1.0) == 5


def test_the_bus_rate_of_a_ring_is_the_rate_of_its_link() -> None:
    for chips in (2.0, 8.0, 1000.0):
        time = ring_all_reduce_time(1e9, chips, rate=5e10, latency=0.0)
        assert bus_rate(1e9, chips, time, passes=2.0) == pytest.approx(5e10)
        scattered = ring_reduce_scatter_time(1e9, chips, rate=5e10, latency=0.0)
        assert bus_rate(1e9, chips, scattered, passes=1.0) == pytest.approx(5e10)
