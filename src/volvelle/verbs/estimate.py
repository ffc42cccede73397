"""How long one training step takes, what fits, and where the time goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.training.evidence import Input, RangeBasis, step_basis, training_inputs
from volvelle.base.python_function import asks
from volvelle.catalogue.prices import owned_costs
from volvelle.catalogue.rents import rent_of
from volvelle.catalogue.residuals import Residual, runs_like
from volvelle.catalogue.schema import Reference
from volvelle.catalogue.stacks import software_stack, stacks_run_on
from volvelle.economics.step_cost import CostAssumptions, Costs, Timed
from volvelle.economics.training_run import TrainingRun, run_tokens, training_run
from volvelle.errors import DescriptionError, MappingError, MissingFigureError
from volvelle.estimators.calibration import (
    Calibrations,
    FittedConstants,
    calibrations_of,
    fitted_constants,
)
from volvelle.estimators.question_error import step_error
from volvelle.estimators.result import Range, RangedFigure, TrainingEstimate
from volvelle.estimators.step_figures import WithStepFigures, no_such_step
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.training.layer_phases import LayerPhase, layer_phases
from volvelle.estimators.training.resource_use import MEMORY, ResourceUse, resource_use
from volvelle.laws.citations import LAWS, Law
from volvelle.mapping.axis_shardings import EXPERT_DIM
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.presentable import Presentable
from volvelle.quantities import Number
from volvelle.questions.estimate import EstimateQuestion
from volvelle.system.cluster import Cluster
from volvelle.verbs.differences import Difference, Side, difference, side_of
from volvelle.verbs.estimators import CLOSED, ESTIMATORS, EVENT
from volvelle.verbs.named import catalogue_of
from volvelle.verbs.outside import refuse_outside
from volvelle.verbs.question import completed, machines_of, resolved_step
from volvelle.verbs.remedies.layouts import layout_remedies
from volvelle.verbs.stragglers import Straggler, stragglers_of
from volvelle.verbs.trained import Trained, trained
from volvelle.verbs.what_if import beside_baseline
from volvelle.workload.training import TrainingStep

if TYPE_CHECKING:
    from volvelle.estimators.event_driven.estimator import EventDriven, ReplayedStep


@dataclass(frozen=True, kw_only=True, repr=False)
class Answer(WithStepFigures, Presentable):
    """An estimate with its question and its sources.

    Its figures are `time` in seconds per step, `throughput` in tokens per second, `utilisation` (MFU), `memory` of the
    fullest GPU in bytes, `power` in watts, and `energy` and `cost` in joules and dollars per step. A figure that cannot
    be had, because there is no such layout or no price, raises `MissingFigureError`.

    Examples
    --------
    >>> import volvelle
    >>> answer = volvelle.estimate("llama3-8b", on="dgx-h100/8", batch=64, tensor=2)
    >>> answer.time.low < answer.time.value < answer.time.high
    True
    >>> answer.memory.unit, answer.cost.unit
    ('B', 'USD')
    """

    model: str
    step: TrainingStep
    cluster: Cluster
    estimate: TrainingEstimate
    costs: Costs
    references: Mapping[str, Reference]
    notes: tuple[str, ...] = ()
    """The defaults that were used, and the facts that the machine lacks."""
    run: TrainingRun | None = None
    """Of all tokens, where they were given."""
    estimator: str = CLOSED
    """Which of `ESTIMATORS` gave the time."""
    stragglers: tuple[Straggler, ...] = ()
    """Stages that have a slower chip, where some were given."""
    samples: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    """Seconds of the step on sampled machines."""
    baseline: "Answer | None" = None
    """The same on the machine as it is, where some of its numbers were set."""

    @property
    def power(self) -> RangedFigure:
        """Watts at the meter, on average."""
        return self._spent(self.costs.power, "power", "W")

    @property
    def energy(self) -> RangedFigure:
        """Joules per step."""
        return self._spent(self.costs.energy, "energy", "J")

    @property
    def cost(self) -> RangedFigure:
        """Dollars per step on owned hardware, energy included."""
        return self._spent(self.costs.dollars, "dollars", "USD")

    def _spent(self, value: Number | None, name: str, unit: str) -> RangedFigure:
        if value is None:
            raise MissingFigureError(f"the answer has no {name}: missing is {', '.join(self.costs.missing)}")
        return RangedFigure(value=float(value), range=self.costs.ranges.get(name), unit=unit)

    def _timed(self) -> TrainingEstimate:
        if self.speed is None:
            raise no_such_step(self.estimate.violations)
        return self.speed

    def _held(self) -> TrainingEstimate:
        return self.estimate

    @property
    def side(self) -> Side:
        """What of it is compared with other answers."""
        return side_of(self.step, self.cluster, self.estimate, self.costs)

    @property
    def difference(self) -> Difference | None:
        """From the machine as it is, where some of its numbers were set and both layouts can exist."""
        if self.baseline is None or self.speed is None or self.baseline.speed is None:
            return None
        return difference(self.side, self.baseline.side)

    @property
    def basis(self) -> RangeBasis:
        """What the range rests on."""
        return step_basis(self.cluster, self.step, self.estimate.mapping)

    @property
    def speed(self) -> TrainingEstimate | None:
        """The estimate, where it is of a layout that could exist; None: its times mean nothing."""
        return self.estimate if self.estimate.could_exist else None

    @cached_property
    def layer_phases(self) -> tuple[LayerPhase, ...]:
        """Every operation of every block in every phase; nothing where no such layout exists."""
        return () if self.speed is None else layer_phases(self.step, self.cluster, self.estimate.mapping)

    @cached_property
    def replayed(self) -> "ReplayedStep":
        """The same step task by task, whichever estimator gave the time; refused where no such layout exists."""
        if self.speed is None:
            raise MappingError("there is no such layout, so no step to replay; give one that can exist")
        problem = self._event().problem(self.step, self.estimate.mapping)
        if problem is not None:
            raise MappingError(f"{problem.problem}; {' or '.join(problem.cures)}")
        return self._event().replayed(self.step, self.cluster, self.estimate.mapping)

    def _event(self, calibration: Calibrations | None = None) -> "EventDriven":
        """The replay that this is by."""
        from volvelle.estimators.event_driven.estimator import EventDriven  # noqa: PLC0415 - keeps start-up short

        return EventDriven(calibration, stragglers=tuple((slow.stage, slow.speed) for slow in self.stragglers))

    @cached_property
    def seconds_without_stragglers(self) -> float | None:
        """The same step with all chips at full speed; None: no stragglers were given, or there is no such layout."""
        if not self.stragglers or self.speed is None:
            return None
        return replace(self._event(), stragglers=()).replayed(self.step, self.cluster, self.estimate.mapping).time

    @cached_property
    def resource_use(self) -> tuple[ResourceUse, ...]:
        """Use of the memory, then of every level of the network; nothing where no such layout exists."""
        if self.speed is None:
            return ()
        asked = (self.step, self.cluster, self.estimate.mapping)
        return resource_use(*asked, self.layer_phases, self.speed.time)

    @property
    def memory_utilisation(self) -> float | None:
        """Bytes moved in a step over what the memory could have moved; None: no such layout exists."""
        return next((use.utilisation for use in self.resource_use if use.name == MEMORY), None)

    @property
    def busiest_link(self) -> ResourceUse | None:
        """The level of the network that is used most; None: there is no network, or no such layout."""
        return max(
            (use for use in self.resource_use if use.name != MEMORY), key=lambda use: use.utilisation, default=None
        )

    @property
    def parameters(self) -> int:
        """Learned numbers of the model, each counted once."""
        return self.step.model.parameters()

    @property
    def trained(self) -> Trained:
        """What of the model is trained."""
        return trained(self.step)

    @property
    def flops(self) -> float:
        """FLOP of the model's matrix products in a step, forward and backward, recomputation not counted."""
        return self.estimate.work

    @property
    def sequence(self) -> int:
        """Tokens of a sequence."""
        return int(self.step.model.sizes.get("position", 1))

    @property
    def fitted(self) -> FittedConstants:
        """What runs on such chips taught."""
        return fitted_constants(self.cluster, self.step.element)

    @property
    def stack(self) -> str:
        """The software it is about; nothing: as the chip's constants say."""
        return calibrations_of(self.cluster).stack

    @property
    def stack_timed(self) -> bool:
        """Whether that software was timed on such chips; if not, what is known of both counts, less surely."""
        return not self.stack or self.stack in stacks_run_on(self.cluster.chip.family)

    @property
    def other_stacks(self) -> Mapping[str, float]:
        """Other software that was timed on such chips → seconds of the same step."""
        if self.speed is None:
            return {}
        others = (name for name in stacks_run_on(self.cluster.chip.family) if self.stack and name != self.stack)
        ours = {
            name: replace(calibrations_of(self.cluster), stack=name, software=software_stack(name)) for name in others
        }
        asked = (self.step, self.cluster, self.estimate.mapping)
        timed_by = self._event if self.estimator == EVENT else ClosedForm
        return {name: timed_by(one).estimate(*asked).time for name, one in ours.items()}

    @property
    def nearest_runs(self) -> Sequence[Residual]:
        """Measured runs that are most like it, nearest first, each with how far its prediction is off."""
        return runs_like(
            family=self.cluster.chip.family,
            element=self.step.element,
            stack=self.stack,
            mixture=EXPERT_DIM in self.step.model.sizes,
            parameters=self.parameters,
            chips=self.estimate.chips,
        )

    @property
    def host_memory_bytes(self) -> float | None:
        """Bytes of host memory a chip, where something is put there."""
        return self.estimate.facts.get("host_memory_bytes")

    @property
    def ranges(self) -> Mapping[str, Range]:
        """Of time, memory, headroom, power, energy and dollars, as far as they are known."""
        known = {**self.estimate.ranges, **self.costs.ranges}
        return known if self.speed else {name: known[name] for name in ("memory", "headroom") if name in known}

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The machine's numbers that the estimate uses, with their provenance."""
        error = step_error(self.cluster, self.step, self.estimate.mapping)
        return training_inputs(self.cluster, self.step.element, error)

    @property
    def laws(self) -> list[Law]:
        """The laws used, in order of appearance."""
        names = [line.law for line in self.estimate.contributions] + [part.law for part in self.estimate.memory]
        return [LAWS[name] for name in dict.fromkeys(names) if name in LAWS]

    def cite(self, key: str) -> str:
        """A short citation."""
        reference = self.references.get(key)
        if reference is None:
            return key
        first = reference.authors.split(",")[0].split(" et al")[0].strip()
        return f"{first} {reference.year}"


