"""The event-driven estimator: one mapping, every kernel and transfer of every stage put in time."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from volvelle.errors import MappingError
from volvelle.estimators.calibration import Calibrations
from volvelle.estimators.contract import TrainingEstimator
from volvelle.estimators.event_driven.memory_curve import MemoryCurve, memory_curves
from volvelle.estimators.event_driven.slot_tasks import COMPUTE, STREAMS
from volvelle.estimators.event_driven.step_tasks import StepTasks, step_tasks
from volvelle.estimators.event_driven.stretch import AS_PRICED, Stretch
from volvelle.estimators.event_driven.time_spent import Idle, busiest_stage, idle_time, time_spent
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.result import Contribution, TrainingEstimate, Violation
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.training.step_time import StepTime
from volvelle.estimators.training.two_tier_time import two_tier_time
from volvelle.mapping.lowered_model import lowered_model
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.mapping.schedule import order_problem
from volvelle.simulation.events import Shared, event_queue
from volvelle.simulation.replay import replay
from volvelle.simulation.tasks import Real
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedStep:
    """When every task of a step began and ended."""

    mapping: ParallelMapping
    step: StepTasks
    starts: Real
    ends: Real
    memory: tuple[MemoryCurve, ...]
    """Activations of every stage."""
    closed: StepTime
    """What the closed form says of the same step."""

    @property
    def time(self) -> float:
        """Seconds of the step."""
        return float(self.ends.max())

    @property
    def stage(self) -> int:
        """The one with most work, which stands for all."""
        return busiest_stage(self.step, self.ends - self.starts)

    def idle(self, stage: int) -> Idle:
        """When a stage's compute stream waits, and what for."""
        return idle_time(self.step, self.ends, stage)


@final
@dataclass(frozen=True, slots=True)
class EventDriven(TrainingEstimator):
    """A replay: kernels, exchanges and transfers of one rank a stage, in order, each as long as the closed form says.

    What overlaps and what waits follows from the order, not from formulas. It knows no contention between groups, and
    answers one mapping at a time. Memory and violations are the closed form's.
    """

    calibration: Calibrations | None = None
    """Constants fitted to runs; None: those that the machine comes with."""
    stragglers: tuple[tuple[int, float], ...] = ()
    """Pipeline stages that have a chip which is slower, and the share of its speed that it has."""
    stretch: Stretch = AS_PRICED
    """What takes longer than the closed form says."""

    def estimate(self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping) -> TrainingEstimate:
        """How one mapping does, explained; of one that cannot exist what the closed form says of it."""
        closed = ClosedForm(self.calibration).estimate(workload, system, mapping)
        problem = self.problem(workload, mapping)
        if problem is not None and closed.could_exist:
            closed = replace(closed, violations=(*closed.violations, problem))
        if not closed.could_exist:
            return closed
        replayed = self.replayed(workload, system, mapping)
        lines = time_spent(replayed.step, replayed.starts, replayed.ends, replayed.stage)
        resources = replayed.closed.resources
        return replace(
            closed,
            contributions=tuple(
                Contribution(
                    name=line.name,
                    part=line.part,
                    time=seconds,
                    exposed=line.exposed,
                    resource=resources.get(line, resources.get(replace(line, exposed=True), "matrix units")),
                    law=line.law,
                )
                for line, seconds in lines.items()
            ),
        )

    def replayed(self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping) -> ReplayedStep:
        """The step task by task, of a mapping that has an order."""
        table = MappingTable.of([mapping])
        machine = SustainedRates.of(system, workload.element, self.calibration)
        model = lowered_model(workload, mapping.structure)
        closed = two_tier_time(model, workload, machine, table, breakdown=True)
        assert closed.basis is not None, "a breakdown was asked for"
        step = step_tasks(model, workload, closed.basis, table, stretch=self.stretch)
        ends = replay(step.graph) if not self.stragglers else event_queue(step.graph, self._slowed(step))
        starts = step.graph.starts(ends)
        return ReplayedStep(
            mapping=mapping,
            step=step,
            starts=starts,
            ends=ends,
            memory=tuple(memory_curves(step, starts, ends, closed.basis, table)),
            closed=closed,
        )

    def _slowed(self, step: StepTasks) -> Shared:
        """Every stage computes on a resource of its own, of which stragglers have less."""
        stages = step.order.stages
        for stage, share in self.stragglers:
            if not (0 <= stage < stages and 0.0 < share <= 1.0):
                raise MappingError(
                    f"a straggler at stage {stage} with {share:g} of its speed; stages are 0 to {stages - 1}, and a "
                    "share is above 0 and at most 1"
                )
        streams = step.graph.streams
        return Shared(
            resources=np.where(streams % len(STREAMS) == COMPUTE, streams // len(STREAMS), -1).astype(np.int32),
            shares=np.zeros(len(step.graph)),
            changes=tuple((0.0, stage, share) for stage, share in self.stragglers),
        )

    def problem(self, workload: TrainingStep, mapping: ParallelMapping) -> Violation | None:
        """Why the micro-batches of a mapping have no order that could be replayed; None: they have one."""
        micro_batches = workload.batch / (mapping.data * mapping.micro_batch)
        problem = order_problem(
            mapping.schedule,
            stages=mapping.pipeline,
            micro_batches=float(np.max(micro_batches)),
            interleave=mapping.interleave,
        )
        if problem is None:
            return None
        return Violation(name="schedule", problem=problem, cures=("--schedule 1f1b", "--interleave 1"))
