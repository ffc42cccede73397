"""What is asked of a training step: the model, the machine, and the layout."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

from volvelle.domains import EXPERT_LOAD, MARGIN, SEQUENCES, WIDTH, within_domains
from volvelle.errors import DescriptionError, MappingError, UnknownNameError
from volvelle.mapping.axes import DATA, PIPELINE, TAKING, TENSOR
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.system.cluster import Cluster
from volvelle.verbs.command_words import in_command_words
from volvelle.verbs.named import NO_BATCH, Folder, Machine, Model, catalogue_of, cluster_of, forward_pass
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
    if mapping is None:
        mapping = _layout(cluster, choices)
    elif choices:
        raise MappingError(f"both a mapping and {', '.join(sorted(choices))} are given; give one or the other")
    return Question(model=forward.name, step=step, cluster=cluster, mapping=mapping, notes=notes)


def _layout(cluster: Cluster, choices: Mapping[str, Any]) -> ParallelMapping:
    """A layout from its fields; replicas take the chips that are left, and what has nothing to split is off."""
    known = [field.name for field in fields(ParallelMapping)]
    for name in choices:
        if name not in known:
            raise UnknownNameError.among("field of a layout", name, known)
    given = {name: value for name, value in choices.items() if name != DATA.name or value is not None}
    mapping = ParallelMapping(**given)
    if DATA.name not in given:
        others = [axis for axis in TAKING if axis is not DATA]
        if mapping.chips > cluster.accelerators:
            shown = " × ".join(f"{axis.name} {getattr(mapping, axis.name)}" for axis in others)
            raise MappingError(
                f"{shown} needs {mapping.chips} accelerators, but "
                f"{cluster.name} has {cluster.accelerators}; lower {TENSOR.flag} or {PIPELINE.flag}, or ask for "
                f"{cluster.name.partition('/')[0]}/{mapping.chips}"
            )
        mapping = replace(mapping, data=cluster.accelerators // mapping.chips)
    return replace(
        mapping,
        sequence_parallel=mapping.sequence_parallel and mapping.tensor > 1,
        ulysses=mapping.ulysses and mapping.context > 1,
    )
