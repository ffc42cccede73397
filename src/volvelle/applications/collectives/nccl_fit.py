"""NCCL's cost model held to measured nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.collectives.measurements import CollectiveMeasurement
from volvelle.applications.collectives.series import Series, series_of, weighed
from volvelle.applications.fit import least_from
from volvelle.applications.fitted_constants import FittedConstant
from volvelle.applications.measured_table import CalibrationRows
from volvelle.catalogue import Catalogue
from volvelle.catalogue.nccl import nccl_model
from volvelle.estimators.nccl import NcclModel, nccl_group, nccl_times
from volvelle.quantities import FRACTION, SECONDS
from volvelle.system.topologies.switch import Switch
from volvelle.workload.tensor_layout import Collective as Kind

Column = NDArray[np.float64]

_LONG = 1e6
"""Bytes from which on rows are fitted: below, launching decides, which the model does not know."""
_KINDS = {kind.value.replace("-", "_"): kind for kind in (Kind.ALL_REDUCE, Kind.ALL_GATHER, Kind.REDUCE_SCATTER)}
_SAME_ROWS = "vtrain-lut-"
"""Publications whose rows are those of another at fewer sizes."""


def fit_nccl(rows: CalibrationRows[CollectiveMeasurement], catalogue: Catalogue) -> list[FittedConstant]:
    """The share of the model's rate that nodes reach, and the filling that it leaves out.

    Fitted to long messages on one node with switches. The range is that of the fits without each publication.
    """
    model = nccl_model()
    usable = series_of([row for row in rows.rows if not row.head.group.startswith(_SAME_ROWS)], catalogue)
    series = [each for each in usable if _of_a_node(each, model) and (each.sizes > _LONG).any()]
    if not series:
        return []
    share, fill = _least(series, model)
    groups = dict.fromkeys(each.group for each in series)
    without = [_least(left, model) for group in groups if (left := [each for each in series if each.group != group])]
    held = replace(model, rate_reached=share, fill=fill)
    error = float(np.median(np.abs(np.expm1(_residuals(series, held)))))
    count = sum(int((each.sizes > _LONG).sum()) for each in series)
    found = []
    for place, (name, value, kind) in enumerate((("rate_reached", share, FRACTION), ("fill", fill, SECONDS))):
        others = [value, *(each[place] for each in without)]
        ends = min(others), max(others)
        unit = ("%", 100.0) if kind is FRACTION else ("us", 1e6)
        told = [f"{float(f'{number * unit[1]:.3g}'):g} {unit[0]}" for number in (value, *ends)]
        found.append(
            FittedConstant(
                of="NCCL",
                name=name,
                fitted=value,
                catalogue=float(getattr(model, name)),
                kind=kind,
                low=ends[0],
                high=ends[1],
                rows=count,
                error=error,
                yaml=f"{name}: {{value: {told[0]}, kind: derived, source: volvelle-collectives-fit, "
                f"spread: {{interval: [{told[1]}, {told[2]}]}}}}",
            )
        )
    return found


def _of_a_node(series: Series, model: NcclModel) -> bool:
    """Whether the model can be held against a series: chips of one node that switches join."""
    asked, system = series.question.work, series.question.system
    inner = system.dimensions[0]
    known = system.chip.family in model.generations and isinstance(inner.topology, Switch)
    return known and asked.operation in _KINDS and asked.chips <= inner.size


def _least(series: Sequence[Series], model: NcclModel) -> tuple[float, float]:
    found = least_from(
        lambda values: weighed(_long(series), _residuals(series, _with(model, values))),
        {"rate_reached": model.rate_reached, "fill": model.fill},
        most=[1.0, np.inf],
    )
    return found.constants["rate_reached"], found.constants["fill"]


def _with(model: NcclModel, values: Mapping[str, float]) -> NcclModel:
    return replace(model, rate_reached=values["rate_reached"], fill=values["fill"])


def _long(series: Sequence[Series]) -> list[Series]:
    """Series without their short messages."""
    return [
        replace(each, sizes=each.sizes[each.sizes > _LONG], times=each.times[each.sizes > _LONG]) for each in series
    ]


def _residuals(series: Sequence[Series], model: NcclModel) -> Column:
    """ln(predicted / measured) of long messages, row by row."""
    found = []
    for each in _long(series):
        work, system = each.question.work, each.question.system
        group = nccl_group(model, system, _within_a_node(work.chips, len(system.dimensions)))
        told = nccl_times(model, group, _KINDS[work.operation], each.sizes, only=_stated(each.question.decision))
        found.append(np.log(told.time / each.times))
    return np.concatenate(found)


def _stated(algorithm: str) -> str | None:
    """The algorithm that a source names, by the model's name."""
    if algorithm.startswith("Ring") and "Tree" not in algorithm:
        return "ring"
    return "switch" if algorithm == "NVLS" else None


def _within_a_node(chips: int, dimensions: int) -> tuple[int, ...]:
    return (chips, *([1] * (dimensions - 1)))
