"""Changes with which the layout of a training step runs, all tried in one table before they are offered."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from volvelle.errors import VolvelleError
from volvelle.estimators.training.checks import divisors, nearest_options
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.axes import CONTEXT, CUTTING, EXPERT
from volvelle.mapping.axis_shardings import EXPERT_DIM
from volvelle.mapping.choices import Choice
from volvelle.mapping.parallelism import CHOICES, MappingTable, ParallelMapping, Recompute, Schedule
from volvelle.quantities import BYTES, SECONDS, show
from volvelle.search.exhaustive import fastest
from volvelle.search.space import Space, usual_context, usual_gaps
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

Changes = Mapping[str, Any]
"""Field of a layout → its new value."""
Completed = Callable[[Cluster, Changes], ParallelMapping]
"""The layout of a changed question on a machine."""

Machines = Callable[[str], Cluster]
"""A machine by name, with the software and the margin that were asked for."""

_MOST = 4
"""Remedies that are offered."""
_DOUBLINGS = 4
"""How often a machine is doubled in search of one that is large enough."""
_ENOUGH = 5_000
"""Layouts after which the fastest so far will do: a remedy need not be the best."""
_CONCERN: Mapping[str, tuple[str, ...]] = {
    "chips": ("data", "tensor", "pipeline", "context"),
    "batch": ("micro_batch",),
    "tensor split": ("tensor",),
    "stages": ("pipeline",),
    "interleaving": ("interleave",),
    "context": ("context", "ulysses"),
    "experts": ("expert_tensor_parallel", "expert", "sequence_parallel"),
    "schedule": ("schedule", "interleave", "pipeline"),
    "sharing": ("zero", "zero_group", "zero_secondary"),
    "host capacity": ("recompute", "micro_batch", "offload_weights", "offload_optimiser", "offload_activations"),
    "host memory": ("offload_weights", "offload_optimiser", "offload_activations", "recompute", "micro_batch"),
}
"""Check → the fields that it concerns, in the order in which changes of them are offered."""


def layout_remedies(
    step: TrainingStep,
    cluster: Cluster,
    mapping: ParallelMapping,
    problems: Sequence[str],
    *,
    completed: Completed,
    machine: Machines | None,
) -> tuple[str, ...]:
    """Return changes with which a step runs, as options with what they give; `problems` are names of failed checks.

    One change of what the checks concern comes first, and another batch, then two changes, other fields, any of the
    usual layouts, and last a larger `machine` of the same kind by name; None: the machine has no name.
    """
    concerned = [name for problem in problems for name in _concern(problem)]
    every = _changes(step, cluster, mapping)
    near = [one for name in dict.fromkeys(concerned) for one in every if name in one]
    memory = "memory" in problems

    def single(changes: Sequence[Changes]) -> list[str]:
        return _working(step, cluster, changes, completed, by_time=memory)

    found = single(every if memory else near)
    if not memory:
        found = [*found[:_MOST], *_batches(step, cluster, mapping, problems)]
    found = found or single(_pairs(every if memory else near)) or single(every) or single(_pairs(every))
    if not found:
        found = _any_layout(step, cluster, mapping)
    if not found and machine is not None:
        found = [*_larger(step, cluster, mapping, completed=completed, machine=machine)]
    return tuple(dict.fromkeys(found))[:_MOST]


def _concern(problem: str) -> tuple[str, ...]:
    """Return the fields that a check concerns; the check of an axis without rules of its own is named after it."""
    return _CONCERN.get(problem, (problem.removesuffix(" split"),))


def _changes(step: TrainingStep, cluster: Cluster, mapping: ParallelMapping) -> list[Changes]:
    """Return every change of one field to a near value, among those that another search would consider."""
    chips, sizes = cluster.accelerators, step.model.sizes
    options: dict[str, Iterable[Any]] = {}
    for name in ("data", "tensor", "pipeline", "context"):
        options[name] = nearest_options(divisors(chips), getattr(mapping, name), most=3)
    if EXPERT_DIM in sizes:
        options["expert"] = nearest_options(divisors(int(sizes[EXPERT_DIM])), mapping.expert, most=3)
        options["expert_tensor_parallel"] = (not mapping.expert_tensor_parallel,)
    else:
        options["expert"] = {1} - {mapping.expert}
    for axis in CUTTING:
        if axis.name not in options and axis not in (CONTEXT, EXPERT):
            options[axis.name] = nearest_options(divisors(chips), getattr(mapping, axis.name), most=1)
    batches = divisors(max(step.batch // mapping.data, 1))
    options["micro_batch"] = {1, *nearest_options(batches, mapping.micro_batch, most=2)} - {mapping.micro_batch}
    pieces = range(1, max(step.model.layers // mapping.pipeline, 1) + 1)
    options["interleave"] = {1, *nearest_options(pieces, mapping.interleave, most=1)} - {mapping.interleave}
    options["schedule"] = {Schedule.ONE_FORWARD_ONE_BACKWARD} - {mapping.schedule}
    options["recompute"] = [one for one in (Recompute.LIGHT, Recompute.FULL) if one != mapping.recompute]
    options["recompute_every"] = {1} - {mapping.recompute_every}
    options["zero"] = [stage for stage in (1, 2, 3) if stage != mapping.zero]
    options["zero_group"] = {0} - {mapping.zero_group}
    options["zero_secondary"] = {0} - {mapping.zero_secondary}
    options["sequence_parallel"] = (not mapping.sequence_parallel,)
    options["ulysses"] = {False} - {mapping.ulysses}
    for name in ("offload_weights", "offload_optimiser", "offload_activations"):
        host = cluster.host_rate is not None and cluster.host_memory is not None
        options[name] = (False,) if getattr(mapping, name) else (True,) if host else ()
    order = {one.name: place for place, one in enumerate(CHOICES)}
    return [{name: value} for name in sorted(options, key=lambda name: order[name]) for value in options[name]]


def _pairs(changes: Sequence[Changes]) -> list[Changes]:
    return [{**one, **other} for one, other in combinations(changes, 2) if not one.keys() & other.keys()]


def _working(
    step: TrainingStep, cluster: Cluster, changes: Sequence[Changes], completed: Completed, *, by_time: bool
) -> list[str]:
    """Return those changes that run, in one table; `by_time` the fastest first."""
    made: list[tuple[Changes, ParallelMapping]] = []
    for change in changes:
        try:
            made.append((change, completed(cluster, change)))
        except VolvelleError:
            continue  # there is no such layout
    if not made:
        return []
    table = ClosedForm().table(step, cluster, MappingTable.of([mapping for _, mapping in made]))
    rows = [row for row in range(len(made)) if table.feasible[row]]
    if by_time:
        rows.sort(key=lambda row: float(table.time[row]))
    return [
        f"{_typed(made[row][0])} ({_gives(float(table.memory_bytes[row]), float(table.time[row]))})" for row in rows
    ]


def _batches(
    step: TrainingStep,
    cluster: Cluster,
    mapping: ParallelMapping,
    problems: Sequence[str],
) -> Iterator[str]:
    """Yield the nearest batches that divide, where the batch is a problem."""
    if not {"batch", "interleaving"} & set(problems):
        return
    each = mapping.data * mapping.micro_batch * (mapping.pipeline if mapping.interleave > 1 else 1)
    for size in (step.batch // each * each, (step.batch // each + 1) * each):
        if size and size != step.batch:
            table = ClosedForm().table(replace(step, batch=size), cluster, MappingTable.of([mapping]))
            if table.feasible[0]:
                yield f"--batch {size} ({_gives(float(table.memory_bytes[0]), float(table.time[0]))})"


def _any_layout(step: TrainingStep, cluster: Cluster, mapping: ParallelMapping) -> list[str]:
    """Return the fastest of the usual layouts that runs, as the options in which it differs from a layout."""
    length = int(step.model.sizes.get("position", 1))
    space = Space(context=usual_context(length), recompute_every=usual_gaps)
    best = fastest(space, step, cluster, ClosedForm(), enough=_ENOUGH)
    if best is None:
        return []
    values = {one.name: getattr(best.mapping, one.name) for one in CHOICES}
    changes = {name: value for name, value in values.items() if value != getattr(mapping, name) or name == "data"}
    return [f"{_typed(changes)} ({_gives(best.memory, best.time)})"]


def _larger(
    step: TrainingStep,
    cluster: Cluster,
    mapping: ParallelMapping,
    *,
    completed: Completed,
    machine: Machines,
) -> Iterator[str]:
    """Yield the smallest doubled machine where the same layout runs, or else any layout."""
    kind = cluster.name.partition("/")[0]
    for power in range(1, _DOUBLINGS + 1):
        name = f"{kind}/{cluster.accelerators * 2**power}"
        try:
            larger = machine(name)
            found = _working(step, larger, [{}], completed, by_time=False) or _any_layout(step, larger, mapping)
        except VolvelleError:
            return
        if found:
            yield f"--on {name} {found[0].strip()}"
            return


def _typed(change: Changes) -> str:
    """Return a change as options of the command."""
    by_name = {one.name: one for one in CHOICES}
    return " ".join(" ".join(_words(by_name[name], value)) for name, value in change.items())


def _words(choice: Choice, value: Any) -> list[str]:
    """Return one choice as options; a switch that is off by default is turned off by leaving its option out."""
    if value is False and choice.default is False:
        on = choice.typed(True)
        return [f"without {' '.join(on)}"]
    return choice.typed(value)


def _gives(memory: float, seconds: float) -> str:
    return f"{show(memory, BYTES)}, {show(seconds, SECONDS)}/step"
