"""Whether a mapping can run at all: each check is one sentence about it, over whole tables."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.result import Violation
from volvelle.mapping.axes import CONTEXT, CUTTING, DATA, EXPERT, PIPELINE, TAKING, TENSOR, Axis, combined
from volvelle.mapping.parallelism import CHOICES, MappingTable, ParallelMapping, Schedule
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

Case = tuple[TrainingStep, Cluster, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing a mapping must satisfy."""

    name: str
    violated: Callable[[Case, MappingTable], NDArray[np.bool_]]
    explain: Callable[[Case, ParallelMapping], Violation]


def divisors(number: int) -> list[int]:
    """All divisors, in order."""
    small = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def nearest_options(options: Iterable[int], value: int, most: int = 1) -> list[int]:
    """Return the nearest options on each side of a value, `most` of each, in order."""
    ordered = sorted(set(options))
    below = [option for option in ordered if option < value][-most:]
    above = [option for option in ordered if option > value][:most]
    return below + above


def _offer(flag: str, options: Iterable[int], value: int) -> tuple[str, ...]:
    return tuple(f"--{flag} {option}" for option in nearest_options(options, value))


# -- chips ---------------------------------------------------------------------------------------------------


def _chips_violated(case: Case, table: MappingTable) -> NDArray[np.bool_]:
    violated: NDArray[np.bool_] = combined(table, TAKING) != float(case[1].accelerators)
    return violated


