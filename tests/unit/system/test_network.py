"""Links of whole machines."""

from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import small_cluster
from volvelle import Catalogue, DescriptionError
from volvelle.system.network import Network
from volvelle.system.routing import Routing, Rule
from volvelle.system.topologies import FullyConnected, Switch


def test_a_message_changes_the_rail_in_its_own_unit_first(catalogue: Catalogue) -> None:
    network = Network(catalogue.cluster("dgx-h100/1024"))
    names = [network.link_name(link) for link in network.route(3, 8 * 100 + 5)]
    assert names == [
        "NVSwitch unit 0: out of 3",
        "NVSwitch unit 0: into 5",
        "InfiniBand NDR rail 5: out of 0",
        "InfiniBand NDR rail 5: into 100",
        "InfiniBand NDR rail 5: leaf 0, all ways up",
        "InfiniBand NDR rail 5: leaf 3, all ways down",
    ]


def test_links_have_what_a_chip_sustains_in_their_dimension(catalogue: Catalogue) -> None:
    cluster = catalogue.cluster("dgx-h100/64")
    network = Network(cluster)
    capacities = network.capacities()
    assert len(capacities) == network.links
    for link in network.route(0, 63):
        assert capacities[link] == cluster.dimensions[network.dimension_of(link)].link.sustained


def test_latencies_are_those_of_the_dimensions_that_are_crossed(catalogue: Catalogue) -> None:
    cluster = catalogue.cluster("dgx-h100/64")
    inner, outer = (float(part.link.latency) for part in cluster.dimensions)
    found = Network(cluster).latencies(np.array([0, 0, 0, 0]), np.array([0, 1, 8, 9]))
    assert found == pytest.approx([0.0, inner, outer, inner + outer])


def test_a_network_with_several_ways_and_no_rule_is_refused() -> None:
    cluster = small_cluster()
    silent = replace(cluster, dimensions=tuple(replace(part, size=128, routing=None) for part in cluster.dimensions))
    with pytest.raises(DescriptionError, match="does not say which are taken"):
        Network(silent)
    assert Network(silent, routing=Routing(rule=Rule.ADAPTIVE)).links


def test_every_machine_of_the_catalogue_says_how_it_routes(catalogue: Catalogue) -> None:
    for name in catalogue.names("clusters"):
        for part in catalogue.node(name).dimensions:
            assert part.routing is not None or isinstance(part.topology, Switch | FullyConnected), (name, part.name)
