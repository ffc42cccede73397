"""What the joint search answers: a plan for the whole machine, why it takes as long, and how good it is known to be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from volvelle.estimators.dataflow.on_chip import FusionProblem
from volvelle.estimators.dataflow.partition_time import FusionTime, PartitionTime
from volvelle.estimators.result import Contribution, MemoryPart
from volvelle.mapping.fusion import Fusion
from volvelle.mapping.sharding import ShardedBlock
from volvelle.search.certificate import MappingAnswer
from volvelle.workload.tensor_layout import TensorLayout

Axis = Literal["tensor", "pipeline", "data"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Chips that work together along one axis."""

    axis: Axis
    degree: int
    stride: int
    """Every so many-th chip belongs to it, chips being numbered along the innermost network dimension first."""
    spans: tuple[tuple[str, int], ...]
    """Network dimension → members along it, innermost first; those with one member left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Degrees:
    """Over how many chips what is split, and which network each group has."""

    groups: tuple[Group, ...]
    """Innermost first."""

    def group(self, axis: Axis) -> Group:
        """The group of an axis."""
        return next(group for group in self.groups if group.axis == axis)

    @property
    def tensor(self) -> int:
        """Chips that share every operation of a layer."""
        return self.group("tensor").degree

    @property
    def pipeline(self) -> int:
        """Stages."""
        return self.group("pipeline").degree

    @property
    def data(self) -> int:
        """Replicas, each with its own micro-batches."""
        return self.group("data").degree

    @property
    def chips(self) -> int:
        """In all."""
        return self.tensor * self.pipeline * self.data

    def __str__(self) -> str:
        return f"tensor {self.tensor} × pipeline {self.pipeline} × data {self.data}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedBlock:
    """One block: how its operations are split over chips, and fused on each chip."""

    sharded: ShardedBlock
    fusion: Fusion
    timing: FusionTime
    """Of one copy and one micro-batch: compute, memory and network of every partition."""
    problem: FusionProblem
    """The kernels and tensors of one chip that `fusion` fuses."""
    tile: int | None
    """Points of the streamed dimension in a tile; None: the graph does not stream."""
    weights: float
    """Bytes of weights of one copy on one chip."""
    saved: float
    """Bytes that the forward pass of one copy keeps for the backward pass, on one chip, for one micro-batch."""
    gradients_of: Mapping[str, float] = field(default_factory=dict)
    """Kernel → seconds of its network time that exchange gradients between replicas, a micro-batch's share."""

    @property
    def gradients(self) -> float:
        """Seconds of `timing`'s network that exchange gradients of weights between replicas, for one micro-batch."""
        return sum(self.gradients_of.values())

    @property
    def partitions(self) -> tuple[PartitionTime, ...]:
        """Kernels that run together, in the order they run."""
        return self.timing.partitions

    @property
    def name(self) -> str:
        """Of the block."""
        return self.sharded.block.name

    @property
    def repeat(self) -> int:
        """Copies of it, one after another."""
        return self.sharded.block.repeat


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePiece:
    """Consecutive copies of a block on a stage; all their partitions, or some of those of a single copy."""

    block: str
    first: int
    """The first copy, counted from 0."""
    copies: int
    partitions: tuple[int, ...] | None = None
    """Which partitions of the fusion, counted from 0; None: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What one stage of the pipeline does with every micro-batch."""

    pieces: tuple[StagePiece, ...]
    time: float
    """Seconds a micro-batch, with the hand-over."""
    hand_over: float
    """Seconds of that to receive what crosses from the stage before (and, with a backward pass, from the one after)."""
    memory: tuple[MemoryPart, ...] = ()
    """What its DRAM holds at the fullest moment."""

    @property
    def memory_bytes(self) -> float:
        """Bytes of DRAM at the fullest moment."""
        return sum(part.bytes for part in self.memory)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How much of the step one limit of the machine costs, all else being as planned."""

    name: Literal["compute", "DRAM rate", "network", "SRAM", "DRAM capacity", "pipeline"]
    gain: float
    """Seconds a step that would be saved without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPlan:
    """A mapping of a graph to a machine, timed."""

    degrees: Degrees
    boundary: TensorLayout
    """Of activations handed from block to block, over the chips of a tensor group."""
    blocks: tuple[MappedBlock, ...]
    stages: tuple[Stage, ...]
    micro_batches: int
    """Of one replica, in a step."""
    contributions: tuple[Contribution, ...]
    """Where the step's time goes; the exposed ones add up to it."""
    limits: tuple[Limit, ...]
    """What binds, dearest first."""
    capacity: float
    """Bytes of DRAM a chip has."""
    work: float
    """FLOP of a step on the matrix and vector units of all chips, each counted once however often it is done."""
    peak: float
    """FLOP/s of one chip."""

    @property
    def time(self) -> float:
        """Seconds a step."""
        return sum(part.time for part in self.contributions if part.exposed)

    @property
    def slowest(self) -> float:
        """Seconds a micro-batch takes the slowest stage."""
        return max(stage.time for stage in self.stages)

    @property
    def throughput(self) -> float:
        """Micro-batches a second, of all replicas."""
        return self.micro_batches * self.degrees.data / self.time

    @property
    def utilisation(self) -> float:
        """Share of all chips' peak that does work that counts."""
        return self.work / (self.time * self.degrees.chips * self.peak)

    @property
    def binding(self) -> str:
        """The limit that costs most."""
        return self.limits[0].name if self.limits else "compute"

    @property
    def memory_bytes(self) -> float:
        """Bytes of DRAM of the fullest stage."""
        return max(stage.memory_bytes for stage in self.stages)

    def block(self, name: str) -> MappedBlock:
        """The block of that name."""
        return next(block for block in self.blocks if block.name == name)

    def parts(self) -> dict[str, float]:
        """Exposed seconds by part, largest first."""
        found: dict[str, float] = {}
        for part in self.contributions:
            if part.exposed:
                found[part.part] = found.get(part.part, 0.0) + part.time
        return dict(sorted(found.items(), key=lambda item: -item[1]))


GraphMapping = MappingAnswer[GraphPlan]
"""The best plan found, and how good it is known to be."""
