"""Constants of HPCG, fitted to calibration runs: what a family sustains of its read stream, what scaling loses.

The fit is by least absolute deviations of logarithms, every system counting once however often it was run. It is
small enough for a grid: two losses of scaling are shared by all accelerators, and each family has one level.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.catalogue.hpcg_constants import hpcg_factors, hpcg_families
from volvelle.catalogue.hpcg_measurements import HpcgMeasurement
from volvelle.errors import DescriptionError
from volvelle.laws.hpcg import few_ranks_efficiency, hpcg_rate, hpcg_scaling_efficiency
from volvelle.study.hpcg_rows import HpcgQuestion, hpcg_question

__all__ = ["EARLY", "HpcgFit", "fit_hpcg"]

EARLY = "202112"
"""Ampere runs up to here are a level of their own: they ran builds that later runs, of sites by themselves, did not."""

_STEPS = np.arange(0.0, 0.151, 0.005)
_DOUBLINGS = np.arange(0.0, 0.0101, 0.001)
_HALVES = np.arange(0.0, 40.5, 1.0)
_STUDENT = 1.28
"""Student's 80 % reach over the normal one, for the spread of four families."""
Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class HpcgFit:
    """What calibration runs say."""

    step: float
    """Lost by accelerators when a run first crosses a network."""
    doubling: float
    host_step: float
    few_ranks: float
    solver: Mapping[str, float]
    """HPCG over streaming by family; builds of Ampere up to 2021 as ``ampere-early``."""
    within: float
    """One standard deviation within families, as a factor: four fifths of the runs lie within it to the power 1.28."""
    population: float
    """HPCG over streaming of a family of accelerators that was not fitted."""
    population_spread: float
    runs: int


@dataclass(frozen=True, slots=True)
class _Point:
    level: str
    system: str
    host: bool
    nodes: float
    ranks: float
    logarithm: float
    """Of the measured rate over intensity, streaming and bandwidth."""
    weight: float


def fit_hpcg(rows: Sequence[HpcgMeasurement]) -> HpcgFit:
    """Fit to calibration rows; rows of any other split are refused."""
    strange = {row.head.split for row in rows} - {"calibration"}
    if strange:
        raise DescriptionError(f"a fit takes calibration rows only, not {', '.join(sorted(strange))}")
    points = _points(rows)
    accelerators = [point for point in points if not point.host]
    hosts = [point for point in points if point.host]
    _, step, doubling = min(
        (_loss(accelerators, step=s, doubling=d, half=0.0), float(s), float(d)) for s in _STEPS for d in _DOUBLINGS
    )
    _, host_step, half = min(
        (_loss(hosts, step=s, doubling=doubling, half=h), float(s), float(h)) for s in _STEPS for h in _HALVES
    )
    levels = {
        **_levels(accelerators, step=step, doubling=doubling, half=0.0),
        **_levels(hosts, step=host_step, doubling=doubling, half=half),
    }
    within = _within(accelerators, _left(accelerators, levels, step=step, doubling=doubling, half=0.0))
    seen = np.array([level for name, level in levels.items() if name in _fitted_accelerators()])
    between = float(np.std(seen, ddof=1) * np.sqrt(1 + 1 / len(seen)) * _STUDENT)
    return HpcgFit(
        step=step,
        doubling=doubling,
        host_step=host_step,
        few_ranks=half,
        solver={name: float(np.exp(level)) for name, level in levels.items()},
        within=float(np.exp(within)),
        population=float(np.exp(np.mean(seen))),
        population_spread=float(np.exp(np.hypot(within, between))),
        runs=len(points),
    )


def _within(points: Sequence[_Point], left: Column) -> float:
    """One standard deviation of systems around the level of their family, by what four fifths of them keep to.

    A system counts once, and only families of three or more systems count: one run many times says nothing of others.
    """
    systems: dict[tuple[str, str], list[float]] = {}
    for point, value in zip(points, left, strict=True):
        systems.setdefault((point.level, point.system), []).append(float(value))
    sizes = Counter(level for level, _ in systems)
    off = [abs(float(np.median(values))) for (level, _), values in systems.items() if sizes[level] >= 3]
    levels = sum(size >= 3 for size in sizes.values())
    return float(np.quantile(off, 0.8)) / 1.2816 * float(np.sqrt(len(off) / (len(off) - levels)))


def _fitted_accelerators() -> set[str]:
    """Families whose level as of today stands for the class."""
    return {name for name, kind in hpcg_families().items() if kind == "accelerator"}


def _points(rows: Sequence[HpcgMeasurement]) -> list[_Point]:
    asked = [(row, question) for row in rows if isinstance(question := hpcg_question(row), HpcgQuestion)]
    if not asked:
        raise DescriptionError("no calibration row of HPCG can be asked about")
    kinds = hpcg_families()
    repeats = Counter((row.system, question.run.nodes, question.run.ranks_per_device) for row, question in asked)
    found = []
    for row, question in asked:
        run = question.run
        factors = hpcg_factors(question.family)
        whole = hpcg_rate(
            run.devices,
            intensity=factors.intensity.value,
            memory_rate=run.memory_rate,
            streaming=factors.streaming.value,
            solver=1.0,
        )
        assert row.rate is not None, "a row without a rate puts no question"
        early = question.family == "ampere" and question.date <= EARLY
        found.append(
            _Point(
                "ampere-early" if early else question.family,
                row.system,
                kinds[question.family] == "host",
                float(run.nodes),
                float(run.ranks_per_device),
                float(np.log(row.rate / whole)),
                1.0 / repeats[row.system, run.nodes, run.ranks_per_device],
            )
        )
    return found


def _apart(points: Sequence[_Point], *, step: float, doubling: float, half: float) -> Column:
    """Logarithms with scaling and ranks taken out."""
    nodes = np.array([point.nodes for point in points])
    ranks = np.array([point.ranks for point in points])
    scaling = hpcg_scaling_efficiency(nodes, step=step, doubling=doubling) * few_ranks_efficiency(ranks, half=half)
    return np.asarray(np.array([point.logarithm for point in points]) - np.log(scaling))


def _levels(points: Sequence[_Point], *, step: float, doubling: float, half: float) -> dict[str, float]:
    values = _apart(points, step=step, doubling=doubling, half=half)
    found = {}
    for name in sorted({point.level for point in points}):
        mine = np.array([point.level == name for point in points])
        weights = np.array([point.weight for point in points])[mine]
        found[name] = _weighted_quantile(values[mine], weights, 0.5)
    return found


def _left(
    points: Sequence[_Point], levels: Mapping[str, float], *, step: float, doubling: float, half: float
) -> Column:
    values = _apart(points, step=step, doubling=doubling, half=half)
    return np.asarray(values - np.array([levels[point.level] for point in points]))


def _loss(points: Sequence[_Point], *, step: float, doubling: float, half: float) -> float:
    levels = _levels(points, step=step, doubling=doubling, half=half)
    left = np.abs(_left(points, levels, step=step, doubling=doubling, half=half))
    weights = np.array([point.weight for point in points])
    return float(weights @ left / weights.sum())


def _weighted_quantile(values: Column, weights: Column, share: float) -> float:
    order = np.argsort(values)
    reached = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    return float(np.interp(share, reached, values[order]))
