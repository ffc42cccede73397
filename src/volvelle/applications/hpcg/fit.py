"""Constants of HPCG, fitted to calibration runs: what a family sustains of its read stream, what scaling loses.

The fit is by least absolute deviations of logarithms, every system counting once however often it was run. Two losses
of scaling are shared by all accelerators, and each family has one level. The losses are tried on a grid on purpose:
runs tell them to half a per cent, and a search between would only follow the scatter of single systems.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.cross_validation import REACH, by_value, cross_validated, groups_error, rows_error
from volvelle.applications.fitted_constants import FittedConstant
from volvelle.applications.hpcg.constants import hpcg_factors, hpcg_families
from volvelle.applications.hpcg.rows import HpcgMeasurement, build_date, device_family, hpcg_question
from volvelle.applications.measured_table import CalibrationRows
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.laws.hpcg import few_ranks_efficiency, hpcg_rate, hpcg_scaling_efficiency
from volvelle.laws.model_error import combined_doubt
from volvelle.quantities import FRACTION
from volvelle.spread import Figure

EARLY = "202112"
"""Ampere runs up to here are a level of their own: they ran builds that later runs, of sites by themselves, did not."""

_STEPS = np.arange(0.0, 0.151, 0.005).tolist()
_DOUBLINGS = np.arange(0.0, 0.0101, 0.001).tolist()
_HALVES = np.arange(0.0, 40.5, 1.0).tolist()
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
    population: float | None
    """HPCG over streaming of a family of accelerators that was not fitted; one family says nothing of others."""
    population_spread: float | None
    told: frozenset[str]
    """Whether accelerators, and hosts, ran in several sizes; else losses of scaling are the catalogue's."""
    runs: int


@dataclass(frozen=True, slots=True)
class HpcgPoint:
    """A run that a fit counts."""

    row_id: str
    chips: int
    level: str
    system: str
    host: bool
    nodes: float
    ranks: float
    logarithm: float
    """Of the measured rate over intensity, streaming and bandwidth."""
    weight: float


def fit_hpcg(rows: CalibrationRows[HpcgMeasurement]) -> HpcgFit:
    """Fit to calibration rows."""
    points = hpcg_points(rows)
    accelerators = [point for point in points if not point.host]
    hosts = [point for point in points if point.host]
    lost = accelerators_lost(accelerators)
    host_lost = hosts_lost(hosts, accelerators)
    levels = family_levels(accelerators, lost) | family_levels(hosts, host_lost)
    within = _within(accelerators)
    told = {"accelerators": accelerators, "hosts": hosts}
    # Families whose level as of today stands for the class.
    kinds = hpcg_families()
    seen = np.array([level for name, level in levels.items() if kinds.get(name) == "accelerator"])
    several = len(seen) > 1
    left = [[float((seen.sum() - level) / (len(seen) - 1) - level)] for level in seen] if several else []
    between = groups_error(left)
    return HpcgFit(
        step=lost.step,
        doubling=lost.doubling,
        host_step=host_lost.step,
        few_ranks=host_lost.half,
        solver={name: float(np.exp(level)) for name, level in levels.items()},
        within=within,
        population=float(np.exp(np.mean(seen))) if several else None,
        population_spread=float(combined_doubt(within, [(between, 1.0)])) if several else None,
        told=frozenset(name for name, points in told.items() if _several_sizes(points)),
        runs=len(points),
    )


class _Lost(NamedTuple):
    """What scaling loses: when a run first crosses a network, with every doubling, and with few ranks a device."""

    step: float
    doubling: float
    half: float = 0.0


def _least(points: Sequence[HpcgPoint], tried: Iterable[_Lost], held: _Lost) -> _Lost:
    """The losses that fit best; the catalogue's where all runs are as large, because they do not tell."""
    return min((_loss(points, lost), lost) for lost in tried)[1] if _several_sizes(points) else held


def hosts_lost(hosts: Sequence[HpcgPoint], accelerators: Sequence[HpcgPoint]) -> _Lost:
    """What scaling loses of hosts; every doubling loses as much as of accelerators."""
    held, doubling = hpcg_factors("a64fx"), accelerators_lost(accelerators).doubling
    tried = [_Lost(step, doubling, half) for step in _STEPS for half in _HALVES]
    return _least(hosts, tried, _Lost(held.step.value, doubling, held.few_ranks.value))


def accelerators_lost(points: Sequence[HpcgPoint]) -> _Lost:
    """What scaling loses of accelerators."""
    held = hpcg_factors("hopper")
    tried = [_Lost(step, doubling) for step in _STEPS for doubling in _DOUBLINGS]
    return _least(points, tried, _Lost(held.step.value, held.doubling.value))


def _several_sizes(points: Sequence[HpcgPoint]) -> bool:
    return len({(point.nodes, point.ranks) for point in points}) > 1


def _within(points: Sequence[HpcgPoint]) -> float:
    """One standard deviation of systems around the level of their family, as a factor, by leaving one out at a time.

    A system counts once, and only families of three or more systems count: one run many times says nothing of others.
    """
    sizes = Counter(level for level, _ in {(point.level, point.system) for point in points})

    def score(rest: Sequence[HpcgPoint], out: Sequence[HpcgPoint]) -> list[float] | None:
        if sizes[out[0].level] < 3:
            return None
        lost = accelerators_lost(rest)
        return [float(np.median(residuals_of(out, family_levels(rest, lost), lost)))]

    return rows_error(cross_validated(points, by_value(points, lambda point: (point.level, point.system)), score))


