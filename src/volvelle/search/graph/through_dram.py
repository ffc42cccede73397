"""Tensors that pass through DRAM however operations are fused, and what that takes at least, option by option."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from volvelle.search.graph.between import Apart, Between, Edge
from volvelle.search.graph.forced_cuts import certain_cuts, forced_cuts
from volvelle.search.graph.sharding_times import ShardingTimes
from volvelle.search.graph.slots import Range
from volvelle.search.graph.split_tables import BlockTables

Table = NDArray[np.float64]
Shared = list[dict[Range, Table]]
"""Of every variable, by the slots an operation may run in: [work, memory; option]."""


@dataclass(frozen=True)
class ThroughDram:
    """What decides it: who is alone, how much SRAM operations need, how long one end of a tensor takes."""

    tables: BlockTables
    between: Between
    sram: float
    alone: Mapping[str, NDArray[np.bool_]]
    """Operation → whether it is alone, by option."""
    needs: Mapping[str, Table]
    """Operation → bytes of SRAM that it adds to a partition, by option."""
    moved: Mapping[Edge, Table]
    """Seconds of one end of a tensor, by the options of its reader."""

    @classmethod
    def of(
        cls,
        tables: BlockTables,
        costs: ShardingTimes,
        dims_of: Mapping[str, Sequence[str | None]],
        alone_of: Mapping[str, Sequence[float | None]],
    ) -> "ThroughDram":
        """As the costs have it."""
        operations, moved, needs = tables.block.operations, costs.moved, costs.needs
        return cls(
            tables,
            tables.between(sided=costs.sided),
            costs.sram,
            {name: np.array([time is not None for time in times]) for name, times in alone_of.items()},
            {op.name: np.array([needs(op, dim) for dim in dims_of[op.name]]) for op in operations} if needs else {},
            {
                (op.name, name): np.array([moved(op, name, dim) for dim in dims_of[op.name]])
                for op in operations
                for name in op.inputs
                if name in tables.maker
            }
            if moved
            else {},
        )

    def restricted(self, operations: Collection[str], option: int) -> "ThroughDram":
        """With one option of some operations only."""
        return ThroughDram(
            self.tables,
            self.between,
            self.sram,
            {name: each[[option]] if name in operations else each for name, each in self.alone.items()},
            {name: each[[option]] if name in operations else each for name, each in self.needs.items()},
            {edge: each[[option]] if edge[0] in operations else each for edge, each in self.moved.items()},
        )

    @cached_property
    def always_alone(self) -> frozenset[str]:
        """Operations that are alone whatever is chosen."""
        return frozenset(name for name, each in self.alone.items() if each.all())

    @cached_property
    def least_needs(self) -> dict[str, float]:
        """Operation → bytes of SRAM at least, of those that are not always alone."""
        return {name: float(each.min()) for name, each in self.needs.items() if name not in self.always_alone}

    @cached_property
    def apart(self) -> Apart:
        """Operations that share no partition whatever is chosen, but for those alone."""
        return self.between.apart(self.least_needs, self.sram)

    def charged(self, own: Shared, slots: Mapping[str, Range]) -> tuple[Shared, dict[Range, float]]:
        """What operations take, with what they pass through DRAM; and what there is whatever is chosen, by slots.

        From one pass to another, beside an operation alone, and because the SRAM is too small. The end of an operation
        alone is in its own time already.
        """
        if not self.moved:
            return own, {}
        tables, alone = self.tables, self.alone
        shared = [{within: table.copy() for within, table in each.items()} for each in own]

        def memory(name: str, within: Range) -> Table:
            """Where DRAM traffic in some slots is counted by the options of an operation."""
            table: Table = shared[tables.number[name]].setdefault(within, np.zeros((2, len(alone[name]))))
            return np.asarray(table[1])

        within_passes = {edge for _, _, edge in self.between.edges}
        certain = certain_cuts(self.between, self.apart)
        for edge, seconds in self.moved.items():
            reader, maker = edge[0], tables.maker[edge[1]].name
            cut = edge not in within_passes or maker in self.always_alone or edge in certain
            paid = seconds * (cut | alone[reader])
            if paid.any():
                memory(reader, slots[reader])[:] += np.where(alone[reader], 0.0, paid)
                if not alone[maker].any():
                    memory(reader, slots[maker])[:] += paid

        def least(edge: Edge) -> float:
            ends = {edge[0], tables.maker[edge[1]].name}
            return 0.0 if ends & self.always_alone or edge in certain else float(self.moved[edge].min())

        base: dict[Range, float] = {}
        for one in forced_cuts(self.between, self.apart, least, slots):
            base[one.within] = base.get(one.within, 0.0) + one.seconds
            for name in one.path:
                if alone[name].any():
                    # Its own end is in its time already: nothing is said of this path then.
                    memory(name, one.within)[:] -= one.seconds * alone[name]
        return shared, base
