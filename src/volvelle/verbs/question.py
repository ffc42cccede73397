"""What is asked of a training step: the model, the machine, and the layout."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from volvelle.applications.training.training_step import training_step
from volvelle.base.python_function import asks
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError, MappingError, UnknownNameError
from volvelle.mapping.axes import DATA, TAKING
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.questions.machine import Changes
from volvelle.questions.training import LaidOutStep
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import NO_BATCH, Machine, catalogue_of, cluster_of, forward_pass
from volvelle.verbs.remedies.layouts import Machines, layout_remedies
from volvelle.workload.training import TrainingStep


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedStep:
    """What is trained, on which machine, and how it is laid out there, with every name looked up."""

    model: str
    step: TrainingStep
    cluster: Cluster
    mapping: ParallelMapping
    notes: tuple[str, ...] = ()
    """Defaults that were used."""


def resolved_step(question: LaidOutStep) -> ResolvedStep:
    """Return the step, the machine and the layout that a question names."""
    if question.batch is None:
        raise DescriptionError(NO_BATCH)
    known = catalogue_of(question.catalogue)
    stack, margin, changes = question.software, question.margin, question.set
    cluster = cluster_of(question.on, known, stack=stack, margin=margin, changes=changes)
    _, forward, notes = forward_pass(question.model, known, question.sequence)
    step = training_step(
        forward, batch=question.batch, element=question.element, expert_load=question.expert_load, **question.recipe
    )
    mapping = question.mapping
    if mapping is None:
        machine = machines_of(question.on, known, stack=stack, margin=margin, changes=changes)
        mapping = layout_of(step, cluster, question.layout, machine)
    elif question.stated_fields:
        stated = ", ".join(sorted(question.stated_fields))
        raise MappingError(f"both a mapping and {stated} are given; give one or the other")
    return ResolvedStep(model=forward.name, step=step, cluster=cluster, mapping=mapping, notes=notes)


question_of = asks(LaidOutStep)(resolved_step)
"""Return the step, the machine and the layout, from keyword arguments as `estimate` takes them."""


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
