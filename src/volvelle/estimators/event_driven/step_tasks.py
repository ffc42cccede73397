"""A training step as a graph of tasks: one rank a pipeline stage, all its streams, every micro-batch.

Ranks that differ only in their tensor, context, data or expert index do the same at the same time, so that one stands
for all of a stage. What a slot does is worked out once for each piece of a stage and repeated for its micro-batches.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.event_driven.block_steps import one
from volvelle.estimators.event_driven.slot_tasks import ARRIVAL, STREAMS, Label, SlotTasks
from volvelle.estimators.event_driven.slot_templates import Kind, Runs, Template, Templates
from volvelle.estimators.event_driven.stretch import AS_PRICED, Stretch
from volvelle.estimators.training.step_time import StepBasis
from volvelle.mapping.lowered_model import LoweredModel
from volvelle.mapping.parallelism import MappingTable, Schedule
from volvelle.mapping.schedule import PipelineOrder, Slot, Work, pipeline_order
from volvelle.simulation.tasks import TaskGraph
from volvelle.workload.training import TrainingStep


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotTable:
    """Slots of a step as columns, those of a pair one by one."""

    stage: NDArray[np.int32]
    work: NDArray[np.int8]
    piece: NDArray[np.int32]
    micro_batch: NDArray[np.int32]
    first: NDArray[np.int32]
    """The task that waits for what the slot is handed."""
    last: NDArray[np.int32]
    """The task after which all of it has ended."""
    sent: NDArray[np.int32]
    """The task that hands it on; -1: nothing does."""
    received: NDArray[np.int32]
    """The task that handed it over; -1: none did."""


@dataclass(frozen=True, kw_only=True)
class StepTasks:
    """The graph of a step, and what its tasks are."""

    order: PipelineOrder
    graph: TaskGraph
    label: NDArray[np.int16]
    """Task → its label."""
    labels: tuple[Label, ...]
    slots: SlotTable
    runs: tuple[Runs, ...]
    """Blocks of every part of the model."""

    @cached_property
    def earlier(self) -> NDArray[np.int32]:
        """The task before each on its stream; -1: there is none."""
        found = np.full(len(self.graph), -1, dtype=np.int32)
        following = self.graph.following
        has_next = following >= 0
        found[following[has_next]] = np.flatnonzero(has_next)
        return found

    def stream(self, stage: int, number: int = 0) -> int:
        """The number of a stage's stream."""
        return stage * len(STREAMS) + number


def step_tasks(
    model: LoweredModel,
    workload: TrainingStep,
    basis: StepBasis,
    table: MappingTable,
    *,
    stretch: Stretch = AS_PRICED,
) -> StepTasks:
    """Of one mapping, which has an order."""
    pipeline, interleave = int(table.pipeline[0]), int(table.interleave[0])
    order = pipeline_order(
        Schedule(int(table.schedule[0])),
        stages=pipeline,
        micro_batches=round(one(basis.micro_batches)),
        interleave=interleave,
        backward=model.trains,
    )
    return _Expansion(Templates(model, workload, basis, table, order, stretch), order).tasks()


_MAKES_WEIGHTS = (Work.BACKWARD, Work.WEIGHT_GRADIENTS)


def _groups(slots: tuple[Slot, ...]) -> Iterator[list[tuple[int, Slot]]]:
    """Slots that run as one, with their places: one by one, but for pairs."""
    group: list[tuple[int, Slot]] = []
    for place, slot in enumerate(slots):
        if group and not slot.paired:
            yield group
            group = []
        group.append((place, slot))
    if group:
        yield group