def _chips_explained(case: Case, mapping: ParallelMapping) -> Violation:
    have = case[1].accelerators
    others = mapping.chips // mapping.data
    rest = have // others
    fits = rest * others == have
    degrees = " × ".join(f"{axis.name} {degree}" for axis, degree in mapping.shown if axis.takes_chips)
    return Violation(
        name="chips",
        problem=f"{degrees} = {mapping.chips} chips, but {case[1].name} has {have}",
        cures=(f"{DATA.flag} {rest}",)
        if fits
        else (
            *_offer(TENSOR.word, divisors(have // gcd(have, mapping.pipeline)), mapping.tensor),
            *_offer(PIPELINE.word, divisors(have // gcd(have, mapping.tensor)), mapping.pipeline),
        ),
    )


# -- batch ---------------------------------------------------------------------------------------------------


def _batch_violated(case: Case, table: MappingTable) -> NDArray[np.bool_]:
    each = table.data * table.micro_batch
    whole = case[0].batch / each
    violated: NDArray[np.bool_] = whole != np.floor(whole)
    return violated


def _batch_explained(case: Case, mapping: ParallelMapping) -> Violation:
    batch = case[0].batch
    each = mapping.data * mapping.micro_batch
    options = (
        _offer("micro-batch", divisors(batch // mapping.data), mapping.micro_batch) if batch % mapping.data == 0 else ()
    )
    nearest = [size for size in (batch // each * each, (batch // each + 1) * each) if size]
    return Violation(
        name="batch",
        problem=f"a batch of {batch} sequences does not divide into micro-batches of {mapping.micro_batch} on "
        f"{mapping.data} replicas",
        cures=(*options, *(f"--batch {size}" for size in nearest)),
    )


# -- split dimensions ----------------------------------------------------------------------------------------

PADDED = frozenset({"vocab", "slots"})
"""Frameworks pad these to divide evenly, or places at experts never were whole numbers."""


def _split_sizes(case: Case) -> list[tuple[str, int]]:
    workload, _, dims = case
    return sorted((dim, int(workload.model.sizes[dim])) for dim in dims - PADDED)


def _split_violated(case: Case, table: MappingTable) -> NDArray[np.bool_]:
    bad = np.zeros(len(table), dtype=bool)
    if case[0].split_heads:
        return bad | (table.tensor < 1.0)
    for size in sorted({size for _, size in _split_sizes(case)}):
        each = size / table.tensor
        bad = bad | (each != np.floor(each))
    return bad


def _split_explained(case: Case, mapping: ParallelMapping) -> Violation:
    bad = [(dim, size) for dim, size in _split_sizes(case) if size % mapping.tensor]
    common = 0
    for _, size in _split_sizes(case):
        common = gcd(common, size)
    return Violation(
        name="tensor split",
        problem=f"tensor parallelism {mapping.tensor} does not divide "
        + ", ".join(f"{dim} = {size}" for dim, size in bad),
        cures=_offer(TENSOR.word, divisors(common), mapping.tensor),
    )


def _axis_check(axis: Axis) -> Check:
    """That an axis without rules of its own divides every dimension it splits."""

    def sizes(case: Case) -> dict[str, int]:
        of = case[0].model.sizes
        return {dim: int(of[dim]) for dim in axis.splits if dim in of and dim not in PADDED}

    def violated(case: Case, table: MappingTable) -> NDArray[np.bool_]:
        bad = np.zeros(len(table), dtype=bool)
        for size in sizes(case).values():
            share = size / getattr(table, axis.name)
            bad = bad | (share != np.floor(share))
        return bad

    def explain(case: Case, mapping: ParallelMapping) -> Violation:
        degree = getattr(mapping, axis.name)
        bad = [f"{dim} = {size}" for dim, size in sizes(case).items() if size % degree]
        return Violation(
            name=f"{axis.name} split",
            problem=f"{axis.name} parallelism {degree} does not divide {', '.join(bad)}",
            cures=_offer(axis.word, divisors(gcd(*sizes(case).values())), degree),
        )

    return Check(name=f"{axis.name} split", violated=violated, explain=explain)


# -- stages --------------------------------------------------------------------------------------------------


def _stages_violated(case: Case, table: MappingTable) -> NDArray[np.bool_]:
    return table.pipeline > float(case[0].model.layers)


def _stages_explained(case: Case, mapping: ParallelMapping) -> Violation:
    layers = case[0].model.layers
    return Violation(
        name="stages",
        problem=f"{mapping.pipeline} pipeline stages for {layers} layers leave some stages empty",
        cures=_offer(PIPELINE.word, [d for d in divisors(case[1].accelerators) if d <= layers], mapping.pipeline)[:1],
    )


ENDS = 2
"""Embedding and head may fill a piece each, as in Llama 3: 126 layers in 128 pieces."""


def _interleave_violated(case: Case, table: MappingTable) -> NDArray[np.bool_]:
    pieces = table.pipeline * table.interleave
    micro_batches = case[0].batch / (table.data * table.micro_batch)
    rounds = micro_batches / table.pipeline
    uneven = (pieces > case[0].model.layers + ENDS) | (table.pipeline < 2) | (rounds != np.floor(rounds))
    violated: NDArray[np.bool_] = (table.interleave > 1) & uneven
    return violated


def _interleave_explained(case: Case, mapping: ParallelMapping) -> Violation:
    layers = case[0].model.layers
    options = range(1, max((layers + ENDS) // mapping.pipeline, 1) + 1)
    return Violation(
        name="interleaving",
        problem=f"{mapping.interleave} pieces a stage need something for each of {mapping.pipeline} stages × "
        f"{mapping.interleave} pieces (there are {layers} layers, embedding and head), more than one stage, "
        "and micro-batches in multiples of the stages",
        cures=_offer("interleave", options, mapping.interleave) or ("--interleave 1",),
    )


# -- context, experts, schedules, off-load ---------------------------------------------------------------------


def _context_violated(case: Case, table: MappingTable) -> NDArray[np.bool_]:
    length = float(case[0].model.sizes.get("position", 1))
    each = length / (table.context * np.where(table.sequence_parallel, table.tensor, 1.0))
    heads = float(case[0].model.sizes.get("kv_heads", 1)) / (table.tensor * table.context)
    swapped = table.ulysses & (heads != np.floor(heads))
    violated: NDArray[np.bool_] = (table.context > 1) & ((each != np.floor(each)) | swapped)
    return violated


def _context_explained(case: Case, mapping: ParallelMapping) -> Violation:
    length = int(case[0].model.sizes.get("position", 1))
    heads = int(case[0].model.sizes.get("kv_heads", 1))
    if mapping.ulysses and heads % (mapping.tensor * mapping.context):
        return Violation(
            name="context",
            problem=f"{heads} key-value heads do not divide over tensor {mapping.tensor} × context {mapping.context}, "
            "so positions cannot be swapped for heads",
            cures=(
                "without --ulysses",
                *_offer(CONTEXT.word, divisors(heads // gcd(heads, mapping.tensor)), mapping.context),
            ),
        )
    return Violation(
        name="context",
        problem=f"a sequence of {length} does not divide over {mapping.context} chips of context parallelism"
        + (f" and {mapping.tensor} of sequence parallelism" if mapping.sequence_parallel else ""),
        cures=_offer(CONTEXT.word, divisors(length), mapping.context),
    )


def _experts_violated(case: Case, table: MappingTable) -> NDArray[np.bool_]:
    experts = float(case[0].model.sizes.get("experts", 1))
    each = experts / table.expert
    copies = table.data * table.context * np.where(table.expert_tensor_parallel, 1.0, table.tensor) / table.expert
    uneven = (table.expert > 1) & ((each != np.floor(each)) | (copies != np.floor(copies)))
    violated: NDArray[np.bool_] = uneven | (
        ~table.expert_tensor_parallel & (table.tensor > 1) & ~table.sequence_parallel
    )
    return violated


def _experts_explained(case: Case, mapping: ParallelMapping) -> Violation:
    experts = int(case[0].model.sizes.get("experts", 1))
    copies = mapping.data * mapping.context * (1 if mapping.expert_tensor_parallel else mapping.tensor)
    if not mapping.expert_tensor_parallel and mapping.tensor > 1 and not mapping.sequence_parallel:
        return Violation(
            name="experts",
            problem="whole experts on tensor-parallel chips need sequence parallelism: without it those chips hold the "
            "same tokens",
            cures=("--sequence-parallel", "--expert-tensor-parallel"),
        )
    return Violation(
        name="experts",
        problem=f"{experts} experts do not divide over {mapping.expert} of {copies} chips that can hold different ones",
        cures=_offer(EXPERT.word, divisors(gcd(experts, copies)), mapping.expert),
    )


def _schedule_violated(case: Case, table: MappingTable) -> NDArray[np.bool_]:
    dual = table.schedule == Schedule.DUAL_PIPE
    other = (table.schedule != Schedule.ONE_FORWARD_ONE_BACKWARD) & (table.interleave > 1)
    violated: NDArray[np.bool_] = (dual & (table.pipeline % 2 != 0)) | other
    return violated


def _schedule_explained(case: Case, mapping: ParallelMapping) -> Violation:
    word = mapping.schedule.word
    if mapping.interleave > 1:
        problem = f"the {word} schedule is not defined for stages in {mapping.interleave} pieces"
        return Violation(name="schedule", problem=problem, cures=("--interleave 1", "--schedule 1f1b"))
    problem = f"the {word} schedule needs an even number of stages, not {mapping.pipeline}"
    return Violation(
        name="schedule", problem=problem, cures=("--schedule 1f1b", f"{PIPELINE.flag} {mapping.pipeline + 1}")
    )


def _sharing_violated(case: Case, table: MappingTable) -> NDArray[np.bool_]:
    copies = table.data * table.context
    group, second = table.zero_group, table.zero_secondary
    some = (group > 0) & ((table.zero < 1) | (copies % np.maximum(group, 1.0) != 0))
    violated: NDArray[np.bool_] = some | (
        (second > 0) & ((table.zero < 3) | (group > 0) | (copies % np.maximum(second, 1.0) != 0))
    )
    return violated


def _sharing_explained(case: Case, mapping: ParallelMapping) -> Violation:
    copies, group, second = mapping.data * mapping.context, mapping.zero_group, mapping.zero_secondary
    cures: tuple[str, ...]
    if group and mapping.zero < 1:
        problem, cures = f"ZeRO-0 shares nothing out, over {group} replicas or all", ("--zero 1", "--zero-group 0")
    elif group and copies % group:
        problem = f"ZeRO cannot share out over {group} of {copies} replicas: groups would be unequal"
        cures = _offer("zero-group", divisors(copies), group)
    elif mapping.zero < 3 or group:
        why = f"over {group} replicas" if group else f"of stage {mapping.zero}"
        problem = f"a second copy of the weights goes with ZeRO-3 over all replicas, not {why}"
        cures = ("--zero 3 --zero-group 0", "--zero-secondary 0")
    else:
        problem = f"{copies} replicas do not make groups of {second} that share out a second copy of the weights"
        cures = _offer("zero-secondary", divisors(copies), second)
    return Violation(name="sharing", problem=problem, cures=cures)


def kept_on_chip(mapping: ParallelMapping) -> tuple[str, ...]:
    """Return one option to leave out for each kind of data that a layout keeps in host memory."""
    options = (" ".join(one.typed(True)) for one in CHOICES if one.listed == "offload" and getattr(mapping, one.name))
    return tuple(f"without {typed}" for typed in options)


def _host_violated(case: Case, table: MappingTable) -> NDArray[np.bool_]:
    offloaded = table.offload_weights + table.offload_optimiser + table.offload_activations
    return (offloaded > 0) & (case[1].host_rate is None or case[1].host_memory is None)


def _host_explained(case: Case, mapping: ParallelMapping) -> Violation:
    return Violation(
        name="host memory",
        problem=f"{' and '.join(mapping.offloaded)} cannot go to host memory: the catalogue states no host "
        f"{'link' if case[1].host_rate is None else 'memory'} for {case[1].name}",
        cures=kept_on_chip(mapping),
    )


CHECKS: tuple[Check, ...] = (
    Check(name="chips", violated=_chips_violated, explain=_chips_explained),
    Check(name="batch", violated=_batch_violated, explain=_batch_explained),
    Check(name="tensor split", violated=_split_violated, explain=_split_explained),
    Check(name="stages", violated=_stages_violated, explain=_stages_explained),
    Check(name="interleaving", violated=_interleave_violated, explain=_interleave_explained),
    Check(name="context", violated=_context_violated, explain=_context_explained),
    Check(name="experts", violated=_experts_violated, explain=_experts_explained),
    Check(name="schedule", violated=_schedule_violated, explain=_schedule_explained),
    Check(name="sharing", violated=_sharing_violated, explain=_sharing_explained),
    Check(name="host memory", violated=_host_violated, explain=_host_explained),
    *(_axis_check(axis) for axis in CUTTING if axis not in (TENSOR, CONTEXT, EXPERT)),
)
"""All but memory, which the estimator checks itself."""
