"""What is asked of a training step: the model, the machine, and the layout."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

from volvelle.catalogue import Catalogue
from volvelle.domains import EXPERT_LOAD, MARGIN, SEQUENCES, WIDTH, within_domains
from volvelle.errors import DescriptionError, MappingError, UnknownNameError
from volvelle.mapping.axes import DATA, TAKING
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.system.cluster import Cluster
from volvelle.verbs.command_words import in_command_words
from volvelle.verbs.named import NO_BATCH, Folder, Machine, Model, catalogue_of, cluster_of, forward_pass
from volvelle.verbs.remedies.layouts import Machines, layout_remedies
from volvelle.verbs.training_step import split_off_tuning, training_step
from volvelle.verbs.what_if import Changes
from volvelle.workload.graph import Workload
from volvelle.workload.training import TrainingStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is trained, on which machine, and how it is laid out there."""

    model: str
    step: TrainingStep
    cluster: Cluster
    mapping: ParallelMapping
    notes: tuple[str, ...] = ()
    """Defaults that were used."""


@in_command_words
@within_domains
def question_of(
    model: Model | Workload,
    *,
    on: Machine,
    batch: Annotated[int | None, SEQUENCES] = None,
    mapping: ParallelMapping | None = None,
    sequence: Annotated[int | None, WIDTH] = None,
    element: str = "bf16",
    expert_load: Annotated[float, EXPERT_LOAD] = 1.0,
    stack: str = "",
    margin: Annotated[str | float | None, MARGIN] = None,
    set: Changes | None = None,  # noqa: A002 - the option's name
    catalogue: Folder = None,
    **choices: Any,
) -> Question:
    """A question as `estimate` takes it: step, machine and layout."""
    if batch is None:
        raise DescriptionError(NO_BATCH)
    known = catalogue_of(catalogue)
    cluster = cluster_of(on, known, stack=stack, margin=margin, changes=set)
    _, forward, notes = forward_pass(model, known, sequence)
    recipe, choices = split_off_tuning(choices)
    step = training_step(forward, batch=batch, element=element, expert_load=expert_load, **recipe)
    machine = machines_of(on, known, stack=stack, margin=margin, changes=set)
    if mapping is None:
        mapping = layout_of(step, cluster, choices, machine)
    elif choices:
        raise MappingError(f"both a mapping and {', '.join(sorted(choices))} are given; give one or the other")
    return Question(model=forward.name, step=step, cluster=cluster, mapping=mapping, notes=notes)


def machines_of(
    on: Machine, known: Catalogue, *, stack: str, margin: str | float | None, changes: Changes | None
) -> Machines | None:
    """Return what makes other sizes of the machine by name; None: it was not given by name."""
    if not isinstance(on, str):
        return None
    return lambda name: cluster_of(name, known, stack=stack, margin=margin, changes=changes)


def layout_of(
    step: TrainingStep, cluster: Cluster, choices: Mapping[str, Any], machine: Machines | None
) -> ParallelMapping:
    """Return a layout from its fields; if it needs more chips than there are, raise an error with tried remedies."""
    found = completed(cluster, choices)
    if found.chips <= cluster.accelerators or choices.get(DATA.name) is not None:
        return found
    others = [axis for axis in TAKING if axis is not DATA]
    shown = " × ".join(f"{axis.name} {getattr(found, axis.name)}" for axis in others)
    remedies = layout_remedies(
        step,
        cluster,
        found,
        ("chips",),
        completed=lambda there, change: completed(there, {**choices, **change}),
        machine=machine,
    )
    told = f"; {' or '.join(remedies)}" if remedies else ""
    raise MappingError(f"{shown} needs {found.chips} accelerators, but {cluster.name} has {cluster.accelerators}{told}")


def completed(cluster: Cluster, choices: Mapping[str, Any]) -> ParallelMapping:
    """Return a layout from its fields: replicas take the chips that are left, and what has nothing to split is off."""
    known = [field.name for field in fields(ParallelMapping)]
    for name in choices:
        if name not in known:
            raise UnknownNameError.among("field of a layout", name, known)
    given = {name: value for name, value in choices.items() if name != DATA.name or value is not None}
    mapping = ParallelMapping(**given)
    if DATA.name not in given:
        mapping = replace(mapping, data=max(1, cluster.accelerators // mapping.chips))
    return replace(
        mapping,
        sequence_parallel=mapping.sequence_parallel and mapping.tensor > 1,
        ulysses=mapping.ulysses and mapping.context > 1,
    )
