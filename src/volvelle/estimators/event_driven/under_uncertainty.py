"""A replayed step with the ranges of the closed form, or with those of some replays that the closed form carries on.

On sampled machines the two go together (correlation above 0.9999), so that a replay of each would say little more.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.event_driven.estimator import EventDriven
from volvelle.estimators.result import Range, TrainingEstimate
from volvelle.estimators.sampled_replay import MOST_REPLAYS, evenly
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import Samples, UnderUncertainty
from volvelle.laws.sensitivity import by_control_variate
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep


def replayed_under_uncertainty(
    workload: TrainingStep,
    system: Cluster,
    mapping: ParallelMapping,
    *,
    seed: int,
    stragglers: tuple[tuple[int, float], ...] = (),
    replays: int = 0,
) -> tuple[TrainingEstimate, Samples]:
    """The replay of a step, and the closed form's samples of it by as much longer or shorter as the replay is.

    With `replays`, so many of the sampled machines are replayed too, evenly over the times that the closed form has of
    them, and the others follow by the closed form as a control variate.
    """
    closed, samples = UnderUncertainty(estimator=ClosedForm(), seed=seed).with_samples(workload, system, mapping)
    estimator = EventDriven(stragglers=stragglers)
    event = estimator.estimate(workload, system, mapping)
    if not event.could_exist:
        return replace(closed, violations=event.violations), samples
    facts, moved = dict(closed.facts), np.asarray(event.time / closed.time)
    if replays:
        logs = np.log(np.broadcast_to(_closed_times(workload, samples.system, mapping), samples.time.shape))
        chosen = evenly(logs, min(replays, MOST_REPLAYS))
        seen = np.log([estimator.estimate(workload, samples.system.row(int(at)), mapping).time for at in chosen])
        found, facts["replay_correlation"] = by_control_variate(seen, logs[chosen], logs)
        found[chosen] = seen
        # Around the step that was asked about, as the closed form's samples are.
        moved = np.exp(found - logs - np.median(found - logs)) * moved
    samples, span = moved_samples(samples, event.time, moved)
    ranges = {**closed.ranges, "time": span}
    return replace(closed, contributions=event.contributions, ranges=ranges, facts=facts), samples


def moved_samples(samples: Samples, time: float, moved: NDArray[np.float64] | float) -> tuple[Samples, Range]:
    """Samples of another estimator whose answer is `time`: by as much longer or shorter; and the range of its time."""
    samples = replace(samples, time=samples.time * moved)
    return samples, samples.ranges()["time"].holding(time)


def _closed_times(workload: TrainingStep, machines: Cluster, mapping: ParallelMapping) -> NDArray[np.float64]:
    return ClosedForm().table(workload, machines, MappingTable.of([mapping])).time
