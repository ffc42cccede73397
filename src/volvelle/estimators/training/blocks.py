"""Times and sizes of a model's blocks under every mapping of a table.

Most choices of a mapping do not reach into a block: replicas, stages, ZeRO and what is off-loaded leave it as it is.
Mappings that are alike to the blocks are timed once, and each row looks its block up.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.kernels import KernelTimes, Sizes
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.training.block_time import BlockTime
from volvelle.estimators.training.host_time import HostTimes
from volvelle.estimators.training.lines import Line
from volvelle.estimators.training.stages import OfBlocks
from volvelle.laws.nested_collectives import Tier, nested_all_gather_time
from volvelle.laws.routing import distinct_share
from volvelle.mapping.axes import CUTTING, EXPERT, TENSOR, Axis, inside, stride
from volvelle.mapping.lowered_block import LoweredBlock
from volvelle.mapping.lowered_model import LoweredModel
from volvelle.mapping.parallelism import MappingTable, Schedule
from volvelle.mapping.symbols import MICRO_BATCH, Term
from volvelle.quantities import Count, Number, Seconds, is_plainly
from volvelle.workload.tensor_layout import Collective

READ = (
    MICRO_BATCH,
    "schedule",
    "hierarchical_dispatch",
    "expert_overlap",
    "graphs",
    "narrow_attention",
    *dict.fromkeys(other.name for axis in CUTTING for other in (axis, *inside(axis))),
)
"""The choices that a block's time and sizes depend on, beside those that shape its structure."""


class Blocks:
    """Every block of a model, timed and measured."""

    def __init__(
        self, model: LoweredModel, machine: SustainedRates, table: MappingTable, *, alone: bool = False
    ) -> None:
        self.model = model
        self._table = table
        self.sizes = Sizes(table)
        self._rows: NDArray[np.intp] | None = None
        kernels = KernelTimes(self.sizes, machine, alone=alone, narrow_attention=table.narrow_attention)
        self.axes = _axes(model.blocks, machine, table)
        """What the groups of each axis have of the network."""
        another = (table.schedule == Schedule.DUAL_PIPE) | (table.expert_overlap > 0)
        beside: Number = np.where(another, 1.0, 0.0) if np.any(another) else 0.0
        works = model.works(casts=machine.cast is not None)
        host = HostTimes.of(machine, table)
        relayed = table.hierarchical_dispatch > 0
        plain: Number = machine.plain_dispatch
        if np.any(relayed) and not is_plainly(plain, 1.0):
            plain = np.where(relayed, 1.0, plain)
        self.times = {
            block.name: BlockTime(
                block,
                kernels.times_of(block.kernels, works[block.name]),
                self.sizes,
                self.axes,
                beside=beside,
                host=host,
                plain_dispatch=plain,
                communication_sm_share=machine.communication_sm_share,
                tensor_exposure=machine.tensor_exposure,
            )
            for block in model.blocks
        }

    @classmethod
    def alike(
        cls, model: LoweredModel, machine: SustainedRates, table: MappingTable, *, most: int, alone: bool = False
    ) -> "Blocks | None":
        """The blocks of a table on one machine, those of its rows that are alike timed once; None if over `most`."""
        few, rows = table.alike(READ)
        if len(few) > most:
            return None
        found = cls(model, machine, few, alone=alone)
        found._rows = rows
        return found

    def take(self, rows: slice) -> "Blocks":
        """The blocks of some of the rows."""
        found = copy(self)
        found._rows = None if self._rows is None else self._rows[rows]
        return found

    def column(self, value: Number) -> Number:
        """A quantity of blocks, for every row."""
        return value if self._rows is None or np.ndim(value) == 0 else np.asarray(value)[self._rows]

    def of(self, quantity: Callable[[BlockTime], Number]) -> dict[str, Number]:
        """A quantity of each block's time."""
        return {name: self.column(quantity(time)) for name, time in self.times.items()}

    def size(self, terms: Callable[[LoweredBlock], Sequence[Term]]) -> dict[str, Number]:
        """A size of each block."""
        return {block.name: self.column(self.sizes.total(terms(block))) for block in self.model.blocks}

    def handed_over(self) -> tuple[Number, Seconds]:
        """What one chip sends to the next stage, and the seconds to gather the whole on arrival.

        Tensor-parallel ranks that hold the same activations send a part each (Narayanan et al. 2021, section 4.1).
        """
        output = self.model.layers[0].output_bytes
        whole = self.sizes.total(output)
        if any(term.power(TENSOR.name) for term in output):
            return self.column(whole), 0.0
        return self.column(whole / self._table.tensor), self.column(nested_all_gather_time(whole, self.axes[TENSOR]))

    def lines(self, counts: OfBlocks) -> dict[Line, Number]:
        """Contributions of all blocks, each run so often."""
        found: dict[Line, Number] = {}
        for name, block in self.times.items():
            for line, time in block.lines().items():
                found[line] = found.get(line, 0.0) + self.column(time) * counts[name]
        return found

    def resources(self) -> dict[Line, str]:
        """What bounds each line of kernels."""
        found: dict[Line, str] = {}
        for block in self.times.values():
            found |= block.resources()
        return found


def expert_stride(table: MappingTable) -> Count:
    """Ranks between two that hold other experts; whole experts are dealt out over the tensor-parallel chips too."""
    between: Count = stride(table, EXPERT if table.expert_tensor_parallel[0] else TENSOR)
    return between


def _axes(blocks: Sequence[LoweredBlock], machine: SustainedRates, table: MappingTable) -> dict[Axis, Sequence[Tier]]:
    """What the groups of each axis have of the network; axes that no row uses are left out."""
    uniform = any(one.collective is Collective.ALL_TO_ALL for block in blocks for one in block.exchanges)
    groups: dict[Axis, Sequence[Tier]] = {}
    for axis in CUTTING:
        degree = getattr(table, axis.name)
        if axis is EXPERT and np.any(degree > 1):
            tiers = machine.tiers(degree, expert_stride(table))
            groups[axis] = _relayed(tiers, table, max(block.copies for block in blocks))
        elif axis is TENSOR or np.any(degree > 1):
            groups[axis] = machine.tiers(degree, stride(table, axis), uniform=uniform)
    return groups


def _relayed(tiers: Sequence[Tier], table: MappingTable, copies: float) -> Sequence[Tier]:
    """The same network where tokens cross to a unit once: all but the innermost dimension carry less."""
    if not np.any(table.hierarchical_dispatch > 0):
        return tiers
    return [
        tier
        if index == 0
        else replace(tier, crossing=np.where(table.hierarchical_dispatch > 0, distinct_share(copies, tier.chips), 1.0))
        for index, tier in enumerate(tiers)
    ]
