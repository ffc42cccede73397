"""What a choice of splits costs: the work of every operation, every conversion, and what a chip must hold."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from volvelle.estimators.dataflow.chip_graph import Exchange
from volvelle.estimators.dataflow.on_chip import Overlap
from volvelle.workload.operations import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardingTimes:
    """What a choice of splits costs."""

    work: Callable[[Operation, str | None], float]
    """Seconds of an operation on one chip, if it splits that dimension."""
    exchange: Exchange
    """Over the group."""
    memory: Callable[[Operation, str | None], float] | None = None
    """Seconds of DRAM traffic that an operation causes however it is fused, such as that of its weights."""
    moved: Callable[[Operation, str, str | None], float] | None = None
    """Seconds of DRAM traffic of one end of a tensor that an operation reads from another partition."""
    needs: Callable[[Operation, str | None], float] | None = None
    """Bytes of SRAM that an operation adds at least to those of a partition."""
    sram: float = inf
    sided: bool = False
    """The forward and the backward pass share no partition: each is bounded by itself."""
    replicas: Exchange | None = None
    """Over copies of the group, for gradients of weights: seconds a micro-batch."""
    micro_batches: float = 1.0
    """In a step; gradients of weights change their layout once."""
    repeated: float = 1.0
    """Share of a gather that the backward pass repeats which counts: all of it, or what running beside work costs."""
    alone: Callable[[Operation, str | None], float | None] | None = None
    """Seconds of compute and memory of an operation that can share the chip with no other; None: it may share."""
    overlap: Overlap = Overlap.NONE
    """What of work, memory and network runs at once."""
    held: Callable[[Operation, str | None], float] | None = None
    """Bytes that an operation makes a chip hold; infinite where that cannot be."""
    room: float = inf
    """Bytes that a chip may hold."""
    deadline: float = inf
    """By `time.perf_counter`: when to give up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What of the costs counts."""

    shares: tuple[tuple[float, float, float], ...] = ((1.0, 0.0, 1.0),)
    """Of work, memory and network, for every slot or the same for all: shares that add up to one bound from below what
    overlaps."""
    rent: float = 0.0
    """Seconds for every byte held beyond the room, paid back for every byte left: what does not fit costs more than it
    takes, what fits never more (a Lagrange multiplier)."""
