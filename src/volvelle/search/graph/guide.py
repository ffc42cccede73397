"""What is known of a block's shardings whatever the tile size."""

from collections.abc import Callable
from functools import cached_property
from math import inf
from time import perf_counter

from volvelle.search.graph.block_question import BlockQuestion
from volvelle.search.graph.block_search import BlockSearch, Effort
from volvelle.search.graph.sharding import Sharding
from volvelle.search.graph.sharding_times import Weights


class Guide:
    """A bound on them that can be made sharper, and some that look good.

    Its question has the buffers of the smallest tiles and the work of the largest, so that what bounds it bounds them
    all: a proof is sought once.
    """

    def __init__(self, question: BlockQuestion, *, start: Weights | None = None, deadline: float = inf) -> None:
        self._question = question
        self._search = BlockSearch(question, Effort(), start=start, deadline=deadline)

    @property
    def bound(self) -> float:
        """No sharding takes less."""
        return self._search.bound

    @property
    def weights(self) -> Weights:
        """That gave the first bound."""
        return self._search.root.lagrangian.weights

    @property
    def hints(self) -> tuple[tuple[int, ...], ...]:
        """Options of shardings that look good."""
        return self._search.root.lagrangian.hints

    @cached_property
    def shardings(self) -> tuple[Sharding, ...]:
        """The same, decoded."""
        return tuple(self._question.sharder.decoded(0.0, hint, self._search.root.timed.allowed) for hint in self.hints)

    @property
    def time(self) -> float:
        """Of the best found; infinite where none was looked for."""
        return self._search.time

    @property
    def best(self) -> Sharding | None:
        """The one that takes least of those fused so far."""
        return None if self._search.best is None else self._search.best.sharding

    def closed(self, enough: float) -> bool:
        """Whether the bound is enough, or as sharp as it gets."""
        return not self._question.exact or self._search.closed(enough)

    def sharpen(self, *, enough: float, deadline: float, effort: Effort, fits: Callable[[Sharding], bool]) -> None:
        """Look at shardings until the bound is enough."""
        self._search.effort = effort
        while not self.closed(enough) and perf_counter() < deadline:
            self._search.advance(cutoff=enough, deadline=deadline, fits=fits)
