"""Why a replay and the closed form of one step differ: transfers are taken out one kind after another.

What a kind of transfer adds to a step is the replay with it less the replay without it, and what the closed form calls
exposed of it. The two are held against each other kind by kind; what is left is the pipeline itself. Differences by
cause sum to the difference of the steps by construction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from volvelle.estimators.event_driven.block_steps import one
from volvelle.estimators.event_driven.estimator import EventDriven, ReplayedStep
from volvelle.estimators.event_driven.step_tasks import step_tasks
from volvelle.estimators.event_driven.stretch import AS_PRICED, Stretch
from volvelle.estimators.training.lines import GRADIENTS, HAND_OVER, HOST, ONCE, REPEATED, Line
from volvelle.estimators.training.step_time import StepTime
from volvelle.laws.overlap import overlap_slowdown_time
from volvelle.mapping.axes import CUTTING, DATA, PIPELINE, TENSOR, Axis
from volvelle.mapping.lowered_model import lowered_model
from volvelle.mapping.parallelism import MappingTable, ParallelMapping, Schedule
from volvelle.simulation.replay import replay
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What one kind of work adds to a step by either estimator."""

    name: str
    why: str
    """What the two do not see alike."""
    closed: float
    """Seconds by the closed form."""
    event: float
    """Seconds by the replay."""

    @property
    def seconds(self) -> float:
        """By how much the closed form's step is longer for it; negative: shorter."""
        return self.closed - self.event


def causes(estimator: EventDriven, workload: TrainingStep, system: Cluster, mapping: ParallelMapping) -> list[Cause]:
    """By kind of transfer, and the pipeline that is left without any; kinds that take no time are left out."""
    full = estimator.replayed(workload, system, mapping)
    table = MappingTable.of([mapping])
    model = lowered_model(workload, mapping.structure)
    basis = full.closed.basis
    assert basis is not None, "a replay rests on a breakdown"

    def without(stretch: Stretch) -> float:
        return float(replay(step_tasks(model, workload, basis, table, stretch=stretch).graph).max())

    found: list[Cause] = []
    stretch, event, left = AS_PRICED, full.time, one(full.closed.time)
    for axis, name in _kinds(full):
        closed = _exposed(full.closed, axis)
        stretch = replace(stretch, host=0.0) if axis is None else replace(stretch, axes=(*stretch.axes, (axis, 0.0)))
        rest = without(stretch)
        if closed > 0.0 or event > rest:
            found.append(Cause(name=name, why=_why(axis, mapping), closed=closed, event=event - rest))
        event, left = rest, left - closed
    found.append(Cause(name="the pipeline itself", why=_UNEVEN, closed=left, event=event))
    return found


def _kinds(full: ReplayedStep) -> Sequence[tuple[Axis | None, str]]:
    """Kinds of transfers in the order in which they are taken out; None: to host memory."""
    basis = full.closed.basis
    used = [axis for axis in CUTTING if basis is not None and axis in basis.blocks.axes]
    return (
        (DATA, "gradients and weights between replicas"),
        (PIPELINE, "hand-over from stage to stage"),
        (None, "streams to host memory"),
        *((axis, axis.communication) for axis in used),
    )


def _exposed(closed: StepTime, axis: Axis | None) -> float:
    """Seconds that the closed form counts of a kind of transfer; of gradients also what they slow down."""

    def of(line: Line) -> float:
        return one(closed.times.get(line, 0.0))

    if axis is None:
        return of(HOST)
    if axis is PIPELINE:
        return of(HAND_OVER)
    if axis is DATA:
        assert closed.basis is not None, "a replay rests on a breakdown"
        slowed = overlap_slowdown_time(closed.basis.beside, share=closed.basis.machine.communication_sm_share)
        return of(GRADIENTS) + one(slowed)
    part = axis.communication
    return sum(of(line) for line in closed.times if line.exposed and line.part == part)


_UNEVEN = (
    "stages that are not alike: the embedding, the head and layers that do not divide make a wait in one place, which "
    "the closed form spreads over all"
)


def _why(axis: Axis | None, mapping: ParallelMapping) -> str:
    if axis is None:
        return "the closed form spreads a stream over the step; a replay waits for it in every slot that is too short"
    if axis is PIPELINE:
        if mapping.schedule is Schedule.DUAL_PIPE:
            return "transfers of two directions wait for each other's pairs, which the closed form does not follow"
        return "the closed form counts transfers that the order cannot hide; a replay finds which are waited for"
    if axis is DATA:
        return (
            "the closed form gives the exchange the backward pass of equal layers to hide behind; a replay sends block "
            "by block as each is ready"
        )
    if axis is TENSOR:
        return f"{REPEATED.name} and {ONCE.name} hide behind kernels one by one, not behind the whole pass"
    return "what hides behind a block in the replay is what runs beside it there, exchange by exchange"
