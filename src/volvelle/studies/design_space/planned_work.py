"""Workloads that are planned point by point: HPL, HPCG, FFT and recommendation models, by the same machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from volvelle.applications.dlrm.constants import dlrm_model
from volvelle.applications.dlrm.estimator import DlrmStep
from volvelle.applications.dlrm.models import named_dlrm
from volvelle.applications.dlrm.plan import rank_dlrm
from volvelle.applications.fft.constants import fft_model_error
from volvelle.applications.fft.estimator import FftModel, FftProblem
from volvelle.applications.fft.plan import rank_fft
from volvelle.applications.hpcg.constants import hpcg_factors
from volvelle.applications.hpcg.plan import plan_hpcg
from volvelle.applications.hpl.constants import hpl_constants
from volvelle.applications.hpl.panels import PanelByPanel
from volvelle.applications.hpl.plan import plan_hpl
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.interchange.study_file import WorkloadForm
from volvelle.laws.hpl.closed_form import hpl_memory
from volvelle.studies.design_space.measures import Worked
from volvelle.studies.design_space.points import REASONS
from volvelle.system.cluster import Cluster
from volvelle.workload.families.dlrm import dlrm
from volvelle.workload.operations import Phase
from volvelle.workload.transforms import with_backward

__all__ = ["planned_work"]

_EXA = 1e18
"""FLOP that a run of HPCG is taken for: it has no end of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What one point's plan comes to."""

    time: float
    memory: float
    work: float
    samples: float
    peak: float
    """Of one chip, in the element type it runs in."""


class _Plan(Protocol):
    def __call__(self, form: WorkloadForm, cluster: Cluster, catalogue: Catalogue, /) -> _Run | None:
        """The best run on a machine; None: none fits."""


def planned_work(form: WorkloadForm, cluster: Cluster, catalogue: Catalogue, rows: int) -> Worked:
    """What such a workload does at the points of a slice, one by one."""
    assert form.run is not None, "checked when read"
    plan = _PLANS[form.run]
    alike = cluster.row(0) is cluster
    runs = [_planned(plan, form, cluster.row(row), catalogue) for row in range(1 if alike else rows)]
    runs = runs * rows if alike else runs
    nothing = _Run(time=np.nan, memory=np.nan, work=np.nan, samples=np.nan, peak=np.nan)
    found = [run or nothing for run in runs]
    return Worked(
        name=form.called,
        time=np.array([run.time for run in found]),
        memory=np.array([run.memory for run in found]),
        violated=np.array([0 if run else REASONS.index("memory") for run in runs], dtype=np.int8),
        work=np.array([run.work for run in found]),
        peak=np.array([run.peak for run in found]),
        tokens=0.0,
        samples=float(np.nanmax([1.0, *(run.samples for run in found)])),
        weight=form.weight,
        run_tokens=form.tokens,
    )


def _planned(plan: _Plan, form: WorkloadForm, cluster: Cluster, catalogue: Catalogue) -> _Run | None:
    try:
        return plan(form, cluster, catalogue)
    except VolvelleError as error:
        raise type(error)(f"workload {form.called!r}: {error}") from None


def _hpl(form: WorkloadForm, cluster: Cluster, catalogue: Catalogue, /) -> _Run | None:
    constants = hpl_constants(catalogue.chip_file(cluster.chip.name).family)
    found = plan_hpl(cluster, PanelByPanel(constants=constants), top=1).best
    if not found:
        return None
    best = found[0]
    held = float(hpl_memory(float(best.problem.order))) / cluster.accelerators
    peak = best.peak / cluster.accelerators
    return _Run(time=best.time, memory=held, work=best.work, samples=1.0, peak=peak)


def _hpcg(form: WorkloadForm, cluster: Cluster, catalogue: Catalogue, /) -> _Run | None:
    family = catalogue.chip_file(cluster.chip.name).family
    found = plan_hpcg(cluster, hpcg_factors(family, catalogue=catalogue))
    peak = float(cluster.chip.matrix_rate("fp64")) if "fp64" in cluster.chip.matrix_rates else np.nan
    rate = float(np.max(found.expected.rate))
    return _Run(time=_EXA / rate, memory=float(np.max(found.memory)), work=_EXA, samples=1.0, peak=peak)


def _fft(form: WorkloadForm, cluster: Cluster, catalogue: Catalogue, /) -> _Run | None:
    assert form.size is not None, "checked when read"
    edge = form.size
    problem = FftProblem(shape=(edge, edge, edge))
    ranked = rank_fft(problem, cluster, model=FftModel(error=fft_model_error().on(cluster)), top=1)
    if not ranked.best:
        return None
    best = ranked.best[0]
    peak = float(cluster.chip.vector_rates.get("fp64", np.nan))
    return _Run(time=best.time, memory=float(best.memory), work=best.rate * best.time, samples=1.0, peak=peak)


def _dlrm(form: WorkloadForm, cluster: Cluster, catalogue: Catalogue, /) -> _Run | None:
    assert form.model is not None, "checked when read"
    assert form.batch is not None, "checked when read"
    step = DlrmStep(shape=named_dlrm(form.model), batch=form.batch, matrix_element=form.element)
    ranked = rank_dlrm(step, cluster, model=dlrm_model("hugectr", cluster), top=1)
    if not ranked.best:
        return None
    best = ranked.best[0]
    peak = float(cluster.chip.matrix_rate(form.element))
    whole = with_backward(dlrm(step.shape, batch=form.batch))
    work = sum(whole.flops(phase=phase) for phase in (Phase.FORWARD, Phase.BACKWARD))
    return _Run(time=best.time, memory=best.memory_bytes, work=work, samples=float(form.batch), peak=peak)


_PLANS: Mapping[str, _Plan] = {"hpl": _hpl, "hpcg": _hpcg, "fft": _fft, "dlrm": _dlrm}
