"""The best split of every operation over one group of chips, proven; and all others in order of cost.

Every operation offers the splits its declaration allows, every conversion between layouts has its time, and the sum is
minimised exactly. Nothing here knows Megatron: its tensor parallelism is what comes out where it is best.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from volvelle.errors import MappingError, UnknownNameError
from volvelle.mapping.sharding import Objective, ShardedBlock, shard
from volvelle.search.graph.sharding_times import ShardingTimes, Weights
from volvelle.search.graph.split_tables import BlockTables, handed_layouts, leader_of
from volvelle.search.graph.timed_splits import TimedSplits
from volvelle.workload.graph import Block, Role
from volvelle.workload.operations import Phase, Unit
from volvelle.workload.tensor_layout import REPLICATED, Collective, TensorLayout

TIES = 2000
"""Shardings of equal bytes among which the one of least work is sought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharding:
    """A split of every operation, and what it costs."""

    sharded: ShardedBlock
    boundary: TensorLayout
    """Of the activations taken from the block before and handed to the one after."""
    cost: float


class Sharder:
    """A block with its tables made once, for any degree, network and objective."""

    def __init__(
        self, block: Block, sizes: Mapping[str, float], *, boundaries: Sequence[TensorLayout] | None = None
    ) -> None:
        self.block, self.sizes = block, sizes
        self.tables = BlockTables(block, sizes, handed_layouts(block) if boundaries is None else boundaries)

    def timed(
        self,
        degree: int,
        costs: ShardingTimes,
        *,
        objective: Objective = "time",
        splits: Mapping[str, str | None] | None = None,
        refused: Sequence[str] = (),
        boundary: TensorLayout | None = None,
    ) -> TimedSplits:
        """The splits that are allowed, with their times."""
        allowed = self._allowed(degree, objective, splits or {}, refused, boundary)
        if objective == "bytes":
            costs = ShardingTimes(work=costs.work, exchange=_sent)
        return TimedSplits(self.tables, degree, costs, allowed)

    def in_order(self, timed: TimedSplits, *, ties: int = 0) -> Iterator[Sharding]:
        """Splits from the cheapest on; with `ties` work counts only among so many that are equally cheap."""
        weights = Weights(shares=((0.0, 0.0, 1.0),)) if ties else Weights()
        held: list[tuple[float, tuple[int, ...]]] = []
        for cost, chosen in timed.eliminated(weights).assignments():
            if held and (cost > held[0][0] * (1.0 + 1e-12) or len(held) > ties):
                yield from self._all_decoded(held, timed, ties)
                held.clear()
            held.append((cost, chosen))
        yield from self._all_decoded(held, timed, ties)

    def _all_decoded(
        self, held: Sequence[tuple[float, tuple[int, ...]]], timed: TimedSplits, ties: int
    ) -> Iterator[Sharding]:
        order = sorted(held, key=lambda one: timed.works(one[1])) if ties else held
        return (self.decoded(cost, chosen, timed.allowed) for cost, chosen in order)

    # -- what may be chosen --------------------------------------------------------------------------------------

    def _allowed(
        self,
        degree: int,
        objective: Objective,
        splits: Mapping[str, str | None],
        refused: Sequence[str],
        boundary: TensorLayout | None,
    ) -> list[list[int]]:
        tables, block = self.tables, self.block
        for name in splits:
            if name not in tables.number or tables.names[tables.number[name]] != name:
                free = [one for one in tables.names if one and leader_of(block.operation_of[one])]
                raise UnknownNameError.among("operation whose split can be chosen", name, free)

        found = []
        for name, options in zip(tables.names, tables.options, strict=True):
            if not name:
                kept = [at for at, one in enumerate(tables.boundaries) if self.able(one.dim or None, degree, refused)]
                if boundary is not None:
                    kept = [at for at, one in enumerate(tables.boundaries) if one == boundary]
                    if not kept:
                        raise MappingError(f"block {block.name!r} cannot take its activations {boundary}")
            elif leader_of(block.operation_of[name]) is None:
                kept = list(range(len(options)))
            elif name in splits:
                kept = [at for at, one in enumerate(options) if one == splits[name]]
                if not kept:
                    known = ", ".join(str(one) for one in options)
                    raise MappingError(
                        f"operation {name!r} is to be split along {splits[name]!r}, but it can along: {known}"
                    )
            else:
                kept = [
                    at
                    for at, one in enumerate(options)
                    if one is None or (isinstance(one, str) and self.able(one, degree, refused))
                ]
                if objective == "bytes" and degree > 1 and self._weighty(name):
                    kept = [at for at in kept if options[at] is not None] or kept
            found.append(kept)
        return found

    def able(self, dim: str | None, degree: int, refused: Sequence[str] = ()) -> bool:
        """Whether a dimension may be split over so many chips; None, not to split, always may."""
        if dim is None:
            return True
        size = self.sizes[dim]
        return degree > 1 and dim not in refused and size >= degree and size % degree == 0

    def _weighty(self, name: str) -> bool:
        op = self.block.operation_of[name]
        return op.phase is Phase.FORWARD and any(
            self.block.tensor_of[one].role is Role.WEIGHT and op.kind.work().unit is Unit.MATRIX for one in op.inputs
        )

    # -- back to a mapping ---------------------------------------------------------------------------------------

    def decoded(self, cost: float, chosen: Sequence[int], allowed: Sequence[Sequence[int]]) -> Sharding:
        """The sharding of these options."""
        boundary, dims = REPLICATED, dict[str, str | None]()
        for number, name in enumerate(self.tables.names):
            option = self.tables.options[number][allowed[number][chosen[number]]]
            if not name:
                assert isinstance(option, TensorLayout)
                boundary = option
            elif leader_of(self.block.operation_of[name]) is not None:
                assert option is None or isinstance(option, str)
                dims[name] = option
        return Sharding(sharded=shard(self.block, dims, boundary=boundary), boundary=boundary, cost=cost)


def _sent(collective: Collective, size: float) -> float:
    """Bytes around a ring, but for the factor (p − 1)/p that all have: an all-reduce scatters and gathers."""
    return (2.0 if collective is Collective.ALL_REDUCE else 1.0) * size
