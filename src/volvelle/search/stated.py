"""A mapping that is stated: degrees and splits are given, charged by plain laws; what runs together is still searched.

Time is that of a pipeline whose stages take their layers in turn (`fill_factor`) and hand over behind their work but
for once a batch (`pipelined_batch_time`). Weights are held once and read for nothing, as in DFModel.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from time import perf_counter

from volvelle.errors import MappingError
from volvelle.estimators.calibration import fitted_constants
from volvelle.estimators.dataflow.chip_graph import on_chip
from volvelle.estimators.dataflow.on_chip import FusionChoices, FusionProblem, OnChip, Overlap
from volvelle.estimators.dataflow.partition_time import FusionTime
from volvelle.estimators.dataflow.pipelined_batch import PipelinedBatch
from volvelle.estimators.dataflow.stated_problem import StatedMapping, stated_problem, without_tables
from volvelle.estimators.plain_network import PlainNetwork
from volvelle.estimators.result import Contribution, MemoryPart, Violation
from volvelle.laws.collectives import pipelined_broadcast_time, ring_all_reduce_time
from volvelle.laws.dataflow_pipeline import fill_factor, pipelined_batch_time
from volvelle.laws.network.bisection import cut_time
from volvelle.laws.onchip_dataflow import balanced_compute_time, dram_demand, traffic_time
from volvelle.mapping.sharding import ShardedBlock, by_dimension, shard
from volvelle.quantities import BYTES, Seconds, show
from volvelle.search.certificate import SearchCounts
from volvelle.search.fusion.solve import fuse
from volvelle.search.graph.answer import Axis, MappedBlock, MappedPlan, MappingAnswer
from volvelle.search.graph.explain import shown_times
from volvelle.search.graph.network import placed
from volvelle.search.graph.stages import handed_bytes
from volvelle.system.cluster import Cluster
from volvelle.workload.graph import Workload
from volvelle.workload.tensor_layout import Collective


def map_stated(
    workload: Workload,
    cluster: Cluster,
    stated: StatedMapping,
    *,
    tensor: int,
    pipeline: int,
    data: int,
    micro_batches: int,
    stream: str | None,
    tile: int | None,
    choices: FusionChoices,
    element: str,
    time_limit: float = 60.0,
) -> MappingAnswer:
    """What a stated mapping takes on a machine, its fusion proven best or with a gap."""
    begun = perf_counter()
    if len(workload.blocks) > 1:
        raise MappingError(
            f"{workload.name} has {len(workload.blocks)} blocks; assumptions are about one that repeats: map one layer "
            "(gpt_layer_only), or leave assumptions out"
        )
    if stated.element is not None:
        workload = _kept_in(workload, stated.element)
    network, peak = PlainNetwork.of(cluster), float(cluster.chip.matrix_rate(element))
    chip = _chip(cluster, stated, element, fuse=choices.fuse)
    own = micro_batches / data
    problem = stated_problem(
        workload,
        stated,
        chip,
        network,
        tensor=tensor,
        pipeline=pipeline,
        data=data,
        micro_batches=own,
        stream=stream,
        tile=tile,
        choices=choices,
    )
    dense = without_tables(workload)[0] if stated.tables_beside else workload
    (block,) = dense.blocks
    handed = handed_bytes(block, dense.sizes)
    between = network.part(tensor, pipeline)
    batch = PipelinedBatch.of(
        handed.forward + handed.backward,
        layers=block.repeat,
        stages=pipeline,
        samples=own,
        rate=between.rate if pipeline > 1 else inf,
    )
    answer = fuse(problem, time_limit=time_limit)
    plan, violations = None, answer.violations
    if answer.timing is not None:
        degree: dict[Axis, int] = {"tensor": tensor, "pipeline": pipeline, "data": data}
        memory = _memory(problem, answer.timing, batch)
        capacity, sharded = float(cluster.chip.memory.capacity), shard(block, by_dimension(block, stated.split))
        violations = _full(sum(part.bytes for part in memory), capacity)
        plan = MappedPlan(
            workload=dense,
            decision=None,
            contributions=tuple(_contributions(answer.timing, batch, choices.overlap, _network_law(stated, sharded))),
            memory=memory,
            capacity=capacity,
            work=micro_batches * block.repeat * sum(op.kind.work().flops(dense.sizes) for op in block.operations),
            chips=cluster.accelerators,
            peak=peak,
            degrees=placed(cluster, degree, tuple(degree)),
            blocks=(MappedBlock(sharded=sharded, tile=tile, partitions=answer.timing.partitions),),
            micro_batches=round(own),
        )
    return MappingAnswer(
        workload=workload.name,
        cluster=cluster.name,
        chips=cluster.accelerators,
        plan=None if violations else plan,
        bound=inf if violations else batch.time(answer.bound),
        seconds=perf_counter() - begun,
        counts=SearchCounts(degrees=1, shardings=1, fusions=1),
        violations=violations,
    )


def _chip(cluster: Cluster, stated: StatedMapping, element: str, *, fuse: bool) -> OnChip:
    """A chip by its stated rates; kernels that run one by one take their data in pieces, whatever the SRAM."""
    fitted = fitted_constants(cluster, element, software=False)
    found = on_chip(cluster.chip, element, fitted=fitted, utilisation=stated.matrix_share)
    sram = found.sram if stated.sram and fuse else inf
    # What DRAM holds is looked at for all layers of a stage.
    return replace(found, sram=sram, dram_rate=float(cluster.chip.memory.rate), dram_capacity=inf)


def _kept_in(workload: Workload, element: str) -> Workload:
    """The same graph with all data in one type of element."""
    (block,) = workload.blocks
    return replace(
        workload,
        blocks=(replace(block, tensors=tuple(replace(tensor, element=element) for tensor in block.tensors)),),
    )


def _memory(problem: FusionProblem, timing: FusionTime, batch: PipelinedBatch) -> tuple[MemoryPart, ...]:
    """Weights of all layers of a stage, and what lives between partitions of the one at work."""
    weights = sum(kernel.weight_bytes for kernel in problem.kernels)
    parts = {"weights": batch.held * weights, "between partitions": max(0.0, timing.dram - weights)}
    return tuple(MemoryPart(name=name, bytes=size, law=dram_demand.__name__) for name, size in parts.items() if size)


def _full(held: float, capacity: float) -> tuple[Violation, ...]:
    if held <= capacity:
        return ()
    problem = f"a chip holds {show(held, BYTES)} of the {show(capacity, BYTES)} that it has"
    return (Violation(name="dram", problem=problem, cures=()),)


def _network_law(stated: StatedMapping, sharded: ShardedBlock) -> Callable[..., Seconds]:
    if stated.grid:
        return pipelined_broadcast_time
    swaps = any(one.collective is Collective.ALL_TO_ALL for one in sharded.conversions)
    return cut_time if swaps or stated.tables_beside else ring_all_reduce_time


def _contributions(
    timing: FusionTime, batch: PipelinedBatch, overlap: Overlap, network: Callable[..., Seconds]
) -> Iterator[Contribution]:
    """Where the time of a batch goes; `network` is the law of its largest exchange."""
    often = batch.held * batch.samples
    laws = {"compute": balanced_compute_time, "memory": traffic_time, "network": network}
    for place, part in enumerate(timing.partitions):
        for resource, seconds, exposed in shown_times(part, overlap):
            if seconds:
                yield Contribution(
                    name=f"partition {place + 1}: {resource}",
                    part=resource,
                    time=seconds * often,
                    exposed=exposed,
                    resource=resource,
                    law=laws[resource].__name__,
                )
    pipeline = {
        "pipeline bubble": (timing.time * often * (batch.factor - 1.0), "pipeline", fill_factor),
        "pipeline hand-over": (batch.transfer, "network", pipelined_batch_time),
    }
    for name, (seconds, resource, law) in pipeline.items():
        if seconds:
            yield Contribution(name=name, part=name, time=seconds, exposed=True, resource=resource, law=law.__name__)
