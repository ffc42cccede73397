"""The space of layouts: every degree that divides, every choice that is allowed, as columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from volvelle.errors import MappingError
from volvelle.estimators.training.checks import ENDS, divisors
from volvelle.mapping.parallelism import MappingTable, Recompute, Schedule
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

__all__ = ["Space", "layouts", "usual_context", "usual_gaps"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """What may vary. An empty tuple of degrees means every degree that divides."""

    tensor: tuple[int, ...] = ()
    pipeline: tuple[int, ...] = ()
    context: tuple[int, ...] = (1,)
    expert: tuple[int, ...] = ()
    micro_batch: tuple[int, ...] = ()
    interleave: tuple[int, ...] = ()
    schedules: tuple[Schedule, ...] = (Schedule.ONE_FORWARD_ONE_BACKWARD, Schedule.ZERO_BUBBLE)
    zero: tuple[int, ...] = (0, 1, 2, 3)
    recompute: tuple[Recompute, ...] = tuple(Recompute)
    recompute_every: tuple[int, ...] = (1,)
    """With full recomputation: layers between two kept inputs."""
    sequence_parallel: tuple[bool, ...] = (True, False)
    fused_attention: tuple[bool, ...] = (True,)
    expert_tensor_parallel: tuple[bool, ...] = (True, False)
    """Counts only where there are experts, tensor and sequence parallelism."""
    ulysses: tuple[bool, ...] = (False, True)
    """Counts only where heads divide over tensor and context parallelism."""
    overlap: tuple[bool, ...] = (True,)
    offload: tuple[tuple[bool, bool, bool], ...] = ((False, False, False),)
    """Weights, optimiser, activations in host memory."""
    hierarchical_dispatch: bool = False
    """Tokens cross to a unit of the network once; never slower, but not every framework can."""
    largest_micro_batch: int = 16


def usual_context(length: int) -> tuple[int, ...]:
    """Degrees of context parallelism to look through where nothing is said: each chip keeps a thousand positions."""
    return tuple(degree for degree in (1, 2, 4, 8, 16) if length // degree >= 1024 or degree == 1)


usual_gaps = (1, 2, 4)
"""Layers between kept inputs to look through where nothing is said."""


def layouts(space: Space, step: TrainingStep, cluster: Cluster) -> Iterator[MappingTable]:
    """Tables of layouts, one for every combination of degrees; together the whole space, each layout once.

    Only layouts whose degrees divide chips, batch, heads and experts are made; what else makes a layout impossible
    (memory, uneven pieces) is left to the estimator.
    """
    chips, sizes = cluster.accelerators, step.model.sizes
    layers = step.model.layers
    experts = int(sizes.get("experts", 1))
    heads = int(sizes.get("kv_heads", 1))
    length = int(sizes.get("position", 1))
    split = [int(sizes[dim]) for dim in ("kv_heads", "ffn", "shared_ffn", "expert_ffn") if sizes.get(dim)]
    common = 0
    for size in split or [heads]:
        common = gcd(common, size)
    found = False
    known = bool(split) or "kv_heads" in sizes
    for tensor in space.tensor or divisors(common if known else chips):
        if (known and common % tensor) or chips % tensor:
            continue
        for context in space.context or divisors(length):
            if chips % (tensor * context) or length % context:
                continue
            for pipeline in space.pipeline or divisors(chips // (tensor * context)):
                if pipeline > layers or chips % (tensor * context * pipeline):
                    continue
                data = chips // (tensor * context * pipeline)
                if step.batch % data:
                    continue
                for degrees in _expert_degrees(space, experts, tensor, data * context):
                    for swap in _swaps(space, heads, tensor, context):
                        table = _choices(space, step, tensor, context, pipeline, data, degrees, swap, layers)
                        if table is not None:
                            found = True
                            yield table
    if not found:
        raise MappingError(
            f"no layout of {chips} chips divides a batch of {step.batch} sequences; change --batch to a multiple of a "
            "larger power of two, or widen the space"
        )


def _expert_degrees(space: Space, experts: int, tensor: int, copies: int) -> Iterator[tuple[int, bool]]:
    """Expert degrees, with experts split over tensor-parallel chips or whole."""
    for split_experts in space.expert_tensor_parallel:
        whole = not split_experts
        if whole and (tensor == 1 or experts == 1 or True not in space.sequence_parallel):
            continue
        chips = copies * tensor if whole else copies
        for expert in space.expert or divisors(gcd(experts, chips)):
            if chips % expert == 0 and experts % expert == 0:
                yield expert, whole


def _swaps(space: Space, heads: int, tensor: int, context: int) -> list[bool]:
    """Ways to share a sequence; one alone where it is not shared."""
    if context == 1:
        return [False]
    return [swap for swap in space.ulysses if not swap or heads % (tensor * context) == 0]


def _choices(
    space: Space,
    step: TrainingStep,
    tensor: int,
    context: int,
    pipeline: int,
    data: int,
    degrees: tuple[int, bool],
    swap: bool,
    layers: int,
) -> MappingTable | None:
    """All choices at fixed degrees."""
    expert, whole = degrees
    share = step.batch // data
    micro_batches = [
        size for size in space.micro_batch or divisors(share) if share % size == 0 and size <= space.largest_micro_batch
    ]
    pieces = _pieces(space, pipeline, layers)
    sequence = [choice for choice in space.sequence_parallel if tensor > 1 or not choice] or [False]
    if whole:
        sequence = [True]
    zero = [choice for choice in space.zero if data * context > 1 or choice == min(space.zero)]
    offload = range(len(space.offload))
    again = [(int(kind), every) for kind in space.recompute for every in _gaps(space, kind)]
    if not micro_batches or not pieces:
        return None
    grid = np.meshgrid(
        micro_batches,
        range(len(pieces)),
        zero,
        range(len(again)),
        [int(choice) for choice in sequence],
        [int(choice) for choice in space.fused_attention],
        [int(choice) for choice in space.overlap],
        list(offload),
        indexing="ij",
    )
    columns = [column.ravel() for column in grid]
    every, columns[3] = (np.array([pair[side] for pair in again])[columns[3]] for side in (1, 0))
    # With attention fused there is nothing left for selective recomputation to do: it would be the same layout twice.
    twice = (columns[3] == int(Recompute.SELECTIVE)) & (columns[5] == 1) & (Recompute.NONE in space.recompute)
    micro, piece, stage, recompute, sequences, fused, overlap, host = (column[~twice] for column in columns)
    schedule, interleave = (np.array([pair[side] for pair in pieces])[piece] for side in (0, 1))
    weights, optimiser, activations = (np.array([kind[side] for kind in space.offload])[host] for side in range(3))
    return MappingTable.columns(
        tensor=tensor,
        pipeline=pipeline,
        data=data,
        context=context,
        expert=expert,
        expert_tensor_parallel=not whole,
        hierarchical_dispatch=space.hierarchical_dispatch and expert > 1,
        ulysses=swap,
        micro_batch=micro,
        interleave=interleave,
        schedule=schedule,
        zero=stage,
        recompute=recompute,
        recompute_every=every[~twice],
        sequence_parallel=sequences,
        fused_attention=fused,
        overlap=overlap,
        offload_weights=weights,
        offload_optimiser=optimiser,
        offload_activations=activations,
    )


def _gaps(space: Space, kind: Recompute) -> tuple[int, ...]:
    """Layers between kept inputs: a choice only where nothing else is kept."""
    return space.recompute_every if kind is Recompute.FULL else (1,)


def _pieces(space: Space, pipeline: int, layers: int) -> list[tuple[int, int]]:
    """Schedules with their pieces a stage; one alone where there is no pipeline."""
    plain = int(Schedule.ONE_FORWARD_ONE_BACKWARD)
    if pipeline == 1:
        return [(plain, 1)]
    found: list[tuple[int, int]] = []
    for schedule in space.schedules:
        if schedule is not Schedule.ONE_FORWARD_ONE_BACKWARD:
            found.append((int(schedule), 1))
            continue
        deepest = -(-layers // pipeline)
        cuts: Sequence[int] = space.interleave or divisors(deepest)
        # Pieces that would make the deepest stage deeper still are never better.
        whole = [cut for cut in cuts if cut * pipeline <= layers + ENDS]
        fitting = [cut for cut in whole if cut * -(-layers // (pipeline * cut)) == deepest]
        found += [(plain, cut) for cut in dict.fromkeys((*([1] if 1 in cuts else []), *fitting))]
    return found
