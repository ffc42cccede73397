"""What every piece of every stage does with a micro-batch, worked out once: blocks, replicas, host, hand-over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from volvelle.estimators.event_driven.axis_groups import axis_groups, pipeline_group
from volvelle.estimators.event_driven.block_steps import BlockSteps, one
from volvelle.estimators.event_driven.moved import Group, Moved
from volvelle.estimators.event_driven.slot_tasks import (
    ARRIVAL,
    BEGIN,
    JOIN,
    STREAMED,
    Label,
    SlotTasks,
    Stream,
    beside,
    gathered,
    of_axis,
    reduced,
    sent,
)
from volvelle.estimators.event_driven.stage_exchanges import StageExchanges, stage_exchanges
from volvelle.estimators.event_driven.stretch import AS_PRICED, Stretch
from volvelle.estimators.training.copies import Copies, runs_behind
from volvelle.estimators.training.lines import ADDED, COPIES, GRADIENTS, LISTED, ONCE, OPTIMISER, SLOWED
from volvelle.estimators.training.step_time import StepBasis
from volvelle.mapping.axes import DATA, PIPELINE, TENSOR
from volvelle.mapping.lowered_model import LoweredModel
from volvelle.mapping.parallelism import MappingTable, Schedule
from volvelle.mapping.schedule import PipelineOrder, Work
from volvelle.mapping.stages import layers_of_positions
from volvelle.quantities import Number
from volvelle.workload.elements import element_bytes
from volvelle.workload.tensor_layout import Collective
from volvelle.workload.training import TrainingStep

_THERE = Label("gradients are there", GRADIENTS)
_COPIED = [Label(line.name, line) for line in (COPIES, LISTED, ADDED)]
Runs = tuple[tuple[str, int], ...]
"""Blocks and how many of each in a row."""
Kind = tuple[Work, int, bool]
"""What is done, on which piece, and whether it is the last of the step there that makes weight gradients."""


def model_parts(model: LoweredModel, positions: int, pipeline: int, interleave: int) -> tuple[Runs, ...]:
    """Blocks that every part of a model runs, first to last."""
    names = list(model.order)
    found: list[list[tuple[str, int]]] = []
    start = 0
    for count in layers_of_positions(len(names), pipeline, interleave):
        runs: list[tuple[str, int]] = []
        for name in names[start : start + count]:
            if runs and runs[-1][0] == name:
                runs[-1] = (name, runs[-1][1] + 1)
            else:
                runs.append((name, 1))
        found.append(runs)
        start += count
    found[0] = [*((block.name, block.repeat) for block in model.before), *found[0]]
    found[-1] = [*found[-1], *((block.name, block.repeat) for block in model.after)]
    assert len(found) == positions, "parts are places of the pipeline"
    return tuple(tuple(runs) for runs in found)


@dataclass(slots=True)
class Template:
    """Tasks of a slot or a pair, and where in them it meets others."""

    tasks: SlotTasks
    firsts: list[int] = field(default_factory=list)
    lasts: list[int] = field(default_factory=list)
    sends: list[int] = field(default_factory=list)


class Templates:
    """What slots do, each kind worked out once."""

    def __init__(
        self,
        model: LoweredModel,
        workload: TrainingStep,
        basis: StepBasis,
        table: MappingTable,
        order: PipelineOrder,
        stretch: Stretch = AS_PRICED,
    ) -> None:
        self.order = order
        self.basis = basis
        self.overlaps = bool(one(runs_behind(basis.machine, table)))
        self.runs = model_parts(model, order.positions, order.stages, int(table.interleave[0]))
        self.groups = axis_groups(basis, table)
        self.hand_over = _hand_over(basis, table, self.groups[TENSOR], stretch.of(PIPELINE))
        together = order.schedule is Schedule.DUAL_PIPE or bool(table.expert_overlap[0])
        share = one(basis.machine.communication_sm_share)
        self.steps = {
            name: BlockSteps(time, self.groups, basis.blocks.sizes, beside=together, sm_share=share, stretch=stretch)
            for name, time in basis.blocks.times.items()
        }
        self.labels = {
            (name, work): [
                Label(
                    f"{name}: {step.name}" if step.axis is None else step.name,
                    step.line,
                    () if step.moved is None else (step.moved,),
                    step.computed,
                )
                for step in steps
            ]
            for name, block in self.steps.items()
            for work, steps in block.works.items()
        }
        self.host = _host_seconds(basis, workload, table, stretch.host)
        self.exchanges = {
            place: stage_exchanges(counts, basis, workload, table, is_last=last, stretch=stretch.of(DATA))
            for place, (counts, last) in self._held().items()
        }

    def _held(self) -> dict[tuple[int, int], tuple[dict[str, float], bool]]:
        """Stage and piece → blocks whose weights are exchanged together, and whether they end the model."""
        order, found = self.order, {}
        dual = order.schedule is Schedule.DUAL_PIPE
        for stage in range(order.stages):
            for piece in range(order.pieces):
                counts: dict[str, float] = {}
                for other in [piece] if dual else range(order.pieces):
                    for name, count in self.runs[order.position(stage, other)]:
                        counts[name] = counts.get(name, 0.0) + count
                end = order.position(stage, piece if dual else order.pieces - 1) == order.positions - 1
                found[stage, piece] = counts, end and order.stages > 1
        return found

    def slot(self, stage: int, works: Sequence[Kind]) -> Template:
        """Of a slot, or of the slots of a pair: what is done, on which piece, and whether for the last time."""
        found = Template(SlotTasks())
        tasks, order = found.tasks, self.order
        for work, piece, _ in works:
            place = order.position(stage, piece)
            handed = (work is Work.FORWARD and place > 0) or (
                work in (Work.BACKWARD, Work.INPUT_GRADIENTS) and place < order.positions - 1
            )
            found.firsts.append(tasks.compute(ARRIVAL if handed else BEGIN, 0.0))
        for work, piece, is_last in works:
            self._run(tasks, work, self.runs[order.position(stage, piece)], self.exchanges[stage, piece], is_last)
        end = tasks.joined()
        for work, piece, _ in works:
            place = order.position(stage, piece)
            sends = (work is Work.FORWARD and place < order.positions - 1) or (
                work in (Work.BACKWARD, Work.INPUT_GRADIENTS) and place > 0
            )
            found.sends.append(self._hand_on(tasks, end) if sends else -1)
            found.lasts.append(end)
        return found

    def _hand_on(self, tasks: SlotTasks, end: int) -> int:
        return tasks.add(self.hand_over, beside(Stream.SEND), self.hand_over.seconds, [end])

    def _run(self, tasks: SlotTasks, work: Work, runs: Runs, exchanges: StageExchanges, is_last: bool) -> None:
        replicas, began = beside(Stream.REPLICAS), tasks.last
        names = [name for name, count in runs for _ in range(count)]
        if work is not Work.FORWARD:
            names.reverse()
        host = sum(self.host[work].get(name, 0.0) for name in names)
        held: list[int] = []
        if host > 0.0:
            held.append(tasks.add(STREAMED, beside(Stream.HOST), host, [began]))
        makes_weights = work in (Work.BACKWARD, Work.WEIGHT_GRADIENTS)
        gathers = {Work.FORWARD: exchanges.gathered, Work.WEIGHT_GRADIENTS: {}}.get(work, exchanges.gathered_again)
        ahead = self._gather(tasks, gathers, names[:1])
        for place, name in enumerate(names):
            tasks.waits += ahead
            # The next block's weights come while this one runs: before its gradients leave on the same stream.
            ahead = self._gather(tasks, gathers, names[place + 1 : place + 2]) if self.overlaps else []
            tasks.block(self.steps[name].works[work], self.labels[name, work])
            copies = exchanges.copies[name]
            if work is Work.FORWARD:
                _copied(tasks, copies.units.forward, copies.lists.forward)
            elif makes_weights:
                _copied(tasks, copies.units.backward, copies.lists.backward, copies.added)
            if makes_weights and (every := exchanges.every[name]).moves:
                added = tasks.add(every, replicas, every.seconds, [tasks.last])
                tasks.waits += [] if self.overlaps else [added]
            if not self.overlaps:  # when all of this block is done, copies too
                ahead = self._gather(tasks, gathers, names[place + 1 : place + 2])
            if is_last and self.overlaps and (at_end := exchanges.at_end[name]).moves:
                tasks.add(at_end, replicas, at_end.seconds, [tasks.last])
        tasks.block_waits += held
        if is_last and not self.overlaps:
            waiting = reduced(moved for name in names for moved in exchanges.at_end[name].moves)
            if waiting.moves:
                tasks.add(waiting, replicas, waiting.seconds, [tasks.joined()])

    @staticmethod
    def _gather(tasks: SlotTasks, needed: Mapping[str, Label], names: Sequence[str]) -> list[int]:
        """Weights of a block, gathered from now on; nothing where they are there, or there is none."""
        return [
            tasks.add(needed[name], beside(Stream.REPLICAS), needed[name].seconds, [tasks.last])
            for name in names
            if name in needed and needed[name].moves
        ]

    def end(self, stage: int) -> SlotTasks:
        """What a stage does after its last slot: weights shared along the tensor axis, optimiser, new weights."""
        tasks, replicas = SlotTasks(), beside(Stream.REPLICAS)
        tasks.compute(JOIN, 0.0)
        own = [self.exchanges[stage, piece] for piece in range(self.order.pieces)]
        own = own if self.order.schedule is Schedule.DUAL_PIPE else own[:1]
        held = [run for piece in range(self.order.pieces) for run in self.runs[self.order.position(stage, piece)]]
        shared = sum(count * self.steps[name].per_step for name, count in held)
        if shared > 0.0:
            moves = tuple(moved.part(count) for name, count in held for moved in self.steps[name].moved_per_step)
            # Where nothing is hidden, one exchange after the other.
            there = [] if self.overlaps else [tasks.add(_THERE, replicas, 0.0)]
            tasks.waits.append(tasks.add(Label(ONCE.name, ONCE, moves), of_axis(TENSOR), shared, [tasks.last, *there]))
        slowed = sum(some.slowed for some in own)
        if slowed > 0.0:
            tasks.compute(Label(SLOWED.name, SLOWED), slowed)
        copied = Copies()
        for piece in range(self.order.pieces):
            for name, count in self.runs[self.order.position(stage, piece)]:
                copied = copied + self.exchanges[stage, piece].copies[name].part(count)
        # All that replicas exchange is queued before this, so it ends when they have ended.
        tasks.waits.append(tasks.add(_THERE, replicas, 0.0))
        _copied(tasks, copied.units.once)  # also what is copied behind the last gather: nothing runs beside either
        tasks.compute(Label(OPTIMISER.name, OPTIMISER), own[0].optimiser)
        after = gathered(moved for some in own for moved in some.after_optimiser.moves)
        if after.moves:
            tasks.waits.append(tasks.add(after, replicas, after.seconds, [tasks.last]))
        _copied(tasks, 0.0, copied.lists.once)
        tasks.joined()
        return tasks


def _copied(tasks: SlotTasks, *taken: Number) -> None:
    """Of units, of lists and of gradients that are added up."""
    for label, seconds in zip(_COPIED, taken, strict=False):
        if one(seconds) > 0.0:
            tasks.compute(label, one(seconds))


def _hand_over(basis: StepBasis, table: MappingTable, tensor: Group, stretch: float) -> Label:
    """What a stage sends to the next, and the chips of that one gather; as much of it as nothing beside it hides."""
    stages = int(table.pipeline[0])
    if stages == 1:
        return sent(())
    part, gathering = (one(value) for value in basis.blocks.handed_over())
    moves = [Moved(None, part, pipeline_group(table), one(basis.hand_over) - gathering)]
    if gathering > 0.0:
        moves.append(Moved(Collective.ALL_GATHER, part * tensor.chips, tensor, gathering))
    waited = stretch * one(basis.machine.hand_over_exposure)
    return sent(moved.longer(waited) for moved in moves)


def _host_seconds(
    basis: StepBasis, workload: TrainingStep, table: MappingTable, stretch: float
) -> dict[Work, Mapping[str, float]]:
    """Block → seconds of what streams to and from host memory while a micro-batch is worked on."""
    found: dict[Work, dict[str, float]] = {work: {} for work in Work}
    activations, weights = bool(table.offload_activations[0]), bool(table.offload_weights[0])
    rate = basis.machine.host_rate
    if rate is None or not (activations or weights):
        return dict(found)
    weight, gradient = element_bytes(workload.weight_element), element_bytes(workload.gradient_element)
    common = basis.kinds[0] if basis.kinds else None
    for name, saved in basis.saved.items():
        parameters = one(common.each.get(name, 0.0)) if common is not None else 0.0
        kept = weight * parameters
        if common is not None and common.frozen is not None:
            kept += one(common.frozen.each.get(name, 0.0))
        moved = one(saved) * activations + kept * weights
        found[Work.FORWARD][name] = stretch * moved / one(rate)
        for work in (Work.BACKWARD, Work.INPUT_GRADIENTS):
            found[work][name] = stretch * (moved + gradient * parameters * weights) / one(rate)
    return dict(found)