class _Expansion:
    """Repeats templates for all slots of all stages."""

    def __init__(self, templates: Templates, order: PipelineOrder) -> None:
        self.templates = templates
        self.order = order
        self.known: dict[Label, int] = {}
        self.columns: list[tuple[int, Work, int, int, int, int, int]] = []
        self.uses: list[tuple[SlotTasks, int, list[int]]] = []
        """Tasks of templates, their stage, and where they begin each time."""
        self.count = 0

    def tasks(self) -> StepTasks:
        order = self.order
        for number in range(order.stages):
            self._stage(number)
        columns = np.array(self.columns, dtype=np.int32).reshape(-1, 7)
        sent = np.full((2, order.positions, order.micro_batches), -1, dtype=np.int32)
        stage, work, piece, batch, _, _, send = columns.T
        forward = (work == Work.FORWARD).astype(np.int64)
        if order.schedule is Schedule.DUAL_PIPE:
            place = np.where(piece == 0, stage, order.stages - 1 - stage)
        else:
            place = piece * order.stages + stage
        handing = send >= 0
        sent[forward[handing], place[handing], batch[handing]] = send[handing]
        source = place + np.where(forward == 1, -1, 1)
        inside = (source >= 0) & (source < order.positions) & (work != Work.WEIGHT_GRADIENTS)
        received = np.where(inside, sent[forward, np.clip(source, 0, order.positions - 1), batch], -1)
        graph, label = self._arrays(columns[:, 4], received)
        slots = SlotTable(
            stage=stage,
            work=work.astype(np.int8),
            piece=piece,
            micro_batch=batch,
            first=columns[:, 4],
            last=columns[:, 5],
            sent=send,
            received=received.astype(np.int32),
        )
        return StepTasks(
            order=order,
            graph=graph,
            label=label,
            labels=tuple(self.known),
            slots=slots,
            runs=self.templates.runs,
        )

    def _stage(self, stage: int) -> None:
        slots = self.order.slots[stage]
        finals = set({slot.piece: place for place, slot in enumerate(slots) if slot.work in _MAKES_WEIGHTS}.values())
        made: dict[tuple[Kind, ...], tuple[Template, list[int]]] = {}
        for group in _groups(slots):
            kinds = tuple((slot.work, slot.piece, place in finals) for place, slot in group)
            if kinds not in made:
                made[kinds] = self.templates.slot(stage, kinds), []
                self.uses.append((made[kinds][0].tasks, stage, made[kinds][1]))
            template, bases = made[kinds]
            base = self.count
            bases.append(base)
            self.count += len(template.tasks)
            places = zip(template.firsts, template.lasts, template.sends, strict=True)
            for (_, slot), (first, last, send) in zip(group, places, strict=True):
                ends = (first + base, last + base, send + base if send >= 0 else -1)
                self.columns.append((stage, slot.work, slot.piece, slot.micro_batch, *ends))
        after = self.templates.end(stage)
        self.uses.append((after, stage, [self.count]))
        self.count += len(after)

    def _arrays(self, first: NDArray[np.int32], received: NDArray[np.int32]) -> tuple[TaskGraph, NDArray[np.int16]]:
        """All templates, as often as they are used; each slot's first task waits for what handed it over."""
        durations, streams = np.empty(self.count), np.empty(self.count, dtype=np.int32)
        label, counts = np.empty(self.count, dtype=np.int16), np.zeros(self.count + 1, dtype=np.int32)
        filled = []
        for tasks, stage, bases in self.uses:
            rows = np.array(bases)[:, None] + np.arange(len(tasks))
            durations[rows] = tasks.seconds
            streams[rows] = np.array(tasks.streams) + stage * len(STREAMS)
            label[rows] = [self.known.setdefault(found, len(self.known)) for found in tasks.labels]
            # What is handed over is one more to wait for, whose number is not known yet.
            after = [(-1,) if found is ARRIVAL else some for found, some in zip(tasks.labels, tasks.after, strict=True)]
            counts[rows + 1] = [len(some) for some in after]
            filled.append((np.array(bases), np.array([task for some in after for task in some], dtype=np.int64)))
        pointers = np.cumsum(counts, dtype=np.int32)
        predecessors = np.empty(int(pointers[-1]), dtype=np.int32)
        for begins, before in filled:
            if len(before):
                edges = pointers[begins][:, None] + np.arange(len(before))
                predecessors[edges] = np.where(before >= 0, begins[:, None] + before, -1)
        waits = received >= 0
        predecessors[pointers[first[waits]]] = received[waits]
        graph = TaskGraph(
            durations=durations,
            streams=streams,
            pointers=pointers,
            predecessors=predecessors,
            names=tuple(f"stage {stage}: {name}" for stage in range(self.order.stages) for name in STREAMS),
        )
        return graph, label
