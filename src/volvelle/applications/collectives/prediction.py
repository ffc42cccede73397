"""What the model says for a measured collective: the catalogue's cluster, the package's own laws."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.collectives.measurements import CollectiveMeasurement
from volvelle.catalogue import Catalogue
from volvelle.estimators.rates import SustainedRates
from volvelle.laws.collectives import (
    all_to_all_time,
    pipeline_fill_time,
    pipelined_broadcast_time,
    point_to_point_time,
)
from volvelle.laws.nested_collectives import (
    Tier,
    nested_all_gather_time,
    nested_all_reduce_time,
    nested_all_to_all_time,
    nested_reduce_scatter_time,
    ring_through_tiers_time,
)
from volvelle.quantities import Bytes, Seconds
from volvelle.system.cluster import Cluster
from volvelle.system.link import Link
from volvelle.system.topologies import FullyConnected

__all__ = ["Clusters", "Series", "predicted", "series_of", "why_unusable"]

Column = NDArray[np.float64]

_COLLECTIVES: Mapping[str, Callable[[Bytes, Sequence[Tier]], Seconds]] = {
    "all_reduce": nested_all_reduce_time,
    "all_gather": nested_all_gather_time,
    "reduce_scatter": nested_reduce_scatter_time,
    "all_to_all": nested_all_to_all_time,
}
_MESSAGES = ("osu_bw", "osu_bibw", "osu_latency")
_SHORT = 2.0**20


def why_unusable(row: CollectiveMeasurement) -> str | None:
    """Why a row cannot be held against the model; None where it can."""
    copied = row.group.startswith("peers-") and row.library.startswith("torch")
    reasons = {
        f"excluded by the split: {row.flags}": row.split == "excluded",
        "the source does not state how many chips took part": row.chips is None,
        "the source does not state the size of the message": row.size is None,
        "the source states neither a time nor a bandwidth": row.time is None,
        "no entry of the catalogue describes the system": not row.cluster,
        f"no law for {row.operation}": row.operation not in (*_COLLECTIVES, *_MESSAGES, "broadcast"),
        "timed with the copies between a list of tensors and one buffer": copied
        and (
            row.operation in ("all_gather", "reduce_scatter")
            or ("nnscaler" in row.group and row.operation != "all_reduce")
        ),
        "the source saves one node and two alike for 16 dies": "nnscaler" in row.group and row.chips == 16,
        "how the dies of this node are wired is not published; only short messages are held against the model": (
            "nnscaler" in row.group and (row.size or 0.0) > _SHORT
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


class Clusters:
    """Clusters of any size from the catalogue, every file read once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._links: dict[str, Link] = {}
        self._built: dict[tuple[str, int], Cluster] = {}

    def link(self, name: str) -> Link:
        """A link of the catalogue."""
        if name not in self._links:
            self._links[name] = self._catalogue.link(name)
        return self._links[name]

    def cluster(self, name: str, count: int) -> Cluster:
        """A cluster of so many chips."""
        if (name, count) not in self._built:
            self._built[name, count] = self._catalogue.cluster(f"{name}/{count}")
        return self._built[name, count]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Rows that differ in size only."""

    rows: tuple[CollectiveMeasurement, ...]
    cluster: Cluster
    """As many chips of it as took part; of a message between two, the whole machine."""
    sizes: Column
    times: Column

    @property
    def first(self) -> CollectiveMeasurement:
        """Stands for the others in everything but size."""
        return self.rows[0]


def series_of(rows: Sequence[CollectiveMeasurement], clusters: Clusters) -> tuple[Series, ...]:
    """Usable rows, gathered into series in the order they come."""
    gathered: dict[tuple[object, ...], list[CollectiveMeasurement]] = {}
    for row in rows:
        key = (row.group, row.split, row.operation, row.system, row.cluster, row.chips, row.nodes, row.algorithm)
        gathered.setdefault(key, []).append(row)
    found = []
    for alike in gathered.values():
        first = alike[0]
        assert first.chips is not None  # a row without is unusable
        count = 1024 if first.operation in _MESSAGES else first.chips
        found.append(
            Series(
                rows=tuple(alike),
                cluster=clusters.cluster(first.cluster, count),
                sizes=np.array([row.size for row in alike], dtype=np.float64),
                times=np.array([row.time for row in alike], dtype=np.float64),
            )
        )
    return tuple(found)


def predicted(series: Series, *, links: Mapping[str, Link] | None = None) -> Column:
    """Times of a series by the model, with links other than the catalogue's where given."""
    row, cluster = series.first, series.cluster
    if links:
        # The rate is kept: it holds the cluster's share of a port.
        cluster = replace(
            cluster,
            dimensions=tuple(
                replace(d, link=replace(links.get(d.link.name, d.link), rate=d.link.rate)) for d in cluster.dimensions
            ),
        )
    if row.operation in _MESSAGES:
        return _message_times(cluster, series)
    element = next(iter(cluster.chip.matrix_rates))
    tiers = SustainedRates.of(cluster, element).tiers(float(row.chips or 1), 1.0)
    if row.library.startswith("TransferBench"):
        # Copies without a collective library: nothing is launched, no pipeline filled.
        tier = tiers[0]
        return np.asarray(
            all_to_all_time(series.sizes, tier.chips, rate=tier.rate, latency=0.0, bisection=tier.bisection)
        )
    if row.operation == "broadcast":
        return _broadcast_times(series.sizes, tiers)
    if row.operation == "all_reduce" and row.algorithm.startswith("Ring") and "Tree" not in row.algorithm:
        return np.asarray(ring_through_tiers_time(series.sizes, tiers))
    if "SHARP" in row.algorithm:
        tiers = [replace(tier, reduces=True) for tier in tiers]
    return np.asarray(_COLLECTIVES[row.operation](series.sizes, tiers))


def _broadcast_times(sizes: Column, tiers: Sequence[Tier]) -> Column:
    """Over the one dimension that the group spans."""
    tier = max(tiers, key=lambda tier: float(np.max(tier.chips)))
    sent = pipelined_broadcast_time(sizes, tier.chips, rate=tier.rate, latency=tier.latency)
    return np.asarray(tier.setup + sent + pipeline_fill_time(sizes / tier.rate, fill=tier.fill))


def _message_times(cluster: Cluster, series: Series) -> Column:
    """One message between two chips of a node, or of two nodes, by a library that launches nothing on the chip."""
    dimension = cluster.dimensions[0 if series.first.nodes == 1 else 1]
    rate = dimension.link.sustained
    if isinstance(dimension.topology, FullyConnected):
        rate = rate / (dimension.size - 1)  # a chip's links are shared over its neighbours
    return np.asarray(point_to_point_time(series.sizes, rate=rate, latency=dimension.link.latency))
