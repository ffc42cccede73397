"""Workloads that are served: the question of ``volvelle serve``, asked at every point of a study."""

from importlib import import_module
from typing import Any

import numpy as np

from volvelle.base.python_function import ask
from volvelle.catalogue import Catalogue
from volvelle.errors import VolvelleError
from volvelle.interchange.workload_form import WorkloadForm
from volvelle.questions.serving import ServeQuestion
from volvelle.studies.design_space.measures import TPOT, TTFT, Worked
from volvelle.studies.design_space.points import REASONS
from volvelle.studies.design_space.step_samples import DrawnOnce, ranged_samples
from volvelle.system.cluster import Cluster

_ANSWERING = "volvelle.verbs.serving.serve"
"""The module whose function answers; it is loaded when a study serves something."""


def served_work(form: WorkloadForm, cluster: Cluster, catalogue: Catalogue, rows: int) -> Worked:
    """Return what serving takes at the points of a slice, one by one; a step produces the output tokens of the load."""
    alike = cluster.row(0) is cluster
    answers = [_answer(form, cluster.row(row), catalogue) for row in range(1 if alike else rows)]
    answers = answers * rows if alike else answers
    asked = form.asked
    assert isinstance(asked, ServeQuestion), "checked when read"
    batch, output = asked.batch or 1, asked.output or 128
    tokens = float(batch * output)
    rates = np.array([np.nan if one.throughput is None else float(one.throughput) for one in answers])
    times = tokens / rates
    return Worked(
        name=form.called,
        time=times,
        memory=np.array([one.memory.value for one in answers]),
        violated=np.array([0 if one.feasible else REASONS.index("memory") for one in answers], dtype=np.int8),
        work=np.nan,
        peak=1.0,
        tokens=tokens,
        samples=float(batch),
        weight=form.weight,
        run_tokens=form.tokens,
        latencies={name: np.array([_latency(one, name) for one in answers]) for name in (TTFT, TPOT)},
        drawn=DrawnOnce(ranged_samples, list(times), [one.ranges.get("latency") for one in answers]),
    )


def _answer(form: WorkloadForm, cluster: Cluster, catalogue: Catalogue) -> Any:
    try:
        return ask(import_module(_ANSWERING).serve, form.asked.changed(on=cluster, catalogue=catalogue))
    except VolvelleError as error:
        raise type(error)(f"workload {form.called!r}: {error}") from None


def _latency(answer: Any, name: str) -> float:
    """Return the mean of a latency in seconds; NaN if it cannot be served."""
    figure = getattr(answer, name) if answer.feasible else None
    mean = getattr(figure, "mean", figure)
    return np.nan if mean is None else float(mean)
