"""What a search for mappings answers: a plan for the whole machine, why it takes as long, and how sure that is."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal

from volvelle.estimators.dataflow.on_chip import FusionProblem
from volvelle.estimators.dataflow.partition_time import FusionTime, PartitionTime
from volvelle.estimators.result import Estimate, MemoryPart, Violation
from volvelle.mapping.fusion import Fusion
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.mapping.sharding import ShardedBlock
from volvelle.search.certificate import Certificate, SearchCounts
from volvelle.workload.graph import Workload
from volvelle.workload.tensor_layout import TensorLayout
from volvelle.workload.training import TrainingStep

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


@dataclass(frozen=True, kw_only=True)
class MappedBlock:
    """One block: how its operations are split over chips."""

    sharded: ShardedBlock
    tile: int | None = None
    """Points of the streamed dimension in a tile; None: the graph does not stream."""
    partitions: tuple[PartitionTime, ...] = ()
    """Kernels that run together, in the order they run; none where kernels run one by one."""

    @property
    def name(self) -> str:
        """Of the block."""
        return self.sharded.block.name

    @property
    def repeat(self) -> int:
        """Copies of it, one after another."""
        return self.sharded.block.repeat


@dataclass(frozen=True, kw_only=True)
class FusedBlock(MappedBlock):
    """One whose operations are fused on each chip as well."""

    fusion: Fusion
    timing: FusionTime
    """Of one copy and one micro-batch: compute, memory and network of every partition."""
    problem: FusionProblem
    """The kernels and tensors of one chip that `fusion` fuses."""
    weights: float
    """Bytes of weights of one copy on one chip."""
    saved: float
    """Bytes that the forward pass of one copy keeps for the backward pass, on one chip, for one micro-batch."""
    gradients_of: Mapping[str, float]
    """Kernel → seconds of its network time that exchange gradients between replicas, a micro-batch's share."""


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


@dataclass(frozen=True, kw_only=True, repr=False)
class MappedPlan(Estimate[TrainingStep | Workload, ParallelMapping | None]):
    """A mapping of a graph to a machine, timed."""

    degrees: Degrees
    blocks: tuple[MappedBlock, ...]
    micro_batches: int
    """Of one replica, in a step."""
    boundary: TensorLayout | None = None
    """Of activations handed from block to block, over the chips of a tensor group."""
    stages: tuple[Stage, ...] = ()
    """Of fused blocks."""
    limits: tuple[Limit, ...] = ()
    """What binds fused blocks, dearest first."""

    @property
    def mapping(self) -> ParallelMapping | None:
        """Degrees, choices and splits where kernels run one by one, as `estimate` has it."""
        return self.decision

    @property
    def fused(self) -> tuple[FusedBlock, ...]:
        """The blocks whose kernels run together; none where they run one by one."""
        return tuple(block for block in self.blocks if isinstance(block, FusedBlock))

    @property
    def slowest(self) -> float:
        """Seconds a micro-batch takes the slowest stage."""
        return max(stage.time for stage in self.stages)

    @property
    def throughput(self) -> float:
        """Micro-batches a second, of all replicas."""
        return self.micro_batches * self.degrees.data / self.time

    @property
    def binding(self) -> str:
        """The limit that costs most."""
        return self.limits[0].name if self.limits else "compute"


@dataclass(frozen=True, kw_only=True)
class MappingAnswer(Certificate):
    """The best mapping of a workload to a machine."""

    workload: str
    cluster: str
    chips: int
    plan: MappedPlan | None
    """None: nothing fits, or nothing was found in time."""
    seconds: float
    """The search took."""
    counts: SearchCounts
    violations: tuple[Violation, ...]
    """Why nothing fits, with cures; none where something does."""

    @property
    def time(self) -> float:
        """Seconds a step; infinite without a plan."""
        return self.plan.time if self.plan is not None else inf
