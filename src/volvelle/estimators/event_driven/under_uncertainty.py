"""A replayed step with the ranges of the closed form: a replay of every sampled machine would say little more."""

from dataclasses import replace

from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.estimators.result import TrainingEstimate
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import Samples, UnderUncertainty
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep


def replayed_under_uncertainty(
    workload: TrainingStep,
    system: Cluster,
    mapping: ParallelMapping,
    *,
    seed: int,
    stragglers: tuple[tuple[int, float], ...] = (),
) -> tuple[TrainingEstimate, Samples]:
    """The replay of a step, and the closed form's samples of it by as much longer or shorter as the replay is."""
    closed, samples = UnderUncertainty(estimator=ClosedForm(), seed=seed).with_samples(workload, system, mapping)
    event = EventDriven(stragglers=stragglers).estimate(workload, system, mapping)
    if not event.could_exist:
        return replace(closed, violations=event.violations), samples
    samples = replace(samples, time=samples.time * (event.time / closed.time))
    ranges = {**closed.ranges, "time": samples.ranges()["time"].holding(event.time)}
    return replace(closed, contributions=event.contributions, ranges=ranges), samples
