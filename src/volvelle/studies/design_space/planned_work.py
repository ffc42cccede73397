"""Workloads that are planned point by point: applications such as HPL, HPCG, stencils and recommendation models."""

from collections.abc import Callable, Mapping
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

_OPTIONS: Mapping[str, Callable[[WorkloadForm], dict[str, Any]]] = {
    "hpl": lambda form: {},
    "hpcg": lambda form: {},
    "fft": lambda form: {"grid": str(form.size)},
    "dlrm": lambda form: {"model": form.model, "batch": form.batch, "element": form.element},
    "hpl-mxp": lambda form: {**_element(form)},
    "stencil": lambda form: {"grid": str(form.size), "points": str(form.points), "scaling": False, **_element(form)},
}
"""What the form of a study says, as options of the application's plan."""


def _element(form: WorkloadForm) -> dict[str, Any]:
    """The element type where the study says one; else it is the application's own."""
    return {"element": form.element} if "element" in form.model_fields_set else {}


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
        samples=float(form.batch or 1) if any(plans) else 1.0,
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
    assert form.run is not None, "checked when read"
    return planning.space(cluster, catalogue, planning.plan_question(on=cluster, **_OPTIONS[form.run](form)))
