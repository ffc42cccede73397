"""A training step and a kind of machine whose GPU count is open: the start of every question about counts."""

from collections.abc import Callable
from dataclasses import dataclass

from volvelle.applications.training.training_step import training_step
from volvelle.errors import DescriptionError
from volvelle.questions.training import SearchedStep
from volvelle.search.space import Space
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import catalogue_of, cluster_of, forward_pass
from volvelle.verbs.plan import considered_space
from volvelle.workload.training import TrainingStep

STEP_TOKENS = 2**22
"""Tokens of the global batch where no batch is given, as usual for large models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyCount:
    """The step, the layouts to consider, and the machine of each count."""

    step: TrainingStep
    space: Space
    machine: Callable[[int], Cluster]
    sequence: int
    """Tokens of a sequence."""
    notes: tuple[str, ...]


def on_any_count(question: SearchedStep, on: str, *, why: str, tokens: int = STEP_TOKENS, apart: str = "") -> AnyCount:
    """Return what is asked of counts. Reject a machine `on` that states its count.

    Without a batch, as many sequences are taken as `tokens` have. `why` says in the error why to leave out the count;
    `apart` follows the note about the batch.
    """
    if "/" in on:
        kind = on.partition("/")[0]
        raise DescriptionError(f"{on!r} has a count already; leave it away {why}: {kind!r}")
    known = catalogue_of(question.catalogue)
    _, forward, notes = forward_pass(question.model, known, question.sequence)
    length, batch = int(forward.sizes.get("position", 1)), question.batch
    if batch is None:
        batch = max(1, tokens // length)
        notes = (*notes, f"no --batch given: {batch} sequences, {batch * length:,} tokens a step{apart}")
    return AnyCount(
        step=training_step(
            forward, batch=batch, element=question.element, expert_load=question.expert_load, **question.recipe
        ),
        space=considered_space(question.considered, length, offload=question.offload),
        machine=lambda count: cluster_of(
            f"{on}/{count}", known, stack=question.software, margin=question.margin, changes=question.set
        ),
        sequence=length,
        notes=notes,
    )
