"""How a step may be timed, by the words that people use."""

from collections.abc import Callable, Mapping

from volvelle.estimators.result import TrainingEstimate
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.estimators.uncertainty import Samples, UnderUncertainty
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

Sampled = tuple[TrainingEstimate, Samples]

CLOSED, EVENT = "closed", "event"


def _closed(step: TrainingStep, cluster: Cluster, mapping: ParallelMapping, seed: int) -> Sampled:
    return UnderUncertainty(estimator=ClosedForm(), seed=seed).with_samples(step, cluster, mapping)


def _event(step: TrainingStep, cluster: Cluster, mapping: ParallelMapping, seed: int) -> Sampled:
    from volvelle.estimators.event_driven.under_uncertainty import (  # noqa: PLC0415 - keeps start-up short
        replayed_under_uncertainty,
    )

    return replayed_under_uncertainty(step, cluster, mapping, seed=seed)


ESTIMATORS: Mapping[str, Callable[[TrainingStep, Cluster, ParallelMapping, int], Sampled]] = {
    CLOSED: _closed,
    EVENT: _event,
}
"""Word → how a step is timed: by formulas, or kernel by kernel."""
