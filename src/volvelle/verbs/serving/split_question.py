"""A question about two pools as a value: each pool's own question, and the same with changes."""

from collections.abc import Collection

from volvelle.base.option_kinds import Instance
from volvelle.base.question import Option, option
from volvelle.interchange.pool_words import PoolWords
from volvelle.questions.machine import SYSTEM
from volvelle.questions.serving import (
    DECODE,
    LENGTHS,
    LOAD,
    PREFILL,
    ROUTER,
    TRANSFER,
    WEIGHTS,
    EngineFields,
    RequestFields,
)
from volvelle.questions.training import MODEL
from volvelle.verbs.serving.question import ServingQuestion

_WORKERS = Instance("words of a pool", ("PoolWords",))


class SplitQuestion(RequestFields, EngineFields):
    """A question about two pools whose names are looked up and whose formats are decided."""

    subcommand = "serve"

    model: str = option(MODEL)
    on: str = option(SYSTEM)
    load: str = option(LOAD)
    lengths: str | None = option(LENGTHS, default=None)
    weights: str = option(WEIGHTS, default="bf16")
    published: str = option(Option("", "Format of the weights if the question states none."), default="bf16")
    prefill: PoolWords = option(PREFILL, kind=_WORKERS)
    decode: PoolWords = option(DECODE, kind=_WORKERS)
    transfer: str = option(TRANSFER, default="after")
    router: str = option(ROUTER, default="round-robin")

    @property
    def traced(self) -> bool:
        """Whether requests have the lengths of a trace."""
        return self.of("decode").traced

    @property
    def input_tokens(self) -> int:
        """Tokens per prompt."""
        return self.of("decode").input_tokens

    @property
    def output_tokens(self) -> int:
        """Tokens per answer."""
        return self.of("decode").output_tokens

    def words(self, pool: str) -> PoolWords:
        """Return the workers and the layout of a pool."""
        words: PoolWords = getattr(self, pool)
        return words

    def of(self, pool: str) -> ServingQuestion:
        """Return the question about one worker of a pool."""
        words = self.words(pool)
        degrees = {name: getattr(words, name) for name in ("tensor", "pipeline", "expert", "data")}
        own = {"on": words.on or self.on, "weights": words.weights or self.weights}
        return self.as_question(ServingQuestion, **degrees, **own)

    def typed(self, *, without: Collection[str] = ()) -> list[str]:
        """Return the words of the command; the format of the weights only if it is not the published one."""
        implied = ("weights",) if self.weights == self.published else ()
        return super().typed(without=(*without, *implied))
