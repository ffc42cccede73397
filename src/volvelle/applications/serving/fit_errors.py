"""How far off rows are with constants of an engine: with those fitted to them, or to all groups but their own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from volvelle.applications.cross_validation import REACH
from volvelle.applications.serving.answers import answers
from volvelle.applications.serving.measurements import ServingMeasurement
from volvelle.applications.serving.nearest import Column, constants_without, one_deviation
from volvelle.applications.serving.runs import ServingRun
from volvelle.catalogue.engines import with_experts
from volvelle.errors import VolvelleError
from volvelle.estimators.serving.engine_constants import EngineConstants
from volvelle.laws.model_error import covering_error

AskedRow = tuple[ServingMeasurement, ServingRun]
Asked = Sequence[AskedRow]
WEIGHTS = {"tpot": 1.0, "latency": 1.0, "throughput": 1.0, "ttft": 0.5}
"""How much an error counts; that of the first token hangs on settings that rows do not state."""
LEFT_OUT = ("throughput",)
"""Figures whose errors are those of rows that constants were not fitted to, a chip and model left out at a time. By
other figures that was no nearer: with groups left out, ranges hold 80 % of TPOT and 75 % of TTFT as it is."""
_FEWEST_JUDGED = 8
"""Figures from which on an error is told."""
_OF_LOADS = ("ttft", "tpot", "throughput")
"""Figures of loads: a model is run by one source in one way, and another one by another; so are whole batches."""


def residuals(asked: Sequence[tuple[ServingMeasurement, ServingRun]], constants: EngineConstants) -> Column:
    """Logarithms of predicted over measured; NaN where the model refuses."""
    known: dict[int, Mapping[str, float]] = {}
    found = np.full(len(asked), np.nan)
    for place, (row, run) in enumerate(asked):
        if id(run) not in known:
            known[id(run)] = _answered(run, constants)
        value = known[id(run)].get(row.measure)
        if value is not None and value > 0.0:
            found[place] = np.log(value / row.value)
    return found


def _answered(run: ServingRun, constants: EngineConstants) -> Mapping[str, float]:
    changed = run.instance.with_constants(constants)
    try:
        return answers(replace(run, instance=changed))
    except VolvelleError:
        return {}


def left_out(
    seen: Asked, judged: Asked, constants: EngineConstants, names: Sequence[str], *, hold: float
) -> list[tuple[AskedRow, float]]:
    """Rows to judge by, each with its error by constants nearest to those rows that are of other chips and models."""
    groups = [_group(run) for _, run in seen]
    weights = np.array([WEIGHTS[row.measure] for row, _ in seen])
    without = constants_without(lambda by: residuals(seen, by), constants, names, groups, weights=weights, hold=hold)
    found: list[tuple[AskedRow, float]] = []
    for group, others in without.items():
        own = [(row, run) for row, run in judged if row.measure in LEFT_OUT and _group(run) == group]
        found += zip(own, residuals(own, others), strict=True)
    return found


def _group(run: ServingRun) -> str:
    return f"{run.instance.chip.name}/{run.instance.served.shape.name}"


def errors_of(judged: Sequence[tuple[AskedRow, float]], *, strange: bool = False) -> dict[str, float]:
    """One standard deviation as a factor, by figure; for models with experts apart where there are enough of both.

    Where rows are `strange` to their constants, as those of `LEFT_OUT` may be, their groups count alike.
    """
    error = {}
    for measure in WEIGHTS:
        own = [(run, row, value) for (row, run), value in judged if row.measure == measure and np.isfinite(value)]
        spread = [one for one in own if one[0].instance.served.shape.experts is not None]
        dense = [one for one in own if one[0].instance.served.shape.experts is None]
        if min(len(spread), len(dense)) >= _FEWEST_JUDGED:
            error[measure], error[with_experts(measure)] = _factor(dense, strange), _factor(spread, strange)
        elif len(own) >= _FEWEST_JUDGED:
            error[measure] = _factor(own, strange)
    return error


def alike_deviation(groups: Sequence[Sequence[float]]) -> float:
    """One standard deviation as a factor, such that eight in ten lie in the range where groups count alike."""
    errors = np.concatenate([np.asarray(group) for group in groups])
    mean = len(errors) / len(groups)
    weights = np.concatenate([np.full(len(group), mean / len(group)) for group in groups])
    return float(np.exp(covering_error(errors, weights, level=0.8) / REACH))


def _factor(judged: Sequence[tuple[ServingRun, ServingMeasurement, float]], strange: bool) -> float:
    """One standard deviation, such that eight in ten of these errors lie in the range."""
    if strange and judged[0][1].measure in LEFT_OUT:
        groups: dict[str, list[float]] = {}
        for run, _, off in judged:
            groups.setdefault(_group(run), []).append(off)
        return alike_deviation(list(groups.values()))
    models = {run.instance.served.shape.name for run, _, _ in judged}
    several = any(row.measure in _OF_LOADS or row.kind == "static_latency" for _, row, _ in judged)
    return one_deviation([off for _, _, off in judged], models=len(models) if several else None)
