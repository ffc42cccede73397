"""The law of collectives inside a node."""

import pytest

from volvelle.laws.kernels.node_collectives import node_collective_time

HOW = {"start": 5e-6, "each": 1e-6, "bus_rate": 4e11}


def test_short_messages_take_the_start_and_long_ones_the_links() -> None:
    short = node_collective_time(8.0, 8.0, crossings=2.0, between=1.0, **HOW)
    assert short == pytest.approx(12e-6, rel=0.01)
    size = 1e12
    long = node_collective_time(size, 8.0, crossings=2.0, between=1.0, **HOW)
    assert long == pytest.approx(2 * 7 / 8 * size / 4e11, rel=0.01)


def test_without_a_change_of_protocol_start_and_links_add_up() -> None:
    found = node_collective_time(4e6, 2.0, crossings=1.0, between=0.0, **HOW)
    assert found == pytest.approx(6e-6 + 0.5 * 4e6 / 4e11)