@asks(EstimateQuestion)
@beside_baseline
def estimate(question: EstimateQuestion) -> Answer:
    """Return the time of one training step with its range, memory, cost and sources.

    The layout is a `ParallelMapping`, or its fields by name (``tensor=8, pipeline=8``). Without `data`, replicas take
    the GPUs that are left. `seed` is the seed of the samples of the range. `stragglers` are pipeline stages with a
    slower GPU, with its share of the full speed (``{2: 0.8}``). With `tokens` (``2e12`` or ``"2T"``), the answer
    contains the whole run. `set` changes fields of the machine (``{"scale_up.rate": "2x"}``); the answer then contains
    the answer for the unchanged machine as its `baseline`. A question that differs from every calibration run in two
    ways at once, with a range wider than a factor of two, is rejected unless `anyway` is true.
    """
    asked = resolved_step(question)
    step, cluster, mapping = asked.step, asked.cluster, asked.mapping
    estimator = question.estimator
    slow = stragglers_of(question.stragglers, estimator, mapping.pipeline)
    if question.replays and estimator != EVENT:
        raise DescriptionError(f"replays are of the estimator {EVENT}, and {estimator} has none; leave replays out")
    if slow or question.replays:
        from volvelle.estimators.event_driven.under_uncertainty import (  # noqa: PLC0415 - keeps start-up short
            replayed_under_uncertainty,
        )

        timed, samples = replayed_under_uncertainty(
            step,
            cluster,
            mapping,
            seed=question.seed,
            stragglers=tuple((each.stage, each.speed) for each in slow),
            replays=question.replays,
        )
    else:
        timed, samples = ESTIMATORS[estimator](step, cluster, mapping, question.seed)
    if timed.violations:

        def changed(there: Cluster, change: Mapping[str, Any]) -> ParallelMapping:
            layout = (
                completed(there, {**question.layout, **change})
                if question.mapping is None
                else replace(mapping, **change)
            )
            if estimator == EVENT:
                _supported(step, layout)
            return layout

        machine = machines_of(
            question.on,
            catalogue_of(question.catalogue),
            stack=question.software,
            margin=question.margin,
            changes=question.set,
        )
        problems = [violation.name for violation in timed.violations]
        remedies = layout_remedies(step, cluster, mapping, problems, completed=changed, machine=machine)
        timed = replace(timed, violations=tuple(replace(one, cures=remedies) for one in timed.violations))
    if timed.could_exist:
        refuse_outside(step, cluster, mapping, timed.time_range, anyway=question.anyway)
    costs = (
        owned_costs(timed, cluster, samples=samples)
        if timed.could_exist
        else Costs(energy=None, dollars=None, assumptions=CostAssumptions(), missing=("a layout that can exist",))
    )
    tokens = question.tokens
    return Answer(
        model=asked.model,
        step=step,
        cluster=cluster,
        estimate=timed,
        costs=costs,
        references=catalogue_of(question.catalogue).references,
        notes=(*asked.notes, *cluster.notes_on_power),
        samples=samples.time,
        estimator=estimator,
        stragglers=slow,
        run=None if tokens is None or not timed.could_exist else run_of(tokens, timed, costs, cluster),
    )


def _supported(step: TrainingStep, mapping: ParallelMapping) -> None:
    """Raise an error if the event estimator cannot replay a layout."""
    from volvelle.estimators.event_driven.estimator import EventDriven  # noqa: PLC0415 - keeps start-up short

    problem = EventDriven().problem(step, mapping)
    if problem is not None:
        raise MappingError(problem.problem)


def run_of(tokens: str | float, timed: Timed, costs: Costs, cluster: Cluster) -> TrainingRun:
    """A whole run at the pace of one step, on owned chips and on rented ones where a rent is known."""
    from volvelle.applications.goodput.usual import usual_ettr  # noqa: PLC0415 - keeps start-up short

    rent = rent_of(cluster.chip.name, cluster.name)
    wanted = run_tokens(tokens, timed.tokens)
    return training_run(
        wanted,
        timed,
        costs,
        hourly=None if rent is None else rent.dollars_per_hour,
        offered="" if rent is None else rent.words,
        ettr=usual_ettr(cluster, wanted / timed.tokens * timed.time),
    )
