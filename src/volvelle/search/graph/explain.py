"""Why a plan takes as long as it takes: contributions that add up to the step, and what each limit costs."""

from collections.abc import Sequence
from math import inf

from volvelle.estimators.dataflow.on_chip import Overlap
from volvelle.estimators.dataflow.partition_time import PartitionTime, partition_times_of
from volvelle.estimators.result import Contribution
from volvelle.laws.collectives import point_to_point_time
from volvelle.laws.nested_collectives import nested_all_reduce_time
from volvelle.laws.onchip_dataflow import pipelined_compute_time, traffic_time
from volvelle.laws.pipeline import bubble_time
from volvelle.search.graph.answer import FusedBlock, Limit, Stage

_LAWS = {
    "compute": pipelined_compute_time,
    "memory": traffic_time,
    "network": nested_all_reduce_time,
    "pipeline hand-over": point_to_point_time,
    "pipeline bubble": bubble_time,
}
"""Part of the time, else what bounds it → its law."""


def contributions(
    blocks: Sequence[FusedBlock], stages: Sequence[Stage], *, micro_batches: int, overlap: Overlap, idle: int
) -> tuple[Contribution, ...]:
    """Where the step's time goes on the slowest stage; `idle` is for how many micro-batches it waits for others."""
    slowest = max(stages, key=lambda stage: stage.time)
    found = []
    for block, place, part, copies in _parts(blocks, slowest):
        gradients = _gradient_share(block, part)
        for resource, time, exposed in shown_times(part, overlap):
            whole = time * copies * micro_batches
            name = f"{block.name}, partition {place + 1}"
            if resource == "network" and gradients:
                found.append(_line(f"{name}: gradients", "gradient exchange", whole * gradients, resource, exposed))
                whole *= 1.0 - gradients
            if whole:
                found.append(_line(f"{name}: {resource}", resource, whole, resource, exposed))
    handed, waited = slowest.hand_over * micro_batches, slowest.time * idle
    if handed:
        found.append(_line("pipeline send/recv", "pipeline hand-over", handed, "network"))
    if waited:
        found.append(_line("pipeline fills and drains", "pipeline bubble", waited, "pipeline"))
    return tuple(found)


def _line(name: str, part: str, time: float, resource: str, exposed: bool = True) -> Contribution:
    law = _LAWS[part if part in _LAWS else resource].__name__
    return Contribution(name=name, part=part, time=time, exposed=exposed, resource=resource, law=law)


def _parts(blocks: Sequence[FusedBlock], stage: Stage) -> list[tuple[FusedBlock, int, PartitionTime, int]]:
    """The partitions a stage runs: block, place, time and how many copies."""
    count: dict[tuple[str, int], int] = {}
    for piece in stage.pieces:
        block = next(one for one in blocks if one.name == piece.block)
        used = [place for place, names in enumerate(block.fusion.partitions) if names]
        for place in used if piece.partitions is None else piece.partitions:
            count[piece.block, place] = count.get((piece.block, place), 0) + piece.copies
    found = []
    for block in blocks:
        used = [place for place, names in enumerate(block.fusion.partitions) if names]
        for place, part in zip(used, block.timing.partitions, strict=True):
            if (block.name, place) in count:
                found.append((block, place, part, count[block.name, place]))
    return found


def shown_times(part: PartitionTime, overlap: Overlap) -> list[tuple[str, float, bool]]:
    """Compute, memory and network of a partition: seconds, and whether they show."""
    times = {"compute": part.compute, "memory": part.memory, "network": part.network}
    shown = set(times)
    if overlap is Overlap.ALL:
        shown = {part.binding}
    elif overlap is Overlap.MEMORY:
        shown -= {"memory" if part.compute >= part.memory else "compute"}
    return [(name, time, name in shown) for name, time in times.items()]


def _gradient_share(block: FusedBlock, part: PartitionTime) -> float:
    """Share of a partition's network time that exchanges gradients between replicas."""
    if not part.network:
        return 0.0
    return min(1.0, sum(block.gradients_of.get(name, 0.0) for name in part.kernels) / part.network)


def limits(
    blocks: Sequence[FusedBlock],
    stages: Sequence[Stage],
    *,
    micro_batches: int,
    pipeline: int,
    least_full: float,
) -> tuple[Limit, ...]:
    """What the step would save without each limit of the machine, the rest being as planned; dearest first.

    `least_full` is the least time that something ruled out by the capacity of DRAM might take.
    """
    slowest = max(stages, key=lambda stage: stage.time)
    rounds = micro_batches + pipeline - 1
    parts = _parts(blocks, slowest)
    now = sum(part.time * copies for _, _, part, copies in parts)
    step = rounds * slowest.time

    def without(resource: str) -> float:
        left = 0.0
        for block, _, part, copies in parts:
            times = {"compute": part.compute, "memory": part.memory, "network": part.network, resource: 0.0}
            left += copies * float(
                partition_times_of(block.problem).time(times["compute"], times["memory"], times["network"])
            )
        return rounds * (now - left)

    free = 0.0
    for block in blocks:
        times_of = partition_times_of(block.problem)
        fixed = sum(times_of.extra) + sum(times_of.streamed)
        roomy = float(
            times_of.time(
                sum(times_of.balanced),
                float(traffic_time(fixed, rate=block.problem.chip.dram_rate)),
                sum(times_of.network),
            )
        )
        share = sum(part.time * copies for one, _, part, copies in parts if one is block) / block.timing.time
        free += share * max(0.0, block.timing.time - roomy)
    found = [
        Limit(name="compute", gain=without("compute")),
        Limit(name="DRAM rate", gain=without("memory")),
        Limit(name="network", gain=without("network")),
        Limit(name="SRAM", gain=rounds * free),
        Limit(name="DRAM capacity", gain=max(0.0, step - least_full) if least_full < inf else 0.0),
        Limit(name="pipeline", gain=step - micro_batches * (slowest.time - slowest.hand_over)),
    ]
    kept = [one for one in found if one.gain > 1e-9 * step]
    return tuple(sorted(kept, key=lambda one: -one.gain))
