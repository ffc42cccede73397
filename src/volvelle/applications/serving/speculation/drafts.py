"""How an instance drafts: what its drafter keeps in memory, and what its cycles yield."""

from dataclasses import dataclass, replace

import numpy as np

from volvelle.applications.acceptance.drafters import KnownAcceptance
from volvelle.estimators.serving.cache import cache_bytes, growing_bytes
from volvelle.laws.serving.cycles import cycles_until, yield_chances
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.served_model import ServedModel
from volvelle.workload.serving.drafting import Drafting
from volvelle.workload.serving.requests import Requests

_SEED = 0x5BEC
"""Apart from the seed of arrivals and lengths."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Speculation:
    """How an instance drafts, with a window that is decided."""

    drafting: Drafting
    acceptance: KnownAcceptance
    served: ServedModel | None = None
    """What drafts; None: nothing that has weights."""
    layout: ServingLayout | None = None
    weights: float = 0.0
    """Bytes of the drafter on a chip, beside what it shares with the target."""

    @property
    def levels(self) -> tuple[float, ...]:
        """Acceptance at each position, or at each level of a tree."""
        return self.acceptance.levels(self.drafting)

    @property
    def tokens(self) -> float:
        """Of a cycle, on average."""
        return self.acceptance.tokens(self.drafting)

    @property
    def lookahead(self) -> int:
        """Slots of the cache that a sequence needs for what may not be accepted."""
        return self.drafting.positions - 1

    @property
    def growing(self) -> float:
        """Bytes that the drafter's cache grows by with a token, on a chip."""
        if self.served is None or self.layout is None:
            return 0.0
        return growing_bytes(self.served, self.layout)

    def cache(self, context: float, *, block: int) -> float:
        """Bytes that the drafter keeps of a request of so many tokens."""
        if self.served is None or self.layout is None:
            return 0.0
        return float(cache_bytes(self.served, self.layout, context, block=block))

    def cycles(self, tokens: int) -> float:
        """Cycles that so many tokens after the first take, on average."""
        return float(np.max(cycles_until(np.array([tokens]), yield_chances(self.levels))[0]))

    def token_cycles(self, tokens: int) -> float:
        """Cycles a token, over so many tokens after the first."""
        return self.cycles(tokens) / tokens if tokens > 0 else 1.0 / self.tokens

    def drawn(self, requests: Requests, seed: int) -> Requests:
        """The requests, each with as many decoding steps as its cycles; drawn, as the tokens of a cycle are chance.

        Each number of cycles is drawn from a normal law with the mean and the variance that it has, and lies between
        the fewest that are possible and one a token. All requests are taken to be accepted alike.
        """
        left = requests.output_tokens - 1
        mean, variance = cycles_until(left, yield_chances(self.levels))
        chance = np.random.default_rng((_SEED, seed))
        around = np.asarray(mean) + np.sqrt(variance) * chance.standard_normal(left.size)
        steps = np.floor(around + chance.random(left.size)).astype(np.int64)
        fewest = -(-left // (len(self.levels) + 1))
        return replace(requests, decode_steps=np.clip(steps, fewest, left))
