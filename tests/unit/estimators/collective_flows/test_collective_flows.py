"""Collectives as messages: with nobody in the way they take what the laws say.

Rings, halving and doubling, and direct exchanges do to rounding. Trees and networks that add up run their messages at
once, each a latency behind the one it passes on, so that bytes move while later ones still wait: up to 2 % less than
the law, which puts latency and bytes one after another.
"""

from collections.abc import Callable
from dataclasses import replace
from math import log2

import numpy as np
import pytest

from tests.conftest import small_cluster
from volvelle import Cluster, DescriptionError, Dimension, Link, VolvelleError
from volvelle.estimators.collective_flows.algorithms import broadcast, direct, halving_doubling, in_network, two_trees
from volvelle.estimators.collective_flows.exchange import Exchange, at_once, flows_of, flows_on_ports, shifted
from volvelle.estimators.collective_flows.rings import axes_of, channels_of, nested_rings, rail_rings
from volvelle.laws.collectives import (
    direct_all_reduce_time,
    in_network_all_reduce_time,
    ring_all_reduce_time,
    ring_reduce_scatter_time,
    stepped_gather_time,
    tree_all_reduce_time,
)
from volvelle.laws.nested_collectives import Tier, nested_all_reduce_time, ring_through_tiers_time
from volvelle.simulation.flow.flows import flow_times
from volvelle.system.network import Network
from volvelle.system.routing import Routing, Rule
from volvelle.system.topologies import AbstractTopology, CubeMesh, FatTree, FullyConnected, Ring, Switch, Torus

SIZE, RATE, LATENCY = 1e9, 50e9, 2e-6
HOSTS = pytest.mark.parametrize("hosts", [8, 64, 256, pytest.param(1024, marks=pytest.mark.long)])


def machine(*parts: tuple[AbstractTopology, int, float], latency: float = LATENCY) -> Network:
    dimensions = tuple(
        Dimension(
            name=f"level {place}",
            size=size,
            topology=shape,
            link=Link(name="wire", rate=rate, latency=latency),
            routing=Routing(rule=Rule.DESTINATION),
        )
        for place, (shape, size, rate) in enumerate(parts)
    )
    cluster: Cluster = replace(small_cluster(), dimensions=dimensions)
    return Network(cluster)


def seconds(exchange: Exchange, network: Network) -> float:
    return flow_times(network.capacities(), flows_of(exchange, network)).time


def ring(shape: AbstractTopology, chips: int, **half: bool) -> Exchange:
    return nested_rings(axes_of([shape], [chips]), SIZE, channels_of([shape], [chips]), **half)


@HOSTS
@pytest.mark.parametrize("shape", [Switch(), FatTree(16), Ring()], ids=str)
def test_a_ring_takes_what_its_law_says(shape: AbstractTopology, hosts: int) -> None:
    law = ring_all_reduce_time(SIZE, float(hosts), rate=RATE, latency=LATENCY)
    assert seconds(ring(shape, hosts), machine((shape, hosts, RATE))) == pytest.approx(float(law), rel=1e-9)


def test_half_an_all_reduce_is_a_gather() -> None:
    law = ring_reduce_scatter_time(SIZE, 16.0, rate=RATE, latency=LATENCY)
    for half in ({"scatter": False}, {"gather": False}):
        assert seconds(ring(Switch(), 16, **half), machine((Switch(), 16, RATE))) == pytest.approx(float(law), rel=1e-9)


@pytest.mark.parametrize("sides", [(2, 2, 2), (4, 4), (4, 4, 4), (8, 8, 8)], ids=str)
def test_rings_along_all_axes_of_a_torus_use_all_its_links(sides: tuple[int, ...]) -> None:
    shape = Torus(sides)
    steps = sum(side - 1.0 for side in sides)
    law = 2.0 * stepped_gather_time(SIZE, float(shape.chips), rate=RATE, latency=LATENCY, steps=steps)
    assert seconds(ring(shape, shape.chips), machine((shape, shape.chips, RATE))) == pytest.approx(float(law), rel=1e-9)


@pytest.mark.parametrize(("shape", "used"), [(FullyConnected(), 6 / 7), (CubeMesh(), 1.0)], ids=str)
def test_rings_that_share_no_link_use_what_they_can_of_eight_chips(shape: AbstractTopology, used: float) -> None:
    """Of a fully connected eight, one link of each chip is left over: Walecki's rings are of an odd number."""
    law = ring_all_reduce_time(SIZE, 8.0, rate=RATE * used, latency=LATENCY)
    assert seconds(ring(shape, 8), machine((shape, 8, RATE))) == pytest.approx(float(law), rel=1e-9)


@pytest.mark.parametrize("units", [2, 16, 64])
def test_rings_of_one_dimension_after_the_other_take_the_nested_law(units: int) -> None:
    shapes, along = [Switch(), FatTree(16)], [8, units]
    network = machine((shapes[0], 8, 8 * RATE), (shapes[1], units, RATE))
    tiers = [
        Tier(chips=8.0, rate=8 * RATE, latency=LATENCY, steps=7.0),
        Tier(chips=float(units), rate=RATE, latency=LATENCY, steps=units - 1.0),
    ]
    found = seconds(nested_rings(along, SIZE, channels_of(shapes, along)), network)
    assert found == pytest.approx(float(nested_all_reduce_time(SIZE, tiers, pipelined=False)), rel=1e-9)


