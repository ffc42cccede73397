"""Constants of High-Performance Linpack for one family, fitted to its calibration runs.

A few rounds of stratified samples, each around the best of the round before; the loss is the mean of the absolute
logarithmic errors, so that a badly run machine pulls no harder than any other. Runs that a site listed again count
once; single runs, whose sources state what was run, count three times as much as entries of a list.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.hpl.measurements import HplMeasurement
from volvelle.applications.hpl.panels import PanelByPanel
from volvelle.applications.hpl.rows import HplQuestion, hpl_question
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError

__all__ = ["BOUNDS", "HplFit", "family_runs", "fit_hpl"]

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
}
"""What is fitted for each family that has calibration runs; what all families share is fitted with the largest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HplFit:
    """Fitted constants of a family and how well they do on what they were fitted to."""

    family: str
    constants: dict[str, float]
    ranges: dict[str, tuple[float, float]]
    """Where candidates lie that do nearly as well."""
    runs: int
    mean_abs_error: float
    median_abs_error: float
    bias: float
    error: float
    """Factor that four fifths of the runs lie within, as one standard deviation."""


@dataclass(frozen=True, slots=True)
class _Run:
    asked: HplQuestion
    rate: float
    weight: float


def family_runs(family: str, rows: Sequence[HplMeasurement], catalogue: Catalogue) -> list[_Run]:
    """Calibration runs of a family, each configuration once; rows of any other split are refused."""
    other = {row.head.split for row in rows} - {"calibration"}
    if other:
        raise DescriptionError(f"constants are fitted to calibration rows only; these are {', '.join(sorted(other))}")
    found: dict[tuple[int, int, int], _Run] = {}
    for row in rows:
        asked = hpl_question(row, catalogue)
        if isinstance(asked, str) or asked.constants.family != family or row.rate is None:
            continue
        key = asked.problem.order, asked.grid.processes, round(row.rate / 1e12)
        found.setdefault(key, _Run(asked, row.rate, 1.0 if row.head.group == "top500" else 3.0))
    return list(found.values())


def fit_hpl(
    family: str,
    rows: Sequence[HplMeasurement],
    catalogue: Catalogue,
    *,
    starts: int = 2,
    rounds: int = 8,
    candidates: int = 60,
) -> HplFit:
    """Fit one family's constants to its calibration runs."""
    if family not in BOUNDS:
        raise DescriptionError(f"no calibration run is on {family!r}; there are runs on {', '.join(BOUNDS)}")
    runs, bounds = family_runs(family, rows, catalogue), BOUNDS[family]
    names, weights = tuple(bounds), [run.weight for run in runs]
    low, high = (np.array([bounds[name][side] for name in names]) for side in (0, 1))
    tried: list[tuple[float, NDArray[np.float64]]] = []
    for seed in range(starts):
        generator, bottom, top = np.random.default_rng(seed), low, high
        found: list[tuple[float, NDArray[np.float64]]] = []
        for _ in range(rounds):
            slices = np.argsort(generator.random((candidates, len(names))), axis=0)
            points = bottom + (slices + generator.random(slices.shape)) / candidates * (top - bottom)
            found += [(float(np.average(np.abs(_errors(runs, names, p)), weights=weights)), p) for p in points]
            best = min(found, key=lambda pair: pair[0])[1]
            reach = (top - bottom) / 4
            bottom, top = np.maximum(low, best - reach), np.minimum(high, best + reach)
        tried += found
    tried.sort(key=lambda pair: pair[0])
    loss, best = tried[0]
    near = np.array([point for value, point in tried if value <= 1.03 * loss])
    off = _errors(runs, names, best)
    relative = np.exp(off) - 1.0
    return HplFit(
        family=family,
        constants=dict(zip(names, map(float, best), strict=True)),
        ranges={name: (float(near[:, i].min()), float(near[:, i].max())) for i, name in enumerate(names)},
        runs=len(runs),
        mean_abs_error=float(np.mean(np.abs(relative))),
        median_abs_error=float(np.median(np.abs(relative))),
        bias=float(np.mean(relative)),
        error=exp(float(np.quantile(np.abs(off), 0.8)) / 1.2816),
    )


def _errors(runs: Sequence[_Run], names: Sequence[str], point: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of predicted over measured, for one candidate."""
    values = dict(zip(names, map(float, point), strict=True))
    return np.array([log(_predicted(run, values) / run.rate) for run in runs])


def _predicted(run: _Run, values: dict[str, float]) -> float:
    constants = replace(run.asked.constants, **values)  # type: ignore[arg-type]
    return PanelByPanel(constants=constants).run(run.asked.problem, run.asked.cluster, run.asked.grid).rate
