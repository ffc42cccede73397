"""A question about two pools as a value: the command that asks it, each pool's own question, the same with changes."""

import shlex
from dataclasses import dataclass, fields, replace
from typing import Any

from volvelle.interchange.pool_words import PoolWords
from volvelle.verbs.serving.question import ServingQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitQuestion:
    """What is asked; None: not said."""

    model: str
    on: str
    prefill: PoolWords
    decode: PoolWords
    load: str
    transfer: str = "after"
    router: str = "round-robin"
    input: int | None = None
    output: int | None = None
    lengths: str | None = None
    requests: int | None = None
    seed: int = 0
    engine: str = "vllm"
    weights: str = "bf16"
    published: str = "bf16"
    """Format of weights where the command names none; not an option of its own."""
    kv: str = "bf16"
    max_batched_tokens: int | None = None
    max_seqs: int | None = None
    memory_share: float | None = None
    chunked_prefill: bool | None = None

    @property
    def traced(self) -> bool:
        """Whether requests have the lengths of a trace."""
        return self.of("decode").traced

    @property
    def input_tokens(self) -> int:
        """Of a prompt."""
        return self.of("decode").input_tokens

    @property
    def output_tokens(self) -> int:
        """Of an answer."""
        return self.of("decode").output_tokens

    def words(self, pool: str) -> PoolWords:
        """What is said of a pool."""
        found: PoolWords = getattr(self, pool)
        return found

    def of(self, pool: str) -> ServingQuestion:
        """The question about one worker of a pool."""
        words = self.words(pool)
        shared = {part.name for part in fields(ServingQuestion)} & {part.name for part in fields(self)}
        said = {name: getattr(self, name) for name in shared}
        degrees = {name: getattr(words, name) for name in ("tensor", "pipeline", "expert", "data")}
        own = {"on": words.on or self.on, "weights": words.weights or self.weights}
        return ServingQuestion(**{**said, **degrees, **own})

    @property
    def command(self) -> str:
        """As it is typed."""
        found = ["volvelle", "serve", self.model, "--on", self.on]
        for part in fields(self):
            value = getattr(self, part.name)
            usual = self.published if part.name == "weights" else part.default
            if part.name in ("model", "on", "published") or value == usual:
                continue
            flag = f"--{part.name.replace('_', '-')}"
            found += [flag] if value is True else [flag, f"{value}"]
        return shlex.join(found)

    def changed(self, **changes: Any) -> "SplitQuestion":
        """The same but for some of it."""
        return replace(self, **changes)
