"""Seconds in which the host prepares what a block runs on the chip."""

from dataclasses import dataclass

import numpy as np

from volvelle.estimators.rates import SustainedRates
from volvelle.mapping.lowered_block import LoweredBlock
from volvelle.mapping.parallelism import Graphs, MappingTable
from volvelle.quantities import Number, Seconds, is_plainly
from volvelle.workload.operations import Phase

_RECORDED_BY = {"routing": Graphs.ROUTER, "experts": Graphs.WHOLE}
"""Part of a block → the least graph that its kernels are in; of other parts that of attention."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTimes:
    """Of a kernel, and of bringing tokens to experts piece by piece."""

    kernel: Seconds
    routing: Seconds
    graphs: Number
    """Which kernels are started together, and cost the host nothing: a number of `Graphs`."""

    @classmethod
    def of(cls, machine: SustainedRates, table: MappingTable) -> "HostTimes | None":
        """Those of a machine; None: its host keeps up with everything."""
        each = machine.host_dispatch_time
        if is_plainly(each, 0.0):
            return None
        # The host sorts and counts tokens for plain all-to-alls, and deals out pieces of two micro-batches.
        pieces = (table.hierarchical_dispatch == 0.0) | (table.expert_overlap > 0.0)
        return cls(
            kernel=each,
            routing=each * machine.routing_dispatch * np.where(pieces, 1.0, 0.0),
            graphs=table.graphs if np.any(table.graphs > Graphs.NONE) else 0.0,
        )

    def prepares(self, plan: LoweredBlock, phase: Phase) -> Seconds:
        """What runs in one phase."""
        found: Number = 0.0
        counts = dict.fromkeys((Graphs.ROUTER, Graphs.ATTENTION, Graphs.WHOLE), 0)
        for kernel in plan.kernels:
            if kernel.phase is phase:
                counts[_RECORDED_BY.get(kernel.part, Graphs.ATTENTION)] += 1
        if counts[Graphs.WHOLE]:
            found = found + self.routing
        found = found * self._outside(Graphs.WHOLE)
        for graph, count in counts.items():
            if count:
                found = found + float(count) * self.kernel * self._outside(graph)
        return found

    def _outside(self, graph: Graphs) -> Number:
        """1 where what this graph records is started piece by piece, else 0."""
        return 1.0 if is_plainly(self.graphs, 0.0) else np.where(self.graphs < graph, 1.0, 0.0)
