"""The machine of a measured training run: by its accelerator's name, its chips and the network that it states."""

from dataclasses import replace
from functools import lru_cache

from volvelle.applications.training.measurements import TrainingMeasurement
from volvelle.applications.training.models import UnstatedError, software_of, stated
from volvelle.catalogue import Catalogue
from volvelle.catalogue.aliases import accelerator_alias
from volvelle.estimators.calibration import with_margin
from volvelle.system.cluster import Cluster
from volvelle.system.topologies import FatTree

NETWORK_ASSUMED = "network between nodes"
ONE_TORUS = "one torus in place of slices joined by a network"
"""What had to be assumed."""
_PORTS = {  # catalogue links by Gb/s of a port
    "infiniband": {100: "infiniband-hdr100", 200: "infiniband-hdr200", 400: "infiniband-ndr400"},
    "roce": {100: "roce-100", 200: "roce-200", 400: "roce-400"},
    "omni-path": {100: "infiniband-edr"},
}
NODE = 8
"""Chips of one where none are stated."""
_BIT = 1e9 / 8.0


@lru_cache(maxsize=1024)
def _named_cluster(catalogue: Catalogue, name: str, *, stack: str) -> Cluster:
    """A machine by name. A run that ran left free what it left free, so no margin is asked of it."""
    return with_margin(catalogue.cluster(name, stack=stack), 0.0)


def cluster_of_row(row: TrainingMeasurement, catalogue: Catalogue, assumed: list[str]) -> Cluster:
    """The machine, with what had to be assumed of it added to the list."""
    template = _template(row, catalogue)
    chips = stated(row.chips, "number of accelerators")
    stack = software_of(row)
    if not stack:
        assumed.append("software: the usual one of the chip")
    cluster = _named_cluster(catalogue, f"{template}/{chips}", stack=stack)
    if template.endswith("-pod"):
        if "DCN" in row.network and (row.chips_per_node or chips) < chips:
            assumed.append(ONE_TORUS)
        return cluster
    cluster = _resized(row, cluster)
    outer = cluster.dimensions[-1]
    if outer.size == 1 or not isinstance(outer.topology, FatTree) or not template.startswith("dgx"):
        return cluster
    wired = row.stated_network
    if wired is None or "not stated" in row.network:
        assumed.append(NETWORK_ASSUMED)
    if wired is None:
        return cluster
    kind, rate = wired
    if kind == "omni-path":
        assumed.append("Omni-Path as InfiniBand")
    port = next((port for port in _PORTS[kind] if port * _BIT > 0.99 * rate), max(_PORTS[kind]))
    link = catalogue.link(_PORTS[kind][port])
    if link.name == outer.link.name and abs(rate / (port * _BIT) - 1) < 0.01:
        return cluster
    # A port is shared by several chips where the node has fewer of them.
    shared = replace(link, rate=link.rate * (rate / (port * _BIT)))
    return replace(cluster, dimensions=(*cluster.dimensions[:-1], replace(outer, name=row.network, link=shared)))


def _template(row: TrainingMeasurement, catalogue: Catalogue) -> str:
    name = row.accelerator.lower()
    if name in catalogue.names("clusters"):
        return name
    alias = accelerator_alias(name)
    cluster = None if alias is None else alias.cluster_over(row.network)
    if cluster is None:
        raise UnstatedError(f"the catalogue has no cluster of {row.accelerator!r}")
    return cluster


def _resized(row: TrainingMeasurement, cluster: Cluster) -> Cluster:
    """With as many chips a node as stated, where that is a part of the template's eight (a rack is one unit)."""
    inner, chips, rack = cluster.dimensions[0], row.chips_per_node, "-nvl" in cluster.name
    if len(cluster.dimensions) != 2 or inner.size != NODE or chips not in (1, 2, 4) or rack:
        return cluster
    outer = replace(cluster.dimensions[1], size=cluster.accelerators // chips)
    return replace(cluster, dimensions=(replace(inner, size=chips), outer))
