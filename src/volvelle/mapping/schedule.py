"""Pipeline schedules as values: in which order every stage works on which micro-batch. They know no time.

An order is written down once here and read by all that follow it: a replay, a picture, a count of what is in memory.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from volvelle.errors import MappingError
from volvelle.mapping.parallelism import Schedule


class Work(IntEnum):
    """What a stage does with a micro-batch at a time."""

    FORWARD = 0
    BACKWARD = 1
    """Gradients of inputs and of weights."""
    INPUT_GRADIENTS = 2
    WEIGHT_GRADIENTS = 3

    @property
    def word(self) -> str:
        """As people read it."""
        return self.name.lower().replace("_", " ")


class Slot(NamedTuple):
    """One piece of a stage works on one micro-batch."""

    work: Work
    piece: int
    micro_batch: int
    paired: bool = False
    """Runs together with the slot before it: the two wait for each other, and end as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineOrder:
    """The slots of every stage, first to last."""

    schedule: Schedule
    pieces: int
    """Of every stage: of an interleaved pipeline, or one for each end of DualPipe."""
    micro_batches: int
    slots: tuple[tuple[Slot, ...], ...]

    @property
    def stages(self) -> int:
        """How many there are."""
        return len(self.slots)

    @property
    def positions(self) -> int:
        """Parts that the model is cut into, one behind the other."""
        return self.stages if self.schedule is Schedule.DUAL_PIPE else self.stages * self.pieces

    def position(self, stage: int, piece: int) -> int:
        """Which part of the model a piece of a stage holds."""
        if self.schedule is Schedule.DUAL_PIPE:
            return stage if piece == 0 else self.stages - 1 - stage
        return piece * self.stages + stage

    def place(self, position: int, piece: int) -> tuple[int, int]:
        """The stage and piece that hold a part of the model; of DualPipe, where micro-batches of that piece meet it."""
        if self.schedule is Schedule.DUAL_PIPE:
            return (position if piece == 0 else self.stages - 1 - position), piece
        piece, stage = divmod(position, self.stages)
        return stage, piece

    def in_flight(self, stage: int) -> float:
        """Micro-batches whose activations a stage holds at most, a piece of several counted as its share of a stage.

        Held from the forward pass to the last of the gradients. A pair holds both of its micro-batches.
        """
        share = 1 if self.schedule is Schedule.DUAL_PIPE else self.pieces
        held = most = 0
        done = 0
        for slot in self.slots[stage]:
            held -= 0 if slot.paired else done
            done = 0 if not slot.paired else done
            held += slot.work is Work.FORWARD
            most = max(most, held)
            done += slot.work in (Work.BACKWARD, Work.WEIGHT_GRADIENTS)
        return most / share


def pipeline_order(
    schedule: Schedule, *, stages: int, micro_batches: int, interleave: int = 1, backward: bool = True
) -> PipelineOrder:
    """The order of a schedule; with `backward` false that of a forward pass alone."""
    _check(schedule, stages, micro_batches, interleave)
    pieces = 2 if schedule is Schedule.DUAL_PIPE else interleave

    def of(stage: int) -> Sequence[Slot]:
        if schedule is Schedule.DUAL_PIPE:
            return list(_dual_pipe(stage, stages, micro_batches))
        if schedule is Schedule.GPIPE:
            return [Slot(work, 0, batch) for work in (Work.FORWARD, Work.BACKWARD) for batch in range(micro_batches)]
        if schedule is Schedule.ZERO_BUBBLE:
            return list(_zero_bubble(stage, stages, micro_batches))
        return list(_one_forward_one_backward(stage, stages, micro_batches, interleave))

    slots = tuple(tuple(of(stage)) for stage in range(stages))
    if not backward:
        slots = tuple(
            tuple(slot._replace(paired=False) for slot in some if slot.work is Work.FORWARD) for some in slots
        )
    return PipelineOrder(schedule=schedule, pieces=pieces, micro_batches=micro_batches, slots=slots)


def order_problem(schedule: Schedule, *, stages: int, micro_batches: float, interleave: int) -> str | None:
    """Why a schedule has no order for so many stages, pieces and micro-batches; None: it has one."""
    if micro_batches != int(micro_batches) or micro_batches < 1:
        return f"{micro_batches:g} micro-batches cannot be put in an order; a step has a whole number of them"
    if interleave > 1 and schedule is not Schedule.ONE_FORWARD_ONE_BACKWARD:
        return f"the {schedule.word} schedule is not defined for stages in {interleave} pieces"
    if interleave > 1 and micro_batches % stages:
        return f"{micro_batches:g} micro-batches are not a multiple of {stages} stages, as interleaved pieces need"
    if schedule is Schedule.DUAL_PIPE and (stages % 2 or micro_batches % 2 or micro_batches < 2 * stages):
        return (
            f"the {schedule.word} schedule needs an even number of stages and of micro-batches, at least two "
            f"micro-batches a stage, not {stages} stages and {micro_batches:g} micro-batches"
        )
    return None


