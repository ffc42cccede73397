"""From solved blocks to stages: the chain of their partitions, where it is cut, and what each stage holds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from volvelle.estimators.dataflow.partition_time import FusionTime, fusion_time
from volvelle.estimators.result import MemoryPart
from volvelle.estimators.training.stage_memory import MEMORY_PARTS, MemoryRecipe, activation_parts, state_bytes
from volvelle.laws.pipeline import micro_batches_in_flight
from volvelle.search.graph.answer import Degrees, Stage, StagePiece
from volvelle.search.graph.block_search import Solved
from volvelle.search.graph.memory import BlockMemory, block_memory
from volvelle.search.graph.network import Network
from volvelle.search.graph.stages import (
    ChainCut,
    Crossing,
    crossing_bytes,
    cut_chain,
    described,
    handed_bytes,
    segments,
)
from volvelle.workload.graph import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedDegrees:
    """What is the same for every sharding of one way to give chips to axes."""

    workload: Workload
    degrees: Degrees
    network: Network
    micro_batches: int
    """Of one replica."""
    recipe: MemoryRecipe
    zero: int
    """Stage of ZeRO: what replicas share out."""
    own_weights: bool
    """Weights take what their elements take, whatever the recipe says: those of a forward pass alone."""
    capacity: float

    def held(self, parameters: float, weights: float, saved: float, *, flight: float, working: float) -> list[float]:
        """Bytes on a chip by part: weights, gradients, optimiser, activations, what is lost around them."""
        states = state_bytes(parameters, self.recipe, sharing=float(self.degrees.data), zero=float(self.zero))
        if self.own_weights:
            states[0] = weights
        activations = activation_parts(saved, self.recipe, layers=1.0, in_flight=flight, working=working)
        return [float(part) for part in (*states, *activations)]

    @property
    def reserved(self) -> float:
        """Bytes that are taken anyhow."""
        return float(self.recipe.reserved)

    def held_by(self, parameters: float, weights: float, saved: float, *, flight: float) -> float:
        """The same in all, without what is held anyhow: what operations add, each by itself."""
        bare = replace(self, recipe=replace(self.recipe, reserved=0.0))
        return sum(bare.held(parameters, weights, saved, flight=flight, working=0.0))

    def hand_over(self, crossing: Crossing) -> float:
        """Seconds to hand over what crosses a cut."""
        group = self.degrees.group("pipeline")
        return self.network.hand_over(group, crossing.forward) + self.network.hand_over(group, crossing.backward)

    def least_hand_over(self, cuts: Sequence[Crossing]) -> float:
        """No cut hands over in less time, however the block is sharded; `cuts` are those of the block unsplit."""
        tensor = self.degrees.tensor
        if self.degrees.pipeline == 1:
            return 0.0
        return min(
            (self.hand_over(Crossing(forward=one.forward / tensor, backward=one.backward / tensor)) for one in cuts),
            default=0.0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    block: int
    copy: int
    partitions: tuple[int, ...]
    time: float


@dataclass(frozen=True, kw_only=True)
class StagedPlan:
    """Solved blocks, one after another, in stages."""

    placed: PlacedDegrees
    solved: tuple[Solved, ...]

    @cached_property
    def times(self) -> tuple[FusionTime, ...]:
        """Of every block."""
        return tuple(fusion_time(one.problem, one.fusion) for one in self.solved)

    @cached_property
    def memories(self) -> tuple[BlockMemory, ...]:
        """Of one copy of every block."""
        sizes, degree = self.placed.workload.sizes, self.placed.degrees.tensor
        return tuple(block_memory(one.sharding.sharded, sizes, degree) for one in self.solved)

    @cached_property
    def _pieces(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        return tuple(segments(one.sharding.sharded.block, one.fusion) for one in self.solved)

    @cached_property
    def items(self) -> tuple[_Item, ...]:
        """The chain that stages are cut from."""
        found = []
        for number, (solved, parts, cost) in enumerate(zip(self.solved, self._pieces, self.times, strict=True)):
            times = _by_partition(solved, cost)
            for copy in range(solved.sharding.sharded.block.repeat):
                found += [
                    _Item(block=number, copy=copy, partitions=part, time=sum(times[place] for place in part))
                    for part in parts
                ]
        return tuple(found)

    @cached_property
    def hand_overs(self) -> tuple[float, ...]:
        """Between items."""
        inside: list[list[float]] = []
        for solved, parts, memory in zip(self.solved, self._pieces, self.memories, strict=True):
            sharded, size = solved.sharding.sharded, memory.size_of
            hands, before = [], list[str]()
            for part in parts[:-1]:
                before += [name for place in part for name in solved.fusion.partitions[place]]
                hands.append(self.placed.hand_over(crossing_bytes(sharded.block, size.__getitem__, before)))
            split, over = solved.sharding.boundary.dim, self.placed.degrees.tensor
            whole = handed_bytes(sharded.block, self.placed.workload.sizes, split=split, over=over)
            inside.append([*hands, self.placed.hand_over(whole)])
        every = [
            hand
            for solved, hands in zip(self.solved, inside, strict=True)
            for _ in range(solved.sharding.sharded.block.repeat)
            for hand in hands
        ]
        return tuple(every[:-1])

    @cached_property
    def cut(self) -> ChainCut:
        """Where the chain is cut."""
        times, stages = [item.time for item in self.items], self.placed.degrees.pipeline
        if stages == 1:
            return cut_chain(times, [0.0] * (len(times) - 1), 1)
        starts = self.solved[0].starts
        if starts is not None:
            return described(times, self.hand_overs, starts, self.solved[0].bound / stages)
        return cut_chain(times, self.hand_overs, stages)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """What each stage does, holds and takes; stages without work are left out."""
        cut, items, found = self.cut, self.items, []
        for number, (start, end) in enumerate(zip(cut.starts, [*cut.starts[1:], len(items)], strict=True)):
            found.append(
                Stage(
                    pieces=tuple(self._stage_pieces(items[start:end])),
                    time=cut.times[number],
                    hand_over=cut.hand_overs[number],
                    memory=self._memory(number, items[start:end]),
                )
            )
        return tuple(found)

    @property
    def time(self) -> float:
        """Seconds a step."""
        return (self.placed.micro_batches + self.placed.degrees.pipeline - 1) * self.cut.slowest

    @property
    def memory_bytes(self) -> float:
        """Bytes of DRAM of the fullest stage."""
        return max(stage.memory_bytes for stage in self.stages)

    def _stage_pieces(self, items: Sequence[_Item]) -> list[StagePiece]:
        found: list[StagePiece] = []
        for (block, copy), group in groupby(items, key=lambda item: (item.block, item.copy)):
            mine = list(group)
            name = self.solved[block].sharding.sharded.block.name
            if len(mine) < len(self._pieces[block]):
                places = tuple(sorted(place for item in mine for place in item.partitions))
                found.append(StagePiece(block=name, first=copy, copies=1, partitions=places))
            elif found and found[-1].block == name and found[-1].partitions is None:
                found[-1] = StagePiece(block=name, first=found[-1].first, copies=found[-1].copies + 1)
            else:
                found.append(StagePiece(block=name, first=copy, copies=1))
        return found

    def _memory(self, stage: int, items: Sequence[_Item]) -> tuple[MemoryPart, ...]:
        placed = self.placed
        flight = float(
            micro_batches_in_flight(
                float(placed.degrees.pipeline),
                stage=float(stage),
                interleave=1.0,
                micro_batches=float(placed.micro_batches),
            )
        )
        by_partition = [memory.parts(one.fusion) for memory, one in zip(self.memories, self.solved, strict=True)]
        places = [by_partition[item.block][place] for item in items for place in item.partitions]
        parameters, weights, saved = (sum(sizes[at] for sizes in places) for at in range(3))
        # What is saved counts there already; what lives between partitions besides is that of the block at work.
        alive = max(
            max(
                0.0,
                self.times[block].dram
                - sum(kernel.weight_bytes for kernel in self.solved[block].problem.kernels)
                - self.memories[block].saved,
            )
            for block in {item.block for item in items}
        )
        held = placed.held(parameters, weights, saved, flight=flight, working=alive)
        return tuple(
            MemoryPart(name=name, bytes=size, law=law)
            for (name, law), size in zip(MEMORY_PARTS, held, strict=True)
            if size
        )


def _by_partition(solved: Solved, cost: FusionTime) -> dict[int, float]:
    """Partition → its time; slots that pins left open have none."""
    used = [place for place, names in enumerate(solved.fusion.partitions) if names]
    return {place: part.time for place, part in zip(used, cost.partitions, strict=True)}
