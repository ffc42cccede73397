"""Workloads that are planned point by point: applications such as HPL, HPCG, stencils and recommendation models."""

from collections.abc import Callable
from typing import Any

import numpy as np

from volvelle.applications.contract import AnyApplication, Question
from volvelle.applications.range_evidence import RangeEvidence
from volvelle.applications.registry import application
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.estimators.result import Estimate
from volvelle.interchange.workload_form import WorkloadForm
from volvelle.studies.design_space.measures import Worked
from volvelle.studies.design_space.points import REASONS
from volvelle.studies.design_space.step_samples import DrawnOnce, ranged_samples
from volvelle.system.cluster import Cluster

_NAMES = {"size": "grid"}
"""Field of a workload → the option of the application's plan, where they differ."""


def planned_work(form: WorkloadForm, cluster: Cluster, catalogue: Catalogue, rows: int) -> Worked:
    """What such a workload does at the points of a slice, one by one."""
    alike = cluster.row(0) is cluster
    plans = [_planned(form, cluster.row(row), catalogue) for row in range(1 if alike else rows)]
    plans = plans * rows if alike else plans

    def column(figure: Callable[[Estimate[Any, Any]], float]) -> Any:
        return np.array([np.nan if plan is None else figure(plan) for plan in plans])

    return Worked(
        name=form.called,
        time=column(lambda plan: plan.time),
        memory=column(lambda plan: plan.memory_bytes),
        violated=np.array([0 if plan else REASONS.index("memory") for plan in plans], dtype=np.int8),
        work=column(lambda plan: plan.work),
        # Of one chip of the machine, also where some of them idle.
        peak=column(lambda plan: plan.peak * plan.chips / cluster.accelerators),
        tokens=0.0,
        samples=float(getattr(form.asked, "batch", 1)) if any(plans) else 1.0,
        weight=form.weight,
        run_tokens=form.tokens,
        drawn=DrawnOnce(
            ranged_samples,
            [np.nan if plan is None else plan.time for plan in plans],
            [None if plan is None else plan.time_range for plan in plans],
        ),
    )


def planned_evidence(form: WorkloadForm, cluster: Cluster, catalogue: Catalogue) -> RangeEvidence | None:
    """What the range of such a workload rests on, as a plan of it says; None: it has none."""
    assert form.run is not None, "checked when read"
    planning = application(form.run)
    return planning.evidence(_asked(form, planning, cluster, catalogue))


def _planned(form: WorkloadForm, cluster: Cluster, catalogue: Catalogue) -> Estimate[Any, Any] | None:
    """The best run on a machine; None: none fits."""
    assert form.run is not None, "checked when read"
    planning = application(form.run)
    try:
        asked = _asked(form, planning, cluster, catalogue)
        ranking = planning.planner(asked).rank(asked.candidates, asked.system, top=1)
    except VolvelleError as error:
        raise type(error)(f"workload {form.called!r}: {error}") from None
    return ranking.best[0] if ranking.best else None


def _asked(
    form: WorkloadForm, planning: AnyApplication, cluster: Cluster, catalogue: Catalogue
) -> Question[Any, Any, Any]:
    """Return what a plan of the workload tries."""
    fields = {part.name: getattr(form.asked, part.name) for part in form.asked.options()}
    stated: dict[str, Any] = {
        _NAMES.get(name, name): str(value) if name in _NAMES else value for name, value in fields.items()
    }
    return planning.space(cluster, catalogue, planning.plan_question(on=cluster, scaling=False, **stated))
