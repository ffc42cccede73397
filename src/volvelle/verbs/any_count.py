"""A training step and a kind of machine whose count of accelerators is open: what questions about counts begin with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from volvelle.errors import DescriptionError
from volvelle.search.space import Space
from volvelle.system.cluster import Cluster
from volvelle.verbs.named import Folder, Model, catalogue_of, cluster_of, forward_pass
from volvelle.verbs.plan import considered_space
from volvelle.verbs.training_step import split_off_tuning, training_step
from volvelle.verbs.what_if import Changes
from volvelle.workload.graph import Workload
from volvelle.workload.training import TrainingStep

STEP_TOKENS = 2**22
"""Of the global batch, where none is given: usual of large models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyCount:
    """The step, the layouts considered, and the machine of each count."""

    step: TrainingStep
    space: Space
    machine: Callable[[int], Cluster]
    sequence: int
    """Tokens of a sequence."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOfCounts:
    """What a question about counts was given: a model, a kind of machine, and what of a step and of layouts."""

    model: Model | Workload
    on: str
    considered: Mapping[str, Any]
    """What of layouts, and of tuning."""
    batch: int | None
    sequence: int | None
    element: str
    expert_load: float
    offload: bool
    stack: str
    margin: str | float | None
    changes: Changes | None
    catalogue: Folder

    def on_any_count(self, *, question: str, tokens: int = STEP_TOKENS, apart: str = "") -> AnyCount:
        """What is asked of counts, refused where `on` has one; without a batch, as many sequences as `tokens` have.

        `question` says, in the refusal, why to leave the count away; `apart` follows the note of the batch taken.
        """
        if "/" in self.on:
            kind = self.on.partition("/")[0]
            raise DescriptionError(f"{self.on!r} has a count already; leave it away {question}: {kind!r}")
        known = catalogue_of(self.catalogue)
        _, forward, notes = forward_pass(self.model, known, self.sequence)
        length, batch = int(forward.sizes.get("position", 1)), self.batch
        if batch is None:
            batch = max(1, tokens // length)
            notes = (*notes, f"no --batch given: {batch} sequences, {batch * length:,} tokens a step{apart}")
        recipe, layouts = split_off_tuning(dict(self.considered))
        return AnyCount(
            step=training_step(forward, batch=batch, element=self.element, expert_load=self.expert_load, **recipe),
            space=considered_space(layouts, length, offload=self.offload),
            machine=lambda count: cluster_of(
                f"{self.on}/{count}", known, stack=self.stack, margin=self.margin, changes=self.changes
            ),
            sequence=length,
            notes=notes,
        )
