"""A question of ``volvelle plan MODEL --serve`` whose names are looked up, and the questions of its candidates."""

from volvelle.base.option_kinds import items
from volvelle.base.question import option
from volvelle.questions.machine import SYSTEM
from volvelle.questions.serving import LENGTHS, LIMITS, LOAD, PlanServingQuestion
from volvelle.questions.training import MODEL
from volvelle.verbs.plan_serving.candidates import Axes
from volvelle.verbs.plan_serving.drafts import ways_to_draft
from volvelle.verbs.serving.question import ServingQuestion


class ServingPlanQuestion(PlanServingQuestion):
    """What is planned; a field that is empty stands for its usual values."""

    model: str = option(MODEL)
    on: tuple[str, ...] = option(SYSTEM, several=True)
    load: str = option(LOAD)
    slo: str = option(LIMITS)
    lengths: str | None = option(LENGTHS, default=None)

    @property
    def axes(self) -> Axes:
        """The values to consider."""
        return Axes(
            engines=tuple(self.engine),
            weights=tuple(self.weights),
            kv=tuple(self.kv),
            tensor=tuple(items(self.tensor)),
            pipeline=tuple(items(self.pipeline)),
            expert=tuple(items(self.expert)),
            data=tuple(items(self.data)),
            budgets=tuple(items(self.max_batched_tokens)),
            sequences=tuple(items(self.max_seqs)),
            drafts=ways_to_draft(self.drafts),
        )

    @property
    def drafts(self) -> tuple[str, ...]:
        """The ways to draft, in words."""
        return tuple(map(str, items(self.speculate)))

    @property
    def served(self) -> ServingQuestion:
        """What all candidates have in common."""
        return ServingQuestion(
            model=self.model,
            on=self.on[0],
            load=self.load,
            input=self.input,
            output=self.output,
            lengths=self.lengths,
            requests=self.requests,
            seed=self.seed,
            memory_share=self.memory_share,
            chunked_prefill=self.chunked_prefill,
        )
