"""The best mapping of any graph of kernels to a machine, with a proof."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from volvelle.domains import DEGREE, LIMIT, SEQUENCES, WIDTH, within_domains
from volvelle.errors import MappingError
from volvelle.estimators.dataflow.on_chip import FusionChoices, Overlap
from volvelle.estimators.training.stage_memory import MemoryRecipe
from volvelle.mapping.parallelism import Recompute, Schedule
from volvelle.presentable import Presentable
from volvelle.quantities import numbered
from volvelle.search.graph.answer import MappingAnswer
from volvelle.search.graph.joint import map_graph
from volvelle.search.graph.network import factorisations
from volvelle.search.graph.sharding import Objective
from volvelle.search.kernels.solve import map_kernels
from volvelle.search.space import Space
from volvelle.system.cluster import Cluster
from volvelle.verbs.command_words import in_command_words
from volvelle.verbs.graphs import read_graph_argument
from volvelle.verbs.named import Folder, Machine, catalogue_of, cluster_of
from volvelle.verbs.what_if import Changes, beside_baseline
from volvelle.workload.families.shape import Transformer
from volvelle.workload.graph import Workload
from volvelle.workload.operations import Phase
from volvelle.workload.training import TrainingStep

Execution = Literal["kernels", "dataflow"]
"""Kernels one after another, or side by side on the chip, streaming tiles."""
Sharding = Literal["any", "megatron"]
"""Operations may split any dimension, or those that Megatron splits."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MapAnswer(Presentable):
    """What was asked and what was found."""

    mapping: MappingAnswer
    execution: Execution
    cluster: Cluster
    workload: Workload
    """What was mapped: one micro-batch of it."""
    micro_batches: int
    """In a step, over all replicas."""
    baseline: "MapAnswer | None" = None
    """The same on the machine as it is, where some of its numbers were set."""

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


@in_command_words
@within_domains
@beside_baseline
def map(  # noqa: A001 - the verb's name
    graph: str | Path | Transformer | Workload,
    *,
    on: Machine,
    execution: Execution | None = None,
    sharding: Sharding = "any",
    micro_batches: Annotated[int | None, SEQUENCES] = None,
    tensor: Annotated[Sequence[int], DEGREE] = (),
    pipeline: Annotated[Sequence[int], DEGREE] = (),
    data: Annotated[Sequence[int], DEGREE] = (),
    tiles: Annotated[Sequence[int], WIDTH] = (),
    forward: bool = False,
    gpt_layer_only: bool = False,
    fuse: bool = True,
    partitions: Annotated[int | None, WIDTH] = None,
    overlap: Overlap = Overlap.ALL,
    stream_weights: bool = True,
    tile_weights: bool = True,
    objective: Objective = "time",
    element: str = "bf16",
    limit: Annotated[float, LIMIT] = 60.0,
    set: Changes | None = None,  # noqa: A002 - the option's name
    catalogue: Folder = None,
) -> MapAnswer:
    """Split a graph over a machine as fast as can be, and prove it.

    In execution by ``kernels`` one kernel runs after another, as `estimate` has it: degrees, stages and the split of
    every operation are chosen; with `sharding` "megatron" operations split as Megatron's do. In ``dataflow`` kernels
    stay on the chip and stream tiles to each other, and which run together is chosen too. Where none is named, the chip
    decides. Degrees and tiles are those to consider, all where none are given; `micro_batches` are those of a step (8 a
    chip), `limit` the seconds that the search may take. `set` gives numbers of the machine other values
    (``{"chip.memory.rate": "2x"}``); the answer then has that of the machine as it is beside.
    """
    known = catalogue_of(catalogue)
    asked = read_graph_argument(graph, known, forward=forward, gpt_layer_only=gpt_layer_only)
    cluster = cluster_of(on, known, changes=set)
    count = micro_batches or 8 * cluster.accelerators
    how: Execution = execution or ("dataflow" if cluster.chip.dataflow else "kernels")
    if how == "kernels":
        found = _by_kernels(asked.workload, cluster, count, tensor, pipeline, data, element, limit, sharding)
        return MapAnswer(mapping=found, execution=how, cluster=cluster, workload=asked.workload, micro_batches=count)
    if asked.workload.is_tuned:
        raise MappingError(
            f"{asked.workload.name} has frozen weights, which dataflow execution does not know; map it by kernels"
        )
    trains = any(op.phase is Phase.BACKWARD for block in asked.workload.blocks for op in block.operations)
    choices = FusionChoices(
        overlap=overlap,
        stream_weights=stream_weights,
        tile_weights=tile_weights,
        fuse=fuse,
        partitions=partitions,
        forward_first=trains,
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
        recipe=MemoryRecipe.of(TrainingStep(model=asked.workload, batch=1, backward=trains))
        if asked.is_model
        else None,
        zero=1 if asked.is_model else 0,
    )
    return MapAnswer(mapping=mapping, execution=how, cluster=cluster, workload=asked.workload, micro_batches=count)


def _by_kernels(
    workload: Workload,
    cluster: Cluster,
    micro_batches: int,
    tensor: Sequence[int],
    pipeline: Sequence[int],
    data: Sequence[int],
    element: str,
    limit: float,
    sharding: Sharding,
) -> MappingAnswer:
    """The best mapping kernel by kernel: 1F1B, ZeRO-1, activations kept or recomputed."""
    factorisations(cluster.accelerators, tensor=tensor, pipeline=pipeline, data=data)  # refuses what makes no sense
    trains = any(op.phase is Phase.BACKWARD for block in workload.blocks for op in block.operations)
    size = int(workload.sizes.get("batch", 1))
    step = TrainingStep(model=workload, batch=micro_batches * size, element=element, backward=trains)
    space = Space(
        tensor=tuple(tensor),
        pipeline=tuple(pipeline),
        micro_batch=(size,),
        largest_micro_batch=size,
        interleave=(1,),
        schedule=(Schedule.ONE_FORWARD_ONE_BACKWARD,),
        zero=(1,),
        recompute=(Recompute.NONE, Recompute.FULL) if trains else (Recompute.NONE,),
        expert_tensor_parallel=(True,),
    )
    return map_kernels(step, cluster, space, data=data, split=sharding == "any", time_limit=limit)
