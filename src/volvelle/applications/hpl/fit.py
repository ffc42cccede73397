"""Constants of High-Performance Linpack for one family, fitted to its calibration runs.

The loss is the mean of the absolute logarithmic errors, so that a badly run machine pulls no harder than any other.
Runs that a site listed again count once; single runs, whose sources state what was run, count three times as much as
entries of a list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log

import numpy as np

from volvelle.applications.cross_validation import REACH
from volvelle.applications.fit import Column, least_within
from volvelle.applications.fitted_constants import Fit, searched_fit
from volvelle.applications.hpl.constants import hpl_constants
from volvelle.applications.hpl.panels import PanelByPanel
from volvelle.applications.hpl.rows import HplMeasurement, HplQuestion, beyond_its_network, hpl_question
from volvelle.applications.measured_table import CalibrationRows
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.quantities import SECONDS

BOUNDS: dict[str, dict[str, tuple[float, float]]] = {
    "pascal": {
        "work_per_joule": (12e9, 30e9),
        "efficiency": (0.7, 1.0),
        "column": (1e-6, 60e-6),
        "staged": (0.0, 0.5),
    },
    "volta": {"work_per_joule": (15e9, 35e9), "efficiency": (0.7, 1.0), "column": (1e-6, 60e-6)},
    "ampere": {
        "work_per_joule": (38e9, 80e9),
        "efficiency": (0.7, 1.0),
        "column": (1e-6, 80e-6),
        "panel_intensity": (0.1, 0.8),
    },
    "hopper": {"work_per_joule": (50e9, 150e9), "efficiency": (0.7, 1.0), "column": (1e-6, 80e-6)},
    "blackwell": {"work_per_joule": (30e9, 150e9), "efficiency": (0.4, 1.0)},
    "cdna2": {"efficiency": (0.3, 0.7), "column": (1e-6, 120e-6)},
    "cdna3": {"efficiency": (0.3, 0.9), "column": (1e-6, 120e-6)},
    "ponte-vecchio": {"efficiency": (0.25, 0.6)},
    "a64fx": {"efficiency": (0.8, 1.0)},
}
"""What is fitted for each family that has calibration runs; what all families share is fitted with the largest."""
_KINDS = {"column": SECONDS, "work_per_joule": None, "panel_intensity": None}


@dataclass(frozen=True, slots=True)
class HplRun:
    """A calibration run that counts in a fit."""

    row: HplMeasurement
    asked: HplQuestion
    rate: float
    weight: float


def family_runs(family: str, rows: CalibrationRows[HplMeasurement], catalogue: Catalogue) -> list[HplRun]:
    """Calibration runs of a family, each configuration once."""
    found: dict[tuple[int, int, int], HplRun] = {}
    for row in rows.rows:
        asked = hpl_question(row, catalogue)
        if isinstance(asked, str) or asked.calibration.family != family or row.rate is None:
            continue
        if beyond_its_network(row, asked):
            continue
        key = asked.work.order, asked.decision.processes, round(row.rate / 1e12)
        found.setdefault(key, HplRun(row, asked, row.rate, 1.0 if row.head.group == "top500" else 3.0))
    return list(found.values())


def fit_hpl(
    family: str,
    rows: CalibrationRows[HplMeasurement],
    catalogue: Catalogue,
    *,
    starts: int = 2,
    rounds: int = 6,
    candidates: int = 60,
) -> Fit:
    """Fit one family's constants to its calibration runs; the best of several searches counts."""
    if family not in BOUNDS:
        raise DescriptionError(f"no calibration run is on {family!r}; there are runs on {', '.join(BOUNDS)}")
    runs = family_runs(family, rows, catalogue)
    if not runs:
        raise DescriptionError(f"no calibration row is a run on {family!r} that can be asked about")
    weights = [run.weight for run in runs]

    def losses(columns: Mapping[str, Column]) -> Column:
        points = [dict(zip(columns, map(float, point), strict=True)) for point in zip(*columns.values(), strict=True)]
        return np.array([np.average(np.abs(_errors(runs, point)), weights=weights) for point in points])

    best = least_within(losses, BOUNDS[family], candidates=candidates, rounds=rounds, starts=starts)
    logarithms, held = _errors(runs, best.constants), hpl_constants(family)
    error = exp(float(np.quantile(np.abs(logarithms), 0.8)) / REACH)
    fit = searched_fit(
        best,
        np.exp(logarithms) - 1.0,
        of=family,
        held={name: float(getattr(held, name)) for name in best.constants},
        kinds=_KINDS,
        nearly=0.03,
        calibration=replace(held, **best.constants),  # type: ignore[arg-type]
    )
    said = f"{fit.notes[0]}; four fifths within a factor of {error:.2f} a standard deviation"
    return replace(fit, notes=(said,), scores={**fit.scores, "error": error})


def _errors(runs: Sequence[HplRun], values: Mapping[str, float]) -> Column:
    """Logarithms of predicted over measured, for one candidate."""
    return np.array([log(predicted_rate(run, values) / run.rate) for run in runs])


def predicted_rate(run: HplRun, values: Mapping[str, float]) -> float:
    """FLOP/s of a run with other constants of its family."""
    constants = replace(run.asked.calibration, **values)  # type: ignore[arg-type]
    return PanelByPanel(constants=constants).estimate(run.asked.work, run.asked.system, run.asked.decision).rate
