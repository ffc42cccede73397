"""What is known of a block's shardings whatever the tile size."""

from collections.abc import Callable
from functools import cached_property
from time import perf_counter

from volvelle.search.certificate import SearchCounts
from volvelle.search.graph.block_question import BlockQuestion
from volvelle.search.graph.block_search import BlockSearch
from volvelle.search.graph.sharding import Sharding
from volvelle.search.graph.sharding_times import Weights


class Guide(BlockSearch):
    """A bound on them that can be made sharper, and some that look good.

    Its question has the buffers of the smallest tiles and the work of the largest, so that what bounds it bounds them
    all: a proof is sought once.
    """

    def __init__(self, question: BlockQuestion, *, start: Weights | None = None) -> None:
        super().__init__(question, SearchCounts(), start=start)

    @property
    def weights(self) -> Weights:
        """That gave the first bound."""
        return self.root.lagrangian.weights

    @property
    def hints(self) -> tuple[tuple[int, ...], ...]:
        """Options of shardings that look good."""
        return self.root.lagrangian.hints

    @cached_property
    def shardings(self) -> tuple[Sharding, ...]:
        """The same, decoded."""
        return tuple(self.question.sharder.decoded(0.0, hint, self.root.timed.allowed) for hint in self.hints)

    def closed(self, cutoff: float) -> bool:
        """Whether the bound is enough, or as sharp as it gets."""
        return not self.question.exact or super().closed(cutoff)

    def sharpen(
        self, *, enough: float, deadline: float, counts: SearchCounts, fits: Callable[[Sharding], bool]
    ) -> None:
        """Look at shardings until the bound is enough."""
        self.counts = counts
        while not self.closed(enough) and perf_counter() < deadline:
            self.advance(cutoff=enough, deadline=deadline, fits=fits)
