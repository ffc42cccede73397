"""Constants of HPL-MxP, fitted to calibration runs: a share of the peak a family, and what panels cost all of them.

The fit is by least absolute deviations of logarithms, every system counting once however often it ran. What all
families share is tried on a coarse grid: a dozen runs tell no more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from volvelle.applications.cross_validation import by_value, cross_validated, groups_error, rows_error
from volvelle.applications.fitted_constants import Fit, FittedConstant
from volvelle.applications.hpl_mxp.constants import mxp_families, shared_constants
from volvelle.applications.hpl_mxp.estimator import MixedPrecisionHpl, MxpConstants, MxpEstimate
from volvelle.applications.hpl_mxp.rows import MxpMeasurement, MxpQuestion, mxp_question
from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.system_levels import (
    LabelledShare,
    distance_from_levels,
    left_out_error,
    system_levels,
)
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.laws.model_error import combined_doubt
from volvelle.quantities import FRACTION, SECONDS, Fraction, Quantity, Seconds

_WAITING = (0.2, 0.6, 1.0)
_COLUMNS = (0.0, 2e-6, 5e-6, 10e-6, 20e-6, 40e-6)
_HALVINGS = 24
_LEAST, _MOST = 0.01, 1.0
"""Shares of the peak between which a run's is looked for."""


@dataclass(frozen=True, slots=True)
class MxpRun:
    """A calibration run that can be asked about."""

    system: str
    family: str
    asked: MxpQuestion
    row: MxpMeasurement


def stated_rate(row: MxpMeasurement, estimate: MxpEstimate) -> float:
    """What the model says of what a row states: the rate of the whole run, or of its factorisation."""
    return estimate.work / estimate.facts["factorisation"] if row.figure == "factorisation" else estimate.rate


def fit_mxp(rows: CalibrationRows[MxpMeasurement], catalogue: Catalogue) -> Fit:
    """Fit to calibration rows."""
    runs = mxp_runs(rows, catalogue)
    waiting, column, shares = least_shares(runs)
    levels = system_levels(shares)
    logs = np.array(list(levels.values()))
    within = rows_error(cross_validated(shares, by_value(shares, lambda run: run.system), left_out_error))
    others = [[float((logs.sum() - level) / (len(logs) - 1) - level)] for level in logs] if len(logs) > 1 else []
    between = float(combined_doubt(within, [(groups_error(others), 1.0)]))
    found: dict[str, tuple[float, Quantity | None]] = {
        "waiting": (waiting, FRACTION),
        "column": (column, SECONDS),
        "population": (float(np.exp(logs.mean())), FRACTION),
        "within_error": (within, None),
        "population_error": (between, None),
    }
    held = shared_constants()
    constants = [
        FittedConstant(of="all", name=name, fitted=value, catalogue=held[name], kind=kind)
        for name, (value, kind) in found.items()
    ]
    constants += [
        FittedConstant(
            of=name,
            name="share of the peak",
            fitted=float(np.exp(level)),
            catalogue=mxp_families().get(name),
            kind=FRACTION,
        )
        for name, level in levels.items()
    ]
    systems = len({run.system for run in runs})
    return Fit(
        constants=tuple(constants),
        notes=(f"Calibration runs: {len(runs)}, of {systems} systems. Errors are factors of one standard deviation.",),
        scores={"rows": float(len(runs)), "systems": float(systems)},
        calibration={name: float(np.exp(level)) for name, level in levels.items()},
    )


def mxp_runs(rows: CalibrationRows[MxpMeasurement], catalogue: Catalogue) -> list[MxpRun]:
    """Runs that can be asked about."""
    runs = [
        MxpRun(row.system, catalogue.chip_file(row.chip).family, asked, row)
        for row in rows.rows
        if not isinstance(asked := mxp_question(row, catalogue), str)
    ]
    if not runs:
        raise DescriptionError("no calibration row of HPL-MxP can be asked about")
    return runs


def least_shares(runs: Sequence[MxpRun]) -> tuple[float, float, list[LabelledShare]]:
    """What panels wait and cost where runs of a family are most alike, and the share of its peak that each reached."""
    tried = {(waiting, column): _shares(runs, waiting, column) for waiting, column in product(_WAITING, _COLUMNS)}
    waiting, column = min(tried, key=lambda each: distance_from_levels(tried[each], system_levels(tried[each])))
    return waiting, column, tried[waiting, column]


def _shares(runs: Sequence[MxpRun], waiting: Fraction, column: Seconds) -> list[LabelledShare]:
    """The share of the peak by which each run comes out as measured."""
    return [
        LabelledShare(
            run.family, run.system, _share(run, replace(run.asked.calibration, waiting=waiting, column=column))
        )
        for run in runs
    ]


def _share(run: MxpRun, constants: MxpConstants) -> float:
    low, high = _LEAST, _MOST
    problem, grid = run.asked.candidates[0]
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        model = MixedPrecisionHpl(constants=replace(constants, efficiency=middle))
        slow = stated_rate(run.row, model.estimate(problem, run.asked.system, grid)) < (run.row.rate or 0.0)
        low, high = (middle, high) if slow else (low, middle)
    return float(np.sqrt(low * high))
