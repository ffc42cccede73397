"""Constants of stencils, fitted to calibration runs: what each kind of kernel makes of a stream."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from volvelle.applications.cross_validation import by_value, cross_validated, groups_error
from volvelle.applications.fitted_constants import Fit, FittedConstant
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.stencil.constants import stencil_constants
from volvelle.applications.stencil.estimator import Kernel, StencilModel
from volvelle.applications.stencil.rows import StencilMeasurement, StencilQuestion, stencil_question
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.quantities import FRACTION, Fraction

_CACHES = (0.25, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class _Run:
    system: str
    kernel: str
    asked: StencilQuestion
    cell_updates: float


def fit_stencil(rows: CalibrationRows[StencilMeasurement], catalogue: Catalogue) -> Fit:
    """Fit to calibration rows, by least absolute deviations of logarithms, every system counting once."""
    runs = [
        _Run(row.system, row.kernel, asked, row.cell_updates)
        for row in rows.rows
        if row.cell_updates and not isinstance(asked := stencil_question(row, catalogue), str)
    ]
    if not runs:
        raise DescriptionError("no calibration row of a stencil can be asked about")
    tried = {share: _shares(runs, share) for share in _CACHES}
    cache = min(tried, key=lambda share: _loss(runs, tried[share]))
    shares = tried[cache]
    places = range(len(runs))

    def left(rest: Sequence[int], out: Sequence[int]) -> list[float] | None:
        known = _levels([runs[place] for place in rest], [shares[place] for place in rest])
        errors = [known[runs[place].kernel] - np.log(shares[place]) for place in out if runs[place].kernel in known]
        return [float(np.median(errors))] if errors else None

    error = groups_error(cross_validated(places, by_value(places, lambda place: runs[place].system), left))
    held = stencil_constants()
    found = {name: float(np.exp(level)) for name, level in _levels(runs, shares).items()}
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


def _shares(runs: Sequence[_Run], cache: Fraction) -> list[float]:
    """Of a stream, that each run reached; memory bounds all of them."""
    found = []
    for run in runs:
        whole = replace(run.asked.calibration, plain=1.0, blocked=1.0, cache_share=cache)
        estimate = StencilModel(constants=whole).estimate(run.asked.work, run.asked.system, run.asked.decision)
        found.append(run.cell_updates / estimate.facts["cell_updates"])
    return found


def _levels(runs: Sequence[_Run], shares: Sequence[float]) -> dict[str, float]:
    """Logarithm of the share of each kind of kernel: the middle of its systems, each by the middle of its runs."""
    found = {}
    for kernel in get_args(Kernel):
        systems: dict[str, list[float]] = {}
        for run, share in zip(runs, shares, strict=True):
            if run.kernel == kernel:
                systems.setdefault(run.system, []).append(float(np.log(share)))
        if systems:
            found[kernel] = float(np.median([np.median(logs) for logs in systems.values()]))
    return found


def _loss(runs: Sequence[_Run], shares: Sequence[float]) -> float:
    levels = _levels(runs, shares)
    by_system: dict[str, list[float]] = {}
    for run, share in zip(runs, shares, strict=True):
        by_system.setdefault(run.system, []).append(abs(float(np.log(share)) - levels[run.kernel]))
    return float(np.mean([np.mean(errors) for errors in by_system.values()]))
