"""Constants of stencils, fitted to calibration runs: what each kind of kernel makes of a stream."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from volvelle.applications.cross_validation import by_value, cross_validated, groups_error
from volvelle.applications.fitted_constants import Fit, FittedConstant
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.stencil.constants import stencil_constants
from volvelle.applications.stencil.estimator import StencilModel
from volvelle.applications.stencil.rows import StencilMeasurement, StencilQuestion, stencil_question
from volvelle.applications.system_levels import (
    LabelledShare,
    distance_from_levels,
    left_out_error,
    system_levels,
)
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.quantities import FRACTION, Fraction

_CACHES = (0.25, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class StencilRun:
    """A calibration run that can be asked about."""

    row_id: str
    system: str
    kernel: str
    asked: StencilQuestion
    cell_updates: float


def fit_stencil(rows: CalibrationRows[StencilMeasurement], catalogue: Catalogue) -> Fit:
    """Fit to calibration rows, by least absolute deviations of logarithms, every system counting once."""
    runs = stencil_runs(rows, catalogue)
    cache, shares = least_shares(runs)
    error = groups_error(cross_validated(shares, by_value(shares, lambda run: run.system), left_out_error))
    held = stencil_constants()
    found = {name: float(np.exp(level)) for name, level in system_levels(shares).items()}
    named = {**found, "cache_share": cache}
    constants = [
        FittedConstant(of="all", name=name, fitted=value, catalogue=getattr(held, name), kind=FRACTION)
        for name, value in named.items()
    ]
    constants.append(FittedConstant(of="all", name="error", fitted=error, catalogue=held.error))
    systems = len({run.system for run in runs})
    return Fit(
        constants=tuple(constants),
        notes=(f"Calibration runs: {len(runs)}, of {systems} systems.",),
        scores={"rows": float(len(runs)), "systems": float(systems)},
        calibration={**named, "error": error},
    )


def stencil_runs(rows: CalibrationRows[StencilMeasurement], catalogue: Catalogue) -> list[StencilRun]:
    """Runs that can be asked about."""
    runs = [
        StencilRun(row.head.row_id, row.system, row.kernel, asked, row.cell_updates)
        for row in rows.rows
        if row.cell_updates and not isinstance(asked := stencil_question(row, catalogue), str)
    ]
    if not runs:
        raise DescriptionError("no calibration row of a stencil can be asked about")
    return runs


def least_shares(runs: Sequence[StencilRun]) -> tuple[float, list[LabelledShare]]:
    """The share of a cache by which runs of a kind of kernel are most alike, and what each then reached."""
    tried = {share: _shares(runs, share) for share in _CACHES}
    cache = min(tried, key=lambda share: distance_from_levels(tried[share], system_levels(tried[share])))
    return cache, tried[cache]


def _shares(runs: Sequence[StencilRun], cache: Fraction) -> list[LabelledShare]:
    """Of a stream, that each run reached; memory bounds all of them."""
    found = []
    for run in runs:
        whole = replace(run.asked.calibration, plain=1.0, blocked=1.0, cache_share=cache)
        estimate = StencilModel(constants=whole).estimate(run.asked.work, run.asked.system, run.asked.decision)
        share = run.cell_updates / estimate.facts["cell_updates"]
        found.append(LabelledShare(run.kernel, run.system, share))
    return found
