"""Links and switch ports of a machine counted as DFModel counts them, in place of the cables that shapes need."""

from collections.abc import Iterator
from dataclasses import replace

from volvelle.estimators.plain_network import PlainDimension, PlainNetwork
from volvelle.laws.machine_cost import connected_links, connected_ports, ring_ports
from volvelle.system.cluster import Cluster
from volvelle.system.inventory import Inventory


def plain_parts(network: PlainNetwork) -> Iterator[tuple[PlainDimension, float, float]]:
    """Each dimension with its links and switch ports; a link has the rate of its dimension."""
    inside = 1
    for place, one in enumerate(network.dimensions):
        units, size = float(network.chips / inside), float(one.size)
        inside *= one.size
        if one.kind == "ring":
            yield one, float(network.chips), float(ring_ports(float(network.chips), size=size))
        elif one.kind == "switch":
            yield one, units, units
        else:
            ports = float(connected_ports(units, size=size)) if place else 0.0
            yield one, float(connected_links(units, size=size)), ports


def plainly_counted(inventory: Inventory, cluster: Cluster) -> Inventory:
    """The same machine with links and ports counted so."""
    # Of a dimension of one unit there is nothing to count.
    networks = [one for one, part in zip(inventory.networks, cluster.dimensions, strict=True) if part.size > 1]
    counted = plain_parts(PlainNetwork.of(cluster))
    return replace(
        inventory,
        networks=tuple(
            replace(one, links=links, ports=ports, rate=part.rate)
            for one, (part, links, ports) in zip(networks, counted, strict=True)
        ),
    )
