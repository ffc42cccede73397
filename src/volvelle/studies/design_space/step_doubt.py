"""How far the time of a design may be off by the model of its steps."""

from collections.abc import Sequence

import numpy as np

from volvelle.estimators.question_error import step_error
from volvelle.estimators.uncertainty import UNVALIDATED
from volvelle.interchange.workload_form import WorkloadForm
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep


def step_doubt(forms: Sequence[WorkloadForm], steps: Sequence[TrainingStep | None], cluster: Cluster) -> float:
    """One standard deviation as a factor, of the workload that is least sure: one model times all of them.

    As stated with a pace, as of an estimate, or where a step is neither as of what was never measured.
    """
    return max((_of(form, step, cluster) for form, step in zip(forms, steps, strict=True)), default=UNVALIDATED)


def _of(form: WorkloadForm, step: TrainingStep | None, cluster: Cluster) -> float:
    if form.pace is not None:
        return form.pace.error_factor
    return UNVALIDATED if step is None else float(np.max(step_error(cluster, step).or_else(UNVALIDATED)))