def _check(schedule: Schedule, stages: int, micro_batches: int, interleave: int) -> None:
    if stages < 1 or interleave < 1:
        raise MappingError(f"a pipeline of {stages} stages in {interleave} pieces has no order; give at least one each")
    problem = order_problem(schedule, stages=stages, micro_batches=micro_batches, interleave=interleave)
    if problem is not None:
        raise MappingError(f"{problem}; choose other numbers, or another schedule")


def _one_forward_one_backward(stage: int, stages: int, micro_batches: int, pieces: int) -> Iterator[Slot]:
    """One forward, one backward; in pieces as Megatron runs them (Narayanan et al. 2021, figure 4)."""
    count = micro_batches * pieces
    ahead = stages - stage - 1
    if pieces > 1:
        ahead = 2 * ahead + (pieces - 1) * stages

    def slot(work: Work, place: int) -> Slot:
        turn, within = divmod(place, stages * pieces)
        piece, batch = divmod(within, stages)
        return Slot(work, piece if work is Work.FORWARD else pieces - 1 - piece, turn * stages + batch)

    def plain(work: Work, place: int) -> Slot:
        return Slot(work, 0, place)

    make = slot if pieces > 1 else plain
    warm = min(ahead, count)
    for place in range(warm):
        yield make(Work.FORWARD, place)
    for place in range(count - warm):
        yield make(Work.FORWARD, warm + place)
        yield make(Work.BACKWARD, place)
    for place in range(count - warm, count):
        yield make(Work.BACKWARD, place)


def _zero_bubble(stage: int, stages: int, micro_batches: int) -> Iterator[Slot]:
    """ZB-H1: as 1F1B, weight gradients `stage` micro-batches later (Qi et al. 2024, figure 3)."""
    for slot in _one_forward_one_backward(stage, stages, micro_batches, 1):
        if slot.work is Work.FORWARD:
            yield slot
            continue
        yield slot._replace(work=Work.INPUT_GRADIENTS)
        if slot.micro_batch >= stage:
            yield Slot(Work.WEIGHT_GRADIENTS, 0, slot.micro_batch - stage)
    for batch in range(max(micro_batches - stage, 0), micro_batches):
        yield Slot(Work.WEIGHT_GRADIENTS, 0, batch)


class _BothEnds:
    """One stage of DualPipe: takes micro-batches of either direction in turn, and keeps weight gradients for later.

    Direction 0 is that of the end which is nearer.
    """

    def __init__(self, stage: int, stages: int, micro_batches: int) -> None:
        self.swapped = stage >= stages // 2
        self.half = micro_batches // 2
        self.taken = {Work.FORWARD: [0, 0], Work.BACKWARD: [0, 0]}
        self.later: deque[Slot] = deque()

    def take(self, work: Work, direction: int, *, paired: bool = False) -> Slot:
        """The next micro-batch of a direction."""
        turns = self.taken[Work.FORWARD if work is Work.FORWARD else Work.BACKWARD]
        piece = 1 - direction if self.swapped else direction
        found = Slot(work, piece, piece * self.half + turns[direction], paired)
        turns[direction] += 1
        if work is Work.INPUT_GRADIENTS:
            self.later.append(found)
        return found

    def both(self, forward: int, backward: int) -> Iterator[Slot]:
        """A forward of one direction beside a backward of the other."""
        yield self.take(Work.FORWARD, forward)
        yield self.take(Work.BACKWARD, backward, paired=True)

    def weights(self) -> Slot:
        """The oldest weight gradients that were left."""
        return self.later.popleft()._replace(work=Work.WEIGHT_GRADIENTS)


def _dual_pipe(stage: int, stages: int, micro_batches: int) -> Iterator[Slot]:
    """Micro-batches from both ends (DeepSeek-V3, 2024, figure 5; steps as in github.com/deepseek-ai/DualPipe)."""
    end = _BothEnds(stage, stages, micro_batches)
    half, from_end = stages // 2, min(stage, stages - 1 - stage)
    inner = half - from_end - 1
    for _ in range(2 * inner):
        yield end.take(Work.FORWARD, 0)
    for _ in range(from_end + 1):
        yield end.take(Work.FORWARD, 0)
        yield end.take(Work.FORWARD, 1)
    for _ in range(inner):
        yield end.take(Work.INPUT_GRADIENTS, 1)
        yield end.weights()
        yield end.take(Work.FORWARD, 1)
    for turn in range(micro_batches // 2 - stages + from_end + 1):
        if turn == 0 and inner == 0:  # the two in the middle would wait for each other
            yield end.take(Work.FORWARD, 0)
            yield end.take(Work.BACKWARD, 1)
        else:
            yield from end.both(0, 1)
        yield from end.both(1, 0)
    for _ in range(inner):
        yield end.take(Work.BACKWARD, 1)
        yield from end.both(1, 0)
    for turn in range(2 * (from_end + 1)):  # weight gradients of the later half wait
        yield end.take(Work.BACKWARD if turn < from_end + 1 else Work.INPUT_GRADIENTS, 1 - turn % 2)
    for _ in range(inner):
        yield end.weights()
        yield end.take(Work.INPUT_GRADIENTS, 0)
    while end.later:
        yield end.weights()
