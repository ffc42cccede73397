"""Activations that a stage holds while a replayed step runs."""

from dataclasses import dataclass

import numpy as np

from volvelle.estimators.event_driven.block_steps import one
from volvelle.estimators.event_driven.step_tasks import StepTasks
from volvelle.estimators.training.step_time import StepBasis
from volvelle.mapping.parallelism import MappingTable
from volvelle.mapping.schedule import Work
from volvelle.simulation.tasks import Real


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCurve:
    """Bytes of activations on one chip of a stage, from each time to the next."""

    time: Real
    bytes: Real

    @property
    def peak(self) -> float:
        """The most at any time."""
        return float(self.bytes.max(initial=0.0))


def memory_curves(
    step: StepTasks, starts: Real, ends: Real, basis: StepBasis, table: MappingTable
) -> list[MemoryCurve]:
    """Of every stage: what a forward leaves is held from its start to the end of the last gradients made of it.

    While a backward runs, what one layer recomputes is held besides. What is off-loaded is not followed.
    """
    order = step.order
    saved = {name: one(size) for name, size in basis.saved.items()}
    working = {name: one(size) for name, size in basis.working.items()}
    every = int(table.recompute_every[0])
    layers = {block.name for block in basis.blocks.model.layers}
    kept, again = np.zeros(order.positions), np.zeros(order.positions)
    for place, runs in enumerate(step.runs):
        gaps = sum(count for name, count in runs if name in layers)
        share = -(-gaps // every) / gaps if every > 1 and gaps else 1.0
        kept[place] = sum(count * saved[name] * (share if name in layers else 1.0) for name, count in runs)
        most = max((working[name] for name, _ in runs if name in layers), default=0.0)
        again[place] = most * (min(every, gaps) if every > 1 else 1)
        again[place] = max([again[place], *(working[name] for name, _ in runs if name not in layers)])
    return [_curve(step, starts, ends, kept, again, stage) for stage in range(order.stages)]


def _curve(step: StepTasks, starts: Real, ends: Real, kept: Real, again: Real, stage: int) -> MemoryCurve:
    slots, order = step.slots, step.order
    own = slots.stage == stage
    work, first, last = slots.work[own], slots.first[own], slots.last[own]
    place = np.array([order.position(stage, piece) for piece in range(order.pieces)])[slots.piece[own]]
    forward = work == Work.FORWARD
    frees = (work == Work.BACKWARD) | (work == Work.WEIGHT_GRADIENTS)
    backward = (work == Work.BACKWARD) | (work == Work.INPUT_GRADIENTS)
    begins = ends[first]
    times = np.concatenate((begins[forward], ends[last[frees]], begins[backward], ends[last[backward]]))
    bytes_moved = (kept[place[forward]], -kept[place[frees]], again[place[backward]], -again[place[backward]])
    changes = np.concatenate(bytes_moved)
    # What ends at a time is freed before anything else begins, in the order of slots.
    number = np.arange(len(work))
    turns = np.concatenate((2 * number[forward], 2 * number[frees] + 1, 2 * number[backward], 2 * number[backward] + 1))
    sequence = np.lexsort((turns, times))
    held = np.cumsum(changes[sequence])
    return MemoryCurve(time=times[sequence], bytes=np.maximum(held, 0.0))