def test_halving_and_doubling_over_two_dimensions_takes_the_nested_law() -> None:
    network = machine((Switch(), 8, 8 * RATE), (FatTree(16), 16, RATE))
    tiers = [
        Tier(chips=8.0, rate=8 * RATE, latency=LATENCY, steps=3.0),
        Tier(chips=16.0, rate=RATE, latency=LATENCY, steps=4.0),
    ]
    found = seconds(halving_doubling(128, SIZE), network)
    assert found == pytest.approx(float(nested_all_reduce_time(SIZE, tiers, pipelined=False)), rel=1e-9)


@pytest.mark.parametrize("units", [2, 8])
def test_a_ring_a_channel_on_rails_of_their_own_takes_the_law_of_one_ring_through_all(units: int) -> None:
    network = machine((Switch(), 8, 8 * RATE), (FatTree(16), units, RATE), latency=0.0)
    tiers = [
        Tier(chips=8.0, rate=8 * RATE, latency=0.0, steps=0.0),
        Tier(chips=float(units), rate=RATE, latency=0.0, steps=0.0),
    ]
    found = seconds(rail_rings(units, 8, SIZE), network)
    assert found == pytest.approx(float(ring_through_tiers_time(SIZE, tiers)), rel=1e-9)


def _halving_doubling_time(size: float, chips: float, *, rate: float, latency: float) -> float:
    """Thakur 2005, section 4.5, for a power of two."""
    return 2.0 * log2(chips) * latency + 2.0 * (chips - 1.0) / chips * size / rate


@HOSTS
@pytest.mark.parametrize(
    ("made", "law", "within"),
    [
        (halving_doubling, _halving_doubling_time, 1e-9),
        (direct, direct_all_reduce_time, 1e-9),
        (two_trees, tree_all_reduce_time, 0.02),
    ],
)
@pytest.mark.parametrize("size", [1e7, 1e9])
def test_other_algorithms_take_what_their_laws_say(
    made: Callable[[int, float], Exchange], law: Callable[..., float], within: float, hosts: int, size: float
) -> None:
    found = seconds(made(hosts, size), machine((Switch(), hosts, RATE)))
    said = float(law(size, float(hosts), rate=RATE, latency=LATENCY))
    latency = said - float(law(size, float(hosts), rate=RATE, latency=0.0))
    assert said - latency <= found <= said * (1 + 1e-9)
    assert found == pytest.approx(said, rel=max(within, latency / said if within > 1e-9 else 0.0))


@HOSTS
@pytest.mark.parametrize("shape", [Switch(), FatTree(16)], ids=str)
def test_a_network_that_adds_up_takes_what_its_law_says(shape: AbstractTopology, hosts: int) -> None:
    network = machine((shape, hosts, RATE))
    found = flow_times(network.capacities(), flows_on_ports(in_network(hosts, SIZE), network)).time
    law = in_network_all_reduce_time(SIZE, float(hosts), rate=RATE, latency=LATENCY)
    assert found == pytest.approx(float(law), rel=0.02)


def test_a_broadcast_in_fine_pieces_takes_one_transfer() -> None:
    found = seconds(broadcast(16, SIZE), machine((Switch(), 16, RATE)))
    assert SIZE / RATE <= found <= SIZE / RATE + 16 * LATENCY


@pytest.mark.parametrize(
    "made", [lambda n: ring(Switch(), n), lambda n: halving_doubling(n, SIZE), lambda n: direct(n, SIZE)]
)
@pytest.mark.parametrize("chips", [2, 8])
def test_every_chip_sends_and_receives_what_an_all_reduce_must(made: Callable[[int], Exchange], chips: int) -> None:
    exchange = made(chips)
    for side in (exchange.source, exchange.target):
        moved = np.bincount(side, weights=np.where(exchange.source == exchange.target, 0.0, exchange.size))
        assert moved == pytest.approx(np.full(chips, 2.0 * (chips - 1) / chips * SIZE))


def test_two_rings_on_one_machine_that_meet_nowhere_take_as_long_as_one() -> None:
    network = machine((FatTree(16), 64, RATE))
    one = ring(Switch(), 32)
    beside = at_once([shifted(one, np.arange(32)), shifted(one, np.arange(32, 64))])
    assert seconds(beside, network) == pytest.approx(seconds(one, network), rel=1e-9)


def test_ranks_that_are_shuffled_meet_on_links_of_a_tree() -> None:
    network = machine((FatTree(16), 64, RATE))
    one = ring(Switch(), 64)
    shuffled = shifted(one, np.random.default_rng(0).permutation(64))
    assert seconds(shuffled, network) > 1.5 * seconds(one, network)


def test_what_an_algorithm_cannot_do_is_refused() -> None:
    with pytest.raises(VolvelleError, match="power of two"):
        halving_doubling(12, SIZE)
    with pytest.raises(VolvelleError, match="messages is not timed as flows, 4,500,000"):
        direct(4096, SIZE)
    network = machine((Ring(), 8, RATE))
    with pytest.raises(DescriptionError, match="no top that adds up"):
        flows_on_ports(in_network(8, SIZE), network)


def test_a_part_of_a_torus_is_one_axis() -> None:
    assert axes_of([Torus((4, 4, 4))], [64]) == (4, 4, 4)
    assert axes_of([Switch(), Torus((4, 4))], [8, 4]) == (8, 4)
