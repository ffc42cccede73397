"""``crosscheck``: one step by the closed form, by a replay, and with flows in place of laws of collectives."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from volvelle.base.python_function import asks
from volvelle.errors import DescriptionError, UnknownNameError, VolvelleError, plainly
from volvelle.estimators.event_driven.causes import causes
from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.estimators.event_driven.stretch import Stretch
from volvelle.estimators.event_driven.under_uncertainty import moved_samples
from volvelle.estimators.flow_level.estimator import FlowFactor, FlowLevel, stretch_of
from volvelle.estimators.result import Range, TrainingEstimate
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import Samples, UnderUncertainty
from volvelle.interchange.simgrid.engine import simgrid_ends
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.questions.crosscheck import CrosscheckQuestion
from volvelle.system.cluster import Cluster
from volvelle.system.routing import Routing
from volvelle.verbs.crosscheck.answers import TOLD, CrossCheck, DifferenceCause, EstimatorDifference, EstimatorTime
from volvelle.verbs.estimators import CLOSED, EVENT
from volvelle.verbs.question import resolved_step
from volvelle.workload.training import TrainingStep

FLOWS, SIMGRID = "flows", "simgrid"
KNOWN = (CLOSED, EVENT, FLOWS, SIMGRID)
"""Estimators in the order in which each refines the one before."""


@asks(CrosscheckQuestion)
def crosscheck(question: CrosscheckQuestion) -> CrossCheck:
    """Return the answers of several estimators to one question, and the cause of every difference.

    The question is the question of `estimate`. `estimators` are two or more of ``closed``, ``event``, ``flows`` and
    ``simgrid``. ``flows`` runs the collectives of the step as messages on the links of the machine, by the `routing`
    rule; ``simgrid`` runs the collectives of one group per axis with SimGrid. The ranges are the ranges of `estimate`
    with the same `seed`, scaled by the ratio of the answers.
    """
    wanted = _wanted(question.estimators)
    asked = resolved_step(question)
    rule = None if question.routing is None else Routing.named(question.routing)
    check = check_step(asked.step, asked.cluster, asked.mapping, wanted, routing=rule, seed=question.seed)
    return replace(check, notes=(*asked.notes, *check.notes))


def _wanted(estimators: Sequence[str]) -> tuple[str, ...]:
    """Return the names that are known, each once, in order of refinement."""
    words = {plainly(name) for name in estimators if name.strip()}
    for word in words:
        if word not in KNOWN:
            raise UnknownNameError.among("estimator", word, KNOWN)
    if len(words) < 2:
        raise DescriptionError(f"{len(words)} to hold against each other; give two or more of {', '.join(KNOWN)}")
    return tuple(name for name in KNOWN if name in words)


def check_step(
    step: TrainingStep,
    cluster: Cluster,
    mapping: ParallelMapping,
    wanted: Sequence[str] = (CLOSED, EVENT),
    *,
    routing: Routing | None = None,
    seed: int | None = None,
) -> CrossCheck:
    """The answers of estimators to one question; with a `seed` with their ranges."""
    asked = _Asked(step, cluster, mapping, routing, seed)
    answers = {name: asked.answer(name) for name in wanted}
    timed = [name for name in wanted if answers[name].time is not None]
    return CrossCheck(
        model=step.model.name,
        cluster=cluster,
        mapping=mapping,
        estimate=asked.closed,
        answers=tuple(answers.values()),
        differences=tuple(asked.difference(answers[of], answers[against]) for against, of in pairwise(timed)),
        flows=tuple(asked.factors.get(FLOWS, asked.factors.get(SIMGRID, ()))),
        notes=cluster.notes,
    )


class _Asked:
    """One question, asked of several estimators."""

    def __init__(
        self, step: TrainingStep, cluster: Cluster, mapping: ParallelMapping, routing: Routing | None, seed: int | None
    ) -> None:
        self.question = (step, cluster, mapping)
        self.routing = routing
        self.samples: Samples | None = None
        if seed is None:
            self.closed = ClosedForm().estimate(*self.question)
        else:
            doubted = UnderUncertainty(estimator=ClosedForm(), seed=seed)
            self.closed, self.samples = doubted.with_samples(*self.question)
        self.factors: dict[str, Sequence[FlowFactor]] = {}

    def answer(self, name: str) -> EstimatorTime:
        """What one of them says."""
        ways: dict[str, Callable[[], TrainingEstimate]] = {
            CLOSED: lambda: self.closed,
            EVENT: lambda: EventDriven().estimate(*self.question),
            FLOWS: lambda: self._stretched(FLOWS, FlowLevel(routing=self.routing)),
            SIMGRID: lambda: self._stretched(
                SIMGRID,
                FlowLevel(
                    routing=self.routing,
                    engine=lambda capacities, flows: simgrid_ends(capacities, flows).end,
                    together=False,
                ),
            ),
        }
        try:
            found = ways[name]()
        except VolvelleError as error:
            if name in (CLOSED, EVENT):
                raise
            return EstimatorTime(name=name, time=None, refused=str(error), lines={})
        if not found.could_exist:
            why = "; ".join(violation.problem for violation in found.violations)
            return EstimatorTime(name=name, time=None, refused=why, lines={})
        lines: dict[str, float] = {}
        for line in found.contributions:
            if line.exposed:
                lines[line.name] = lines.get(line.name, 0.0) + float(line.time)
        time = float(found.time)
        return EstimatorTime(name=name, time=time, lines=lines, range=self._range(time))

    def _range(self, time: float) -> Range | None:
        """Where an answer lies: as the closed form's, which is as sure, by as much longer or shorter as it is."""
        if self.samples is None or not self.closed.could_exist:
            return None
        return moved_samples(self.samples, time, time / self.closed.time)[1]

    def _stretched(self, name: str, estimator: FlowLevel) -> TrainingEstimate:
        """The replay with exchanges as long as an engine says."""
        event = EventDriven().estimate(*self.question)
        if not event.could_exist:
            return event
        self.factors[name] = estimator.factors(EventDriven().replayed(*self.question), *self.question)
        return EventDriven(stretch=stretch_of(self.factors[name])).estimate(*self.question)

    def difference(self, of: EstimatorTime, against: EstimatorTime) -> EstimatorDifference:
        """How an answer differs from the one that it refines, by cause."""
        assert of.time is not None, "it answers"
        assert against.time is not None, "it answers"
        share, span = of.time / against.time - 1.0, against.range
        found: list[DifferenceCause] = []
        if abs(share) <= TOLD:
            pass  # to find causes costs several replays
        elif of.name == EVENT:
            found = [
                DifferenceCause(name=cause.name, why=cause.why, seconds=-cause.seconds)
                for cause in causes(EventDriven(), *self.question)
            ]
        else:
            found = list(self._of_links(of.name, against.name))
            if against.name == CLOSED:
                found += [
                    DifferenceCause(name=cause.name, why=cause.why, seconds=-cause.seconds)
                    for cause in causes(EventDriven(), *self.question)
                ]
        return EstimatorDifference(
            of=of.name,
            against=against.name,
            seconds=of.time - against.time,
            share=share,
            causes=tuple(sorted(found, key=lambda cause: -abs(cause.seconds))),
            doubt=None if span is None else (span.high - span.low) / 2.0 / against.time,
        )

    def _of_links(self, of: str, against: str) -> list[DifferenceCause]:
        """What links make of the exchanges of each axis: put in one after another."""
        found: list[DifferenceCause] = []
        axes = dict(stretch_of(self.factors.get(against, ())).axes)
        before = self._replayed(axes)
        for factor in self.factors[of]:
            axis = factor.exchange.axis
            axes[axis] = max(factor.factor, 1.0)
            after = self._replayed(axes)
            what = f"{factor.exchange.name} of {factor.groups} groups at once"
            found.append(
                DifferenceCause(
                    name=f"{axis.name}: contention on links",
                    why=f"{what} takes {factor.factor:.3g} times the law of its messages",
                    seconds=after - before,
                )
            )
            before = after
        return found

    def _replayed(self, axes: dict[Any, float]) -> float:
        return EventDriven(stretch=Stretch(axes=tuple(axes.items()))).replayed(*self.question).time
