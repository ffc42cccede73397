"""Links and routes of every shape, held against what the shape says of itself."""

from itertools import pairwise

import numpy as np
import pytest

from volvelle import DescriptionError
from volvelle.system.routing import Routing, Rule
from volvelle.system.topologies import (
    AbstractTopology,
    CubeMesh,
    Dragonfly,
    FatTree,
    FullyConnected,
    HyperX,
    PolarFly,
    RailOnly,
    Ring,
    SlimFly,
    Switch,
    Torus,
)
from volvelle.system.topologies.router_graph import RouterGraph
from volvelle.system.wirings.wiring import Routes, Wiring

SHAPES: list[tuple[AbstractTopology, int]] = [
    (Switch(), 8),
    (FullyConnected(), 8),
    (Ring(), 8),
    (Ring(), 2),
    (Torus((4, 4, 4)), 64),
    (Torus((2, 3, 5)), 30),
    (FatTree(8, 1.0), 32),
    (FatTree(8, 2.0), 128),
    (FatTree(8, 4.0), 32),
    (Dragonfly(16), 64),
    (Dragonfly(8, 0.5), 40),
    (CubeMesh(), 8),
    (RailOnly(8), 32),
    (SlimFly(5, 4), 200),
    (SlimFly(4, 3), 96),
    (PolarFly(4, 3), 63),
    (HyperX(3, 3, 2), 54),
]


def all_pairs(wiring: Wiring, rule: Rule) -> tuple[Routes, np.ndarray]:
    sources, targets = np.divmod(np.arange(wiring.units**2), wiring.units)
    routes = wiring.routes(sources, targets, Routing(rule=rule, seed=5).picks(sources, targets))
    load = np.zeros(len(wiring.capacities))
    there = routes.links >= 0
    np.add.at(load, routes.links[there], routes.whole_shares[there])
    return routes, load


@pytest.mark.parametrize("rule", Rule)
@pytest.mark.parametrize(("shape", "units"), SHAPES, ids=str)
def test_every_message_leaves_by_its_port_and_enters_by_the_others(
    shape: AbstractTopology, units: int, rule: Rule
) -> None:
    wiring = shape.wiring(units, rule)
    routes, load = all_pairs(wiring, rule)
    assert routes.links.max() < len(wiring.capacities)
    assert np.array_equal(load[: 2 * units], np.full(2 * units, units - 1))
    own = routes.links.reshape(units, units, -1)
    assert (own[np.arange(units), np.arange(units)] < 0).all()
    hops = np.where(routes.links >= 0, routes.whole_shares, 0.0).sum(axis=1)
    assert hops.max() <= float(shape.diameter(float(units))) + 2.0 + 1e-9  # two of them may be ports of the chips


@pytest.mark.parametrize("rule", Rule)
@pytest.mark.parametrize(("shape", "units"), SHAPES, ids=str)
def test_the_links_of_a_pair_do_not_depend_on_who_asks_and_when(
    shape: AbstractTopology, units: int, rule: Rule
) -> None:
    whole, _ = all_pairs(shape.wiring(units, rule), rule)
    place = units * 1 + units - 1
    sources, targets = np.array([1]), np.array([units - 1])
    alone = shape.wiring(units, rule).routes(sources, targets, Routing(rule=rule, seed=5).picks(sources, targets))
    assert sorted(link for link in alone.links[0] if link >= 0) == sorted(
        link for link in whole.links[place] if link >= 0
    )


@pytest.mark.parametrize(
    ("shape", "units"), [(shape, units) for shape, units in SHAPES if not isinstance(shape, CubeMesh)], ids=str
)
def test_uniform_traffic_has_the_tightest_cut_that_the_shape_states(shape: AbstractTopology, units: int) -> None:
    """Spread evenly, traffic crosses the tightest cut: no shape carries more, and few carry much less."""
    wiring = shape.wiring(units, Rule.ADAPTIVE)
    _, load = all_pairs(wiring, Rule.ADAPTIVE)
    busiest = float((load / wiring.capacities).max()) / units
    stated = max(1.0 - 1.0 / units, 0.5 / float(shape.evenly(float(units))))
    assert 0.8 * stated <= busiest <= 1.35 * stated


@pytest.mark.parametrize(
    "shape", [SlimFly(q, 1) for q in (3, 4, 5, 7, 8, 9)] + [PolarFly(q, 1) for q in (2, 3, 4, 8, 9)]
)
def test_graphs_of_prime_powers_have_the_degree_and_the_diameter_of_their_papers(shape: RouterGraph) -> None:
    joined = shape.joined()
    assert np.array_equal(joined, joined.T)
    assert joined.sum() / shape.routers == pytest.approx(shape.degree)
    assert (np.linalg.matrix_power(joined + np.eye(len(joined)), shape.hops) > 0).all()


@pytest.mark.parametrize("units", range(3, 15))
def test_rings_of_a_fully_connected_unit_share_no_link(units: int) -> None:
    rings = FullyConnected().rings(units)
    assert all(sorted(ring) == list(range(units)) for ring in rings)
    links = [pair for ring in rings for pair in pairwise([*ring, ring[0]])]
    assert len(set(links)) == len(links) == units * (units - 1 - (units % 2 == 0))


def test_rings_of_a_cube_mesh_use_each_of_its_links_once() -> None:
    wiring = CubeMesh().wiring(8, Rule.DESTINATION)
    load = np.zeros(len(wiring.capacities))
    for ring in CubeMesh().rings(8):
        sources, targets = np.array(ring), np.array([*ring[1:], ring[0]])
        links = wiring.routes(sources, targets, targets).links
        np.add.at(load, links[links >= 0], 1.0 / 6.0)
    assert load == pytest.approx(wiring.capacities)


def test_by_d_mod_k_messages_to_one_destination_share_a_spine() -> None:
    wiring = FatTree(8).wiring(32, Rule.DESTINATION)
    sources = np.arange(28)
    ways = wiring.ways(sources, np.full(28, 30), np.full(28, 30)).links
    assert {wiring.between_name(int(link)) for link in ways[:, 1]} == {"leaf 7, way 2 down"}


def test_another_seed_draws_other_ways() -> None:
    sources, targets = np.arange(100), np.arange(100) + 1
    draws = [Routing(rule=Rule.RANDOM, seed=seed).picks(sources, targets) for seed in (0, 0, 1)]
    assert np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0] % 4, draws[2] % 4)


def test_a_rule_that_nobody_knows_is_refused_with_those_there_are() -> None:
    assert Routing.named("D_mod_K").rule is Rule.DESTINATION
    with pytest.raises(DescriptionError, match="routing rule"):
        Routing.named("valiant")
