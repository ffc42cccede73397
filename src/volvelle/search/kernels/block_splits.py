"""Splits of one block's operations from the least bound on, every fused region splitting one dimension."""

import heapq
from collections.abc import Iterator
from itertools import count, product

from volvelle.errors import MappingError
from volvelle.search.graph.sharding import Sharder
from volvelle.search.kernels.split_times import SplitTimes
from volvelle.workload.tensor_layout import TensorLayout

Split = tuple[float, dict[str, str | None]]
_Stream = Iterator[Split]


class BlockSplits:
    """Splits of a block in order, made as they are asked for.

    The layout between blocks is given; a fused region splits one of its dimensions, and for each choice of these the
    splits of all other operations are a stream in order, opened when its bound comes up.
    """

    def __init__(self, sharder: Sharder, times: SplitTimes, boundary: TensorLayout) -> None:
        self._sharder, self._times, self._boundary = sharder, times, boundary
        self._made: list[Split] = []
        regions = list(times.regions)
        options = [[dim for dim in times.region_dims(region) if sharder.able(dim, times.degree)] for region in regions]
        self._numbers = count()
        self._heap: list[tuple[float, int, Split | None, _Stream]] = []
        for chosen in product(*options):
            pinned = {op.name: dim for region, dim in zip(regions, chosen, strict=True) for op in times.regions[region]}
            least = times.least(pinned, lambda dim: sharder.able(dim, times.degree))
            heapq.heappush(self._heap, (least, next(self._numbers), None, self._stream(pinned)))

    def at(self, number: int) -> Split | None:
        """The split of that number, counted from the best; None after the last."""
        while len(self._made) <= number:
            if not self._heap:
                return None
            _, _, split, stream = heapq.heappop(self._heap)
            if split is not None:
                self._made.append(split)
            following = next(stream, None)
            if following is not None:
                heapq.heappush(self._heap, (following[0], next(self._numbers), following, stream))
        return self._made[number]

    def _stream(self, pinned: dict[str, str | None]) -> _Stream:
        sharder, times = self._sharder, self._times
        tables = sharder.tables
        if any(dim not in tables.options[tables.number[name]] for name, dim in pinned.items()):
            return
        leaders = {op.name for op in times.block.operations if not op.of and op.name in tables.names}
        try:
            timed = sharder.timed(times.degree, times.costs(), splits=pinned, boundary=self._boundary)
            for sharding in sharder.in_order(timed):
                dims = {name: dim for name, dim in sharding.sharded.dims.items() if name in leaders}
                yield sharding.cost + times.fixed, dims
        except MappingError:
            return
