"""Every layout of a space, as tables: degrees that divide, and the choices that these allow."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import gcd, prod
from typing import Any

import numpy as np

from volvelle.errors import MappingError
from volvelle.estimators.training.checks import ENDS, PADDED, divisors
from volvelle.mapping.axes import CONTEXT, DATA, PIPELINE, TAKING, TENSOR, Axis
from volvelle.mapping.parallelism import CHOICES, MappingTable, Recompute, Schedule
from volvelle.search.space import Space
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

_ROWS = 65_536
"""Of a table of layouts: enough to keep arrays long, little enough to keep memory small."""


def layouts(space: Space, step: TrainingStep, cluster: Cluster) -> Iterator[MappingTable]:
    """Tables of layouts, as many rows as are worth one call; together the whole space, each layout once.

    Only layouts whose degrees divide chips, batch, heads and experts are made; what else makes a layout impossible
    (memory, uneven pieces) is left to the estimator.
    """
    waiting: list[tuple[dict[str, int], _Grid]] = []
    rows, found = 0, False
    for degrees in _degrees(space, step, cluster):
        grid = _choices(space, step, degrees)
        if grid is not None:
            found = True
            waiting.append((degrees, grid))
            rows += grid.rows
        if rows >= _ROWS:
            yield _joined(waiting)
            waiting, rows = [], 0
    if waiting:
        yield _joined(waiting)
    if not found:
        raise MappingError(
            f"no layout of {cluster.accelerators} chips divides a batch of {step.batch} sequences; change --batch to a "
            "multiple of a larger power of two, or widen the space"
        )


def _degrees(space: Space, step: TrainingStep, cluster: Cluster) -> Iterator[dict[str, int]]:
    """Every combination of degrees that divides, with the ways to share experts and sequences."""
    chips, sizes = cluster.accelerators, step.model.sizes
    layers = step.model.layers
    experts = int(sizes.get("experts", 1))
    heads = int(sizes.get("kv_heads", 1))
    length = int(sizes.get("position", 1))
    split = [int(sizes[dim]) for dim in ("kv_heads", "ffn", "shared_ffn", "expert_ffn") if sizes.get(dim)]
    common = gcd(*split) if split else heads
    known = bool(split) or "kv_heads" in sizes
    for tensor in space.tensor or divisors(common if known else chips):
        if (known and common % tensor) or chips % tensor:
            continue
        for others in _other_degrees(space, step):
            inner = tensor * prod(others.values())
            for context in space.context or divisors(length):
                if chips % (inner * context) or length % context:
                    continue
                for pipeline in space.pipeline or divisors(chips // (inner * context)):
                    if pipeline > layers or chips % (inner * context * pipeline):
                        continue
                    data = chips // (inner * context * pipeline)
                    if step.batch % data or (space.data and data not in space.data):
                        continue
                    degrees = {"tensor": tensor, "context": context, "pipeline": pipeline, "data": data, **others}
                    for expert in _expert_degrees(space, experts, tensor, data * context):
                        for swap in _swaps(space, heads, tensor, context):
                            yield degrees | expert | {"ulysses": swap}


def _joined(parts: Sequence[tuple[dict[str, int], "_Grid"]]) -> MappingTable:
    """Every grid beside its degrees, one below the other; a column that is one value throughout costs nothing."""
    rows = [grid.rows for _, grid in parts]
    columns: dict[str, Any] = {}
    for choice in CHOICES:
        values: list[Any] = [degrees.get(choice.name, grid.columns.get(choice.name)) for degrees, grid in parts]
        if any(isinstance(value, np.ndarray) for value in values):
            columns[choice.name] = np.concatenate(
                [np.broadcast_to(value, (count,)) for value, count in zip(values, rows, strict=True)]
            )
        elif len(set(values)) > 1:
            columns[choice.name] = np.repeat(values, rows)
        else:
            columns[choice.name] = values[0]
    return MappingTable.columns(**columns)


def _other_degrees(space: Space, step: TrainingStep) -> Iterator[dict[str, int]]:
    """Degrees of the axes that have no rule of their own: those that divide every dimension the axis splits."""
    others = [axis for axis in TAKING if axis not in (TENSOR, CONTEXT, PIPELINE, DATA)]
    for degrees in product(*(_dividing(space, step, axis) for axis in others)):
        yield {axis.name: degree for axis, degree in zip(others, degrees, strict=True)}


def _dividing(space: Space, step: TrainingStep, axis: Axis) -> list[int]:
    split = [int(step.model.sizes[dim]) for dim in axis.splits if dim in step.model.sizes and dim not in PADDED]
    common = gcd(*split) or 1
    given: tuple[int, ...] = getattr(space, axis.name)
    return [degree for degree in given or divisors(common) if common % degree == 0]


def _expert_degrees(space: Space, experts: int, tensor: int, copies: int) -> Iterator[dict[str, int]]:
    """Expert degrees, with experts split over tensor-parallel chips or whole."""
    for split_experts in space.expert_tensor_parallel:
        whole = not split_experts
        if whole and (tensor == 1 or experts == 1 or True not in space.sequence_parallel):
            continue
        chips = copies * tensor if whole else copies
        for expert in space.expert or divisors(gcd(experts, chips)):
            if chips % expert == 0 and experts % expert == 0:
                yield {"expert": expert, "expert_tensor_parallel": split_experts}


def _swaps(space: Space, heads: int, tensor: int, context: int) -> list[bool]:
    """Ways to share a sequence; one alone where it is not shared."""
    if context == 1:
        return [False]
    return [swap for swap in space.ulysses if not swap or heads % (tensor * context) == 0]


_RULED = frozenset(
    {
        *(axis.name for axis in TAKING),
        *("expert", "expert_tensor_parallel", "ulysses", "micro_batch", "interleave", "schedule", "zero", "recompute"),
        *("recompute_every", "sequence_parallel", "offload_weights", "offload_optimiser", "offload_activations"),
    }
)
"""Choices whose values depend on others."""
_FREE = tuple(choice for choice in CHOICES if choice.name not in _RULED)
"""Those of which every combination is a layout."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """All choices at fixed degrees: a column of each that varies, the value of each that does not."""

    rows: int
    columns: Mapping[str, Any]


def _choices(space: Space, step: TrainingStep, degrees: dict[str, int]) -> _Grid | None:
    """All choices at fixed degrees; None: there is none."""
    share = step.batch // degrees["data"]
    micro_batches = [
        size for size in space.micro_batch or divisors(share) if share % size == 0 and size <= space.largest_micro_batch
    ]
    pieces = _pieces(space, degrees["pipeline"], step.model.layers)
    sequence = [choice for choice in space.sequence_parallel if degrees["tensor"] > 1 or not choice] or [False]
    if not degrees["expert_tensor_parallel"]:
        sequence = [True]
    shared = degrees["data"] * degrees["context"] > 1
    zero = [choice for choice in space.zero if shared or choice == min(space.zero)]
    if not micro_batches or not pieces:
        return None
    return _grid(space, tuple(micro_batches), tuple(pieces), tuple(sequence), tuple(zero), degrees["expert"] > 1)


@lru_cache(maxsize=256)
def _grid(
    space: Space,
    micro_batches: tuple[int, ...],
    pieces: tuple[tuple[int, int], ...],
    sequence: tuple[bool, ...],
    zero: tuple[int, ...],
    shared_out: bool,
) -> _Grid:
    """Every combination of what is allowed; kept, for most degrees allow the same."""
    # Layers between kept inputs are a choice only where nothing else is kept.
    again = [
        (int(kind), every)
        for kind in space.recompute
        for every in (space.recompute_every if kind is Recompute.FULL else (1,))
    ]
    hosts = list(product(space.offload_weights, space.offload_optimiser, space.offload_activations))
    free: dict[str, Sequence[Any]] = {choice.name: getattr(space, choice.name) or (choice.default,) for choice in _FREE}
    if not shared_out:
        free |= {"hierarchical_dispatch": (False,), "expert_overlap": (False,)}
    varied = [name for name, values in free.items() if len(values) > 1]
    grid = np.meshgrid(
        micro_batches,
        range(len(pieces)),
        zero,
        range(len(again)),
        [int(choice) for choice in sequence],
        *([int(value) for value in free[name]] for name in varied),
        range(len(hosts)),
        indexing="ij",
    )
    micro, piece, stage, kind, sequences, *rest, host = (column.ravel() for column in grid)
    columns = dict(zip(varied, rest, strict=True))
    recompute, every = (np.array([pair[side] for pair in again])[kind] for side in (0, 1))
    schedule, interleave = (np.array([pair[side] for pair in pieces])[piece] for side in (0, 1))
    weights, optimiser, activations = (np.array([kept[side] for kept in hosts])[host] for side in range(3))
    columns |= {
        "micro_batch": micro,
        "interleave": interleave,
        "schedule": schedule,
        "zero": stage,
        "recompute": recompute,
        "recompute_every": every,
        "sequence_parallel": sequences,
        "offload_weights": weights,
        "offload_optimiser": optimiser,
        "offload_activations": activations,
    }
    # With attention fused there is nothing left for selective recomputation to do: it would be the same layout twice.
    single = {name: values[0] for name, values in free.items() if name not in varied}
    fused = (columns | single)["fused_attention"]
    twice = (recompute == Recompute.SELECTIVE) & (fused == 1) & (Recompute.NONE in space.recompute)
    kept = {name: column[~twice] for name, column in columns.items()}
    same = {name: column[0] for name, column in kept.items() if len(column) and (column == column[0]).all()}
    return _Grid(int((~twice).sum()), {**single, **kept, **same})


def _pieces(space: Space, pipeline: int, layers: int) -> list[tuple[int, int]]:
    """Schedules with their pieces a stage; one alone where there is no pipeline."""
    plain = int(Schedule.ONE_FORWARD_ONE_BACKWARD)
    if pipeline == 1:
        return [(plain, 1)]
    found: list[tuple[int, int]] = []
    for schedule in space.schedule:
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
