"""The best mapping of any graph of kernels to a machine, with a proof."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from volvelle.estimators.dataflow.on_chip import FusionChoices, Overlap
from volvelle.quantities import numbered
from volvelle.search.graph.answer import GraphMapping
from volvelle.search.graph.joint import map_graph
from volvelle.search.graph.network import factorisations
from volvelle.search.graph.sharding import Objective
from volvelle.system.cluster import Cluster
from volvelle.verbs.graphs import read_graph_argument
from volvelle.verbs.named import Folder, Machine, catalogue_of, cluster_of
from volvelle.workload.families.shape import Transformer
from volvelle.workload.graph import Workload
from volvelle.workload.operations import Phase

__all__ = ["MapAnswer", "map"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MapAnswer:
    """What was asked and what was found."""

    mapping: GraphMapping
    cluster: Cluster
    workload: Workload
    """What was mapped: one micro-batch of it."""
    micro_batches: int
    """In a step, over all replicas."""

    @property
    def graph(self) -> str:
        """What was mapped, in words."""
        kernels = sum(len(block.operations) for block in self.workload.blocks)
        return f"{numbered(kernels, 'kernel')} in {numbered(len(self.workload.blocks), 'block')}"

    @property
    def parameters(self) -> int:
        """Learned numbers of the graph, each counted once."""
        return self.workload.parameters()

    @property
    def flops(self) -> float:
        """FLOP of the graph's matrix products in a step, forward and backward, recomputation not counted."""
        return self.micro_batches * sum(self.workload.flops(phase=phase) for phase in (Phase.FORWARD, Phase.BACKWARD))


def map(  # noqa: A001 - the verb's name
    graph: str | Path | Transformer | Workload,
    *,
    on: Machine,
    micro_batches: int | None = None,
    tensor: Sequence[int] = (),
    pipeline: Sequence[int] = (),
    data: Sequence[int] = (),
    tiles: Sequence[int] = (),
    forward: bool = False,
    fuse: bool = True,
    partitions: int | None = None,
    overlap: Overlap = Overlap.ALL,
    stream_weights: bool = True,
    tile_weights: bool = True,
    objective: Objective = "time",
    element: str = "bf16",
    limit: float = 60.0,
    catalogue: Folder = None,
) -> MapAnswer:
    """Split, cut into stages and fuse a graph for a machine as fast as can be, and prove it.

    Degrees and tiles are those to consider, all where none are given; `micro_batches` are those of a step (8 a chip),
    `limit` the seconds that the search may take.
    """
    known = catalogue_of(catalogue)
    asked = read_graph_argument(graph, known, forward=forward)
    cluster = cluster_of(on, known)
    count = micro_batches or 8 * cluster.accelerators
    choices = FusionChoices(
        overlap=overlap,
        stream_weights=stream_weights,
        tile_weights=tile_weights,
        fuse=fuse,
        partitions=partitions,
        forward_first=any(op.phase is Phase.BACKWARD for block in asked.workload.blocks for op in block.operations),
    )
    split = bool(tensor or pipeline or data)
    mapping = map_graph(
        asked.workload,
        cluster,
        stream=asked.stream,
        pins=asked.pins,
        micro_batches=count,
        degrees=factorisations(cluster.accelerators, tensor=tensor, pipeline=pipeline, data=data) if split else None,
        tiles=tiles or None,
        choices=choices,
        objective=objective,
        element=element,
        time_limit=limit,
        ends=True,
    )
    return MapAnswer(mapping=mapping, cluster=cluster, workload=asked.workload, micro_batches=count)
