"""What every way to split an operation takes, kernel by kernel: the closed form's own times, one operation at a time.

Added up with the collectives that a choice of splits implies, they are a bound from below on the closed form's time of
a block, and equal to it where nothing else is exposed: what gathers repeated in the backward pass cannot hide, the host
falling behind, and gradients come on top.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from math import inf

import numpy as np

from volvelle.estimators.collectives import NESTED
from volvelle.estimators.kernels import KernelTimes, Sizes
from volvelle.estimators.rates import SustainedRates
from volvelle.mapping.actions import Kernel
from volvelle.mapping.axes import EXPERT, TENSOR
from volvelle.mapping.axis_shardings import axis_shardings
from volvelle.mapping.lowering import BlockLowering
from volvelle.mapping.parallelism import MappingTable, ParallelMapping, Recompute
from volvelle.mapping.sharding import ShardedBlock
from volvelle.search.graph.memory import OwnBytes
from volvelle.search.graph.sharding_times import ShardingTimes
from volvelle.search.kernels.least_memory import any_layout
from volvelle.workload.graph import Block, Workload
from volvelle.workload.operations import Operation, Phase
from volvelle.workload.tensor_layout import Collective


class SplitTimes:
    """A block over the tensor-parallel chips of one mapping, any split of its operations."""

    def __init__(
        self,
        workload: Workload,
        block: Block,
        mapping: ParallelMapping,
        machine: SustainedRates,
        *,
        state: float,
        room: float,
        deadline: float,
    ) -> None:
        """With `state` the bytes that each parameter takes at least, of the `room` that a chip has."""
        self.block, self.mapping, self.machine = block, mapping, machine
        self.state, self.room, self.deadline = state / mapping.expert, room, deadline
        self._own = OwnBytes(block, workload.sizes, mapping.tensor).table if room < inf else {}
        self.degree = mapping.tensor
        structure = mapping.structure
        shardings = axis_shardings(workload, block, structure)
        self._dims: dict[str, str | None] = {}
        # Of tensors at the ends of a fused region any layout is possible, so each counts as split.
        free = any_layout(block, self._dims)
        self._lowering = BlockLowering(workload.sizes, block, shardings | {TENSOR: free}, structure)
        table = MappingTable.of([mapping])
        self._sizes = Sizes(table)
        self._times = KernelTimes(self._sizes, machine, alone=False)
        self._tiers = machine.tiers(table.tensor, 1.0)
        self._beside = min(1.0, float(np.max(machine.communication_sm_share)))
        exposed = float(np.max(machine.tensor_exposure))
        self._waited = exposed + (1.0 - exposed) * self._beside
        """Share of a collective's time that it costs; and of one beside work."""
        self.fixed = self._expert_time(shardings[EXPERT])
        """Seconds that no choice of splits avoids: tokens sent to experts and back, each chip its share."""
        self._known: dict[tuple[str, str | None], float] = {}

    def costs(self) -> ShardingTimes:
        """Work and collectives, for the search over splits."""
        return ShardingTimes(
            work=self.work,
            exchange=self.exchange,
            micro_batches=inf,
            repeated=self._beside / self._waited,
            held=self.held if self.room < inf else None,
            room=self.room,
            deadline=self.deadline,
        )

    def held(self, op: Operation, dim: str | None) -> float:
        """Bytes at least of the weights that an operation is the first to read."""
        return self.state * self._own[op.name][dim][0]

    @cached_property
    def regions(self) -> Mapping[str, tuple[Operation, ...]]:
        """Fused region → its forward operations, which all split the same dimension."""
        found: dict[str, list[Operation]] = {}
        for op in self._lowering.forward:
            if op.region in self._lowering.fused_regions:
                found.setdefault(op.region, []).append(op)
        return {name: tuple(ops) for name, ops in found.items()}

    def region_dims(self, region: str) -> list[str | None]:
        """Dimensions that every operation of a fused region can split."""
        offered = [{choice.dim for choice in op.kind.choices()} for op in self.regions[region]]
        return [
            dim
            for dim in dict.fromkeys(choice.dim for choice in self.regions[region][0].kind.choices())
            if all(dim in one for one in offered)
        ]

    def work(self, op: Operation, dim: str | None) -> float:
        """Seconds of an operation's kernels in all passes, if it splits that dimension."""
        key = (op.name, dim)
        if key not in self._known:
            self._known[key] = self._work(op, dim)
        return self._known[key]

    def least(self, pinned: Mapping[str, str | None], able: Callable[[str | None], bool]) -> float:
        """Seconds that the block takes at least: the fastest split of every operation by itself, no collectives."""
        total = self.fixed
        for op in self.block.operations:
            leader = op.of or op.name
            offered = [choice.dim for choice in op.kind.choices()]
            if op.region in self.regions:
                offered = self.region_dims(op.region)
            dims = dict.fromkeys(dim for dim in offered if able(dim))
            total += self.work(op, pinned[leader]) if leader in pinned else min(self.work(op, dim) for dim in dims)
        return total

    def exchange(self, collective: Collective, size: float) -> float:
        """Seconds of a collective over the tensor-parallel chips, by the bytes of the whole tensor."""
        if self.degree == 1:
            return 0.0
        own = size / self.degree if collective is Collective.ALL_TO_ALL else size
        return float(np.max(NESTED[collective](own, self._tiers))) * self._waited

    def _work(self, op: Operation, dim: str | None) -> float:
        lowering = self._lowering
        if op.region in lowering.fused_regions:
            return self._region_work(op, dim)
        if op.fused:
            return 0.0
        self._dims[op.name] = dim
        return self._seconds(lowering.kernel(op, op.phase)) * self._passes(op)

    def _region_work(self, op: Operation, dim: str | None) -> float:
        """All of a fused region's kernels count with its first operation, none with the others."""
        lowering = self._lowering
        operations = lowering.forward if op.phase is Phase.FORWARD else lowering.backward
        inside = [one for one in operations if one.region == op.region]
        if op.name != inside[0].name:
            return 0.0
        for one in (*lowering.forward, *lowering.backward):
            if one.region == op.region:
                self._dims[one.name] = dim
        return self._seconds(lowering.fused(op.region, operations, op.phase)) * self._passes(op)

    def _passes(self, op: Operation) -> float:
        """How often it runs: again in the backward pass where that is recomputed."""
        return 2.0 if op in self._lowering.recomputed else 1.0

    def _seconds(self, kernel: Kernel) -> float:
        return float(np.max(self._times.time_of(kernel).time))

    def _expert_time(self, sharded: ShardedBlock) -> float:
        if self.mapping.expert == 1:
            return 0.0
        tiers = self.machine.tiers(float(self.mapping.expert), float(self.mapping.tensor))
        again = 2.0 if self.mapping.recompute is Recompute.FULL and self.block.repeat > 1 else 1.0
        found = 0.0
        for one in sharded.conversions:
            if not one.of_weight:
                size = self._sizes(self._lowering.exchange(EXPERT, one).size)
                passes = again if one.phase is Phase.FORWARD else 1.0
                found += passes * float(np.max(NESTED[one.collective](size, tiers)))
        return found