def hpcg_points(rows: CalibrationRows[HpcgMeasurement]) -> list[HpcgPoint]:
    """Calibration runs that can be asked about."""
    catalogue = Catalogue()
    asked_rows = [(row, asked) for row in rows.rows if not isinstance(asked := hpcg_question(row, catalogue), str)]
    if not asked_rows:
        raise DescriptionError("no calibration row of HPCG can be asked about")
    kinds = hpcg_families()
    repeats = Counter((row.system, asked.decision.nodes, asked.decision.ranks_per_device) for row, asked in asked_rows)
    found = []
    for row, asked in asked_rows:
        run, factors = asked.decision, asked.calibration
        family = device_family(row.device, catalogue)
        assert family is not None, "a row of no known family puts no question"
        whole = hpcg_rate(
            asked.system.accelerators,
            intensity=factors.intensity.value,
            memory_rate=asked.system.chip.memory.rate,
            streaming=factors.streaming.value,
            solver=1.0,
        )
        assert row.rate is not None, "a row without a rate puts no question"
        early = family == "ampere" and "" < build_date(row) <= EARLY
        found.append(
            HpcgPoint(
                row.head.row_id,
                asked.system.accelerators,
                "ampere-early" if early else family,
                row.system,
                kinds[family] == "host",
                float(run.nodes),
                float(run.ranks_per_device),
                float(np.log(row.rate / whole)),
                1.0 / repeats[row.system, run.nodes, run.ranks_per_device],
            )
        )
    return found


def _apart(points: Sequence[HpcgPoint], lost: _Lost) -> Column:
    """Logarithms with scaling and ranks taken out."""
    nodes = np.array([point.nodes for point in points])
    ranks = np.array([point.ranks for point in points])
    scaling = hpcg_scaling_efficiency(nodes, step=lost.step, doubling=lost.doubling)
    few = few_ranks_efficiency(ranks, half=lost.half)
    return np.asarray(np.array([point.logarithm for point in points]) - np.log(scaling * few))


def family_levels(points: Sequence[HpcgPoint], lost: _Lost) -> dict[str, float]:
    """Logarithm of HPCG over streaming by family, the median of its runs."""
    values = _apart(points, lost)
    found = {}
    for name in sorted({point.level for point in points}):
        mine = np.array([point.level == name for point in points])
        weights = np.array([point.weight for point in points])[mine]
        found[name] = _weighted_quantile(values[mine], weights, 0.5)
    return found


def residuals_of(points: Sequence[HpcgPoint], levels: Mapping[str, float], lost: _Lost) -> Column:
    """ln(measured / predicted) of runs with some levels."""
    return np.asarray(_apart(points, lost) - np.array([levels[point.level] for point in points]))


def _loss(points: Sequence[HpcgPoint], lost: _Lost) -> float:
    left = np.abs(residuals_of(points, family_levels(points, lost), lost))
    weights = np.array([point.weight for point in points])
    return float(weights @ left / weights.sum())


def _weighted_quantile(values: Column, weights: Column, share: float) -> float:
    order = np.argsort(values)
    reached = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    return float(np.interp(share, reached, values[order]))


def hpcg_constants(fit: HpcgFit) -> tuple[FittedConstant, ...]:
    """The constants of a fit beside those of the catalogue."""
    accelerator, host = hpcg_factors("hopper"), hpcg_factors("a64fx")
    found = []
    for name, value in fit.solver.items():
        family, date = ("ampere", EARLY) if name == "ampere-early" else (name, "")
        held = hpcg_factors(family, date=date)
        label = f"ampere until {EARLY[:4]}" if date else family
        found.append(_constant(label, "HPCG over streaming", value, held.solver.value if held.fitted else None))
    shared = (
        ("accelerators", "HPCG over streaming, a family never fitted", fit.population, accelerator.solver),
        ("accelerators", "lost between nodes", fit.step, accelerator.step),
        ("accelerators", "lost a doubling of nodes", fit.doubling, accelerator.doubling),
        ("hosts", "lost between nodes", fit.host_step, host.step),
    )
    found += [
        _constant(of, name, value, held.value)
        for of, name, value, held in shared
        if value is not None and (of in fit.told or "lost" not in name)
    ]
    plain = (
        ("hosts", "ranks to saturate", fit.few_ranks if "hosts" in fit.told else None, host.few_ranks.value),
        ("all", "spread within a family", fit.within, _factor(hpcg_factors("volta").solver)),
        ("all", "spread of a family never fitted", fit.population_spread, _factor(accelerator.solver)),
    )
    for of, name, spread, known in plain:
        # A spread of 1 is none: no two systems, or families, could be held against each other.
        if spread is not None and (of in fit.told or spread > 1.0):
            found.append(FittedConstant(of=of, name=name, fitted=spread, catalogue=known))
    return tuple(found)


def _constant(of: str, name: str, value: float, held: float | None) -> FittedConstant:
    return FittedConstant(of=of, name=name, fitted=value, catalogue=held, kind=FRACTION)


def _factor(figure: Figure) -> float:
    """One standard deviation of a figure, as a factor."""
    low, high = figure.bounds(0.8)
    return float((high / low) ** (0.5 / REACH))
