"""A cycle of speculative decoding as one step: what is drafted, and its verification with all else in the batch.

The drafter's first pass goes over all tokens of the step, prompts among them, because it keeps a cache of its own (or
reads what the target made of them); each further pass goes over what the pass before it drafted.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from volvelle.estimators.serving.engine_constants import EngineConstants, KernelSet
from volvelle.estimators.serving.iteration import Batch, Column, Iteration
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.system.chip import Chip
from volvelle.workload.served_model import ServedModel

DRAFT = "draft, first pass"
DRAFT_ATTENTION = "draft, attention of the first pass"
FURTHER = "draft, further passes"
DRAFT_HEAD = "draft, head"


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPasses:
    """A drafter and the passes that it makes in a cycle, in tokens of a sequence."""

    iteration: Iteration
    further: tuple[float, ...] = ()
    """Of each pass after the first: one token, or the nodes of a level of a tree."""
    masked: float = 0.0
    """That the first pass has beside those of the step: places to be filled in parallel."""
    heads: float = 1.0
    """Of which the first pass makes logits."""

    def beside(self, batch: Batch) -> Column:
        """Seconds of the first pass but its attention and head; `batch` is what the target verifies."""
        first = sum(time for name, time in self.iteration.beside(batch).items() if name != "head")
        if not self.masked:
            return np.asarray(first)
        wider = replace(batch, queries=batch.queries + self.masked)
        return np.where(batch.prompt_tokens > 0, first, first + self._more(wider, batch))

    def attention(self, batch: Batch) -> dict[str, Column]:
        """Seconds of all else, which depends on what was read before, or on sequences."""
        own, nothing = self.iteration, np.zeros(np.shape(batch.decodes))
        further = nothing
        for tokens, passes in Counter(self.further).items():
            decoding = Batch(
                prompt_tokens=nothing,
                prompts=nothing,
                past=nothing,
                decodes=batch.decodes,
                context=batch.context,
                queries=tokens,
            )
            further = further + passes * np.where(batch.decodes > 0, own.seconds(decoding), 0.0)
        return {
            DRAFT_ATTENTION: np.asarray(sum(own.attention(batch).values())),
            FURTHER: further,
            DRAFT_HEAD: own.head(batch.decodes * self.heads),
        }

    def _more(self, wider: Batch, batch: Batch) -> Column:
        """Seconds that the first pass takes longer for the places that it fills."""
        longer = self.iteration.seconds(wider) - self.iteration.seconds(batch)
        return np.maximum(longer - self.iteration.head(wider.yields) + self.iteration.head(batch.yields), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculativeIteration:
    """Steps of a target that verify drafts; a decode of a batch is a sequence, and a step is a whole cycle of it."""

    target: Iteration
    verified: int
    """Tokens of a sequence that a step verifies: those drafted, and the one before them."""
    draft: DraftPasses | None = None
    """None: drafts cost nothing, as those that are looked up in the prompt."""

    @property
    def served(self) -> ServedModel:
        """The target."""
        return self.target.served

    @property
    def layout(self) -> ServingLayout:
        """Of the target."""
        return self.target.layout

    @property
    def chip(self) -> Chip:
        """That both run on."""
        return self.target.chip

    @property
    def kernels(self) -> KernelSet:
        """Of the target."""
        return self.target.kernels

    @property
    def engine(self) -> EngineConstants:
        """Whose steps they are."""
        return self.target.engine

    @property
    def overlapped(self) -> bool:
        """Whether the scheduler works while the chips do."""
        return self.target.overlapped

    @property
    def host(self) -> float:
        """Seconds of the scheduler a cycle."""
        return self.target.host

    @property
    def host_sequence(self) -> float:
        """Seconds of the scheduler a sequence of a cycle."""
        return self.target.host_sequence

    @property
    def pairing(self) -> float:
        """Seconds a sequence that attention takes more in captured graphs of a cycle."""
        if self.draft is None:
            return self.target.pairing
        return self.target.pairing + (1.0 + len(self.draft.further)) * self.draft.iteration.pairing

    @property
    def starting(self) -> float:
        """Seconds that attention over prompts takes to start, in both."""
        return self.target.starting + (0.0 if self.draft is None else self.draft.iteration.starting)

    def on(self, chip: Chip) -> "SpeculativeIteration":
        """The same on another chip."""
        draft = self.draft and replace(self.draft, iteration=self.draft.iteration.on(chip))
        return replace(self, target=self.target.on(chip), draft=draft)

    def head(self, rows: Column) -> Column:
        """Seconds for so many rows of the target's logits."""
        return self.target.head(rows)

    def launching(self, tokens: Column) -> Column:
        """Seconds that the host takes to launch a cycle with prompts."""
        own = self.target.launching(tokens)
        return own if self.draft is None else own + self.draft.iteration.launching(tokens)

    def parts(self, batch: Batch) -> Mapping[str, Column]:
        """Seconds on the chips by part: those of the target, and the draft's."""
        return {**self.beside(batch), **self.attention(batch)}

    def beside(self, batch: Batch) -> dict[str, Column]:
        """What the tokens of a cycle decide, however many were read before."""
        cycle = replace(batch, queries=float(self.verified))
        found = self.target.beside(cycle)
        return found if self.draft is None else {**found, DRAFT: self.draft.beside(cycle)}

    def attention(self, batch: Batch) -> dict[str, Column]:
        """All else."""
        cycle = replace(batch, queries=float(self.verified))
        found = self.target.attention(cycle)
        return found if self.draft is None else found | self.draft.attention(cycle)

    def seconds(self, batch: Batch) -> Column:
        """Of the chips."""
        return np.asarray(sum(self.parts(batch).values()))

    def steps(self, batch: Batch) -> Column:
        """Seconds of whole cycles: the chips, the launches that they wait for, and the host."""
        return self.whole(batch, chips=self.seconds(batch))

    def whole(self, batch: Batch, *, chips: Column) -> Column:
        """Seconds of cycles from those of the chips."""
        launches = self.launching(replace(batch, queries=float(self.verified)).tokens)
        return self.target.whole(batch, chips=chips, launches=launches)


TimedSteps = Iteration | SpeculativeIteration
"""What times steps: of a model alone, or with drafts."""
