"""A question of ``volvelle plan MODEL --serve`` as a value: the command that asks it, and the same with changes."""

import shlex
from dataclasses import dataclass, fields, replace
from typing import Any

from volvelle.verbs.plan_serving.candidates import Axes
from volvelle.verbs.plan_serving.drafts import ways_to_draft
from volvelle.verbs.serving.question import FLAGS, ServingQuestion

_FLAGS = {**FLAGS, "purpose": "for"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingPlanQuestion:
    """What is asked; nothing: the usual values are considered."""

    model: str
    on: tuple[str, ...]
    load: str
    slo: str
    input: int | None = None
    output: int | None = None
    lengths: str | None = None
    requests: int | None = None
    seed: int = 0
    purpose: str = "dollars"
    engine: tuple[str, ...] = ("vllm",)
    weights: tuple[str, ...] = ()
    kv: tuple[str, ...] = ()
    tensor: tuple[int, ...] = ()
    pipeline: tuple[int, ...] = ()
    expert: tuple[int, ...] = ()
    data: tuple[int, ...] = ()
    max_batched_tokens: tuple[int, ...] = ()
    max_seqs: tuple[int, ...] = ()
    memory_share: float | None = None
    chunked_prefill: bool | None = None
    speculate: tuple[str, ...] = ()
    """Ways to draft, beside not drafting."""
    split: bool = False
    """Whether two pools are looked for too."""

    @property
    def command(self) -> str:
        """As it is typed."""
        words = ["volvelle", "plan", self.model, "--serve"]
        for part in fields(self):
            value = getattr(self, part.name)
            if part.name == "model" or value == part.default:
                continue
            flag = f"--{_FLAGS.get(part.name, part.name.replace('_', '-'))}"
            if part.name == "speculate":
                words += [word for one in value for word in (flag, one)]
                continue
            text = ",".join(map(str, value)) if isinstance(value, tuple) else f"{value}"
            words += [flag] if value is True else [flag, text]
        return shlex.join(words)

    def changed(self, **changes: Any) -> "ServingPlanQuestion":
        """The same but for some of it."""
        return replace(self, **changes)

    @property
    def axes(self) -> Axes:
        """What is considered."""
        return Axes(
            engines=self.engine,
            weights=self.weights,
            kv=self.kv,
            tensor=self.tensor,
            pipeline=self.pipeline,
            expert=self.expert,
            data=self.data,
            budgets=self.max_batched_tokens,
            sequences=self.max_seqs,
            drafts=ways_to_draft(self.speculate),
        )

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
