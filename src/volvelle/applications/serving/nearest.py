"""Constants of an engine nearest to what was measured, and how wide what they leave is."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.cross_validation import REACH
from volvelle.estimators.serving.engine_constants import EngineConstants

Column = NDArray[np.float64]
_STEP = 0.25
"""In logarithms: how far a constant is moved to see what it does, long enough to be above the grain of a simulation."""
_FAR = 1.0
"""The farthest that a constant moves in a round."""
_TOLERANCE = 0.12
"""Errors beyond which a row counts less and less."""
_ROUNDS_OF_SLOPES = 4
"""Of a fit by slopes that are known: errors beyond the tolerance are other ones after each."""
_SHARES = ("unshared",)
"""Constants that are no more than one."""
_STUDENT = (1.886, 1.638, 1.533, 1.476, 1.440, 1.415, 1.397, 1.383)
"""What nine in ten lie below, of Student's distribution with two degrees of freedom (three models) and more."""


def nearest_constants(
    off: Callable[[EngineConstants], Column],
    start: EngineConstants,
    names: Sequence[str],
    *,
    weights: Column,
    hold: float,
    rounds: int,
    step: float = _STEP,
) -> EngineConstants:
    """Gauss-Newton on logarithms, held to the start, errors beyond a tolerance counting less."""
    first = _logarithms(start, names)
    at = first.copy()
    for _ in range(rounds):
        base, slopes = _slopes(off, start, names, at, step)
        at = at + _moved(base, slopes, weights, hold=hold, away=at - first)
    return _constants(start, names, at)


def constants_without(
    off: Callable[[EngineConstants], Column],
    known: EngineConstants,
    names: Sequence[str],
    groups: Sequence[str],
    *,
    weights: Column,
    hold: float,
) -> dict[str, EngineConstants]:
    """For every group of rows, the constants nearest to all others, by slopes at the known ones and held to these.

    Slopes are found once for all groups, so that a row's error is taken as a line in the logarithms of constants.
    """
    first = _logarithms(known, names)
    base, slopes = _slopes(off, known, names, first, _STEP)
    of_groups = np.asarray(groups)
    found = {}
    for group in dict.fromkeys(groups):
        others = of_groups != group
        away = np.zeros(len(names))
        for _ in range(_ROUNDS_OF_SLOPES):
            at = base[others] + slopes[others] @ away
            away = away + _moved(at, slopes[others], weights[others], hold=hold, away=away)
        found[group] = _constants(known, names, first + away)
    return found


def _logarithms(constants: EngineConstants, names: Sequence[str]) -> Column:
    return np.asarray(np.log([max(getattr(constants, name), 1e-12) for name in names]))


def _slopes(
    off: Callable[[EngineConstants], Column], start: EngineConstants, names: Sequence[str], at: Column, step: float
) -> tuple[Column, Column]:
    """Errors there, and how they go with the logarithm of each constant."""
    base = off(_constants(start, names, at))
    slopes = np.zeros((base.size, len(names)))
    for place in range(len(names)):
        moved = at.copy()
        moved[place] += step
        slopes[:, place] = (off(_constants(start, names, moved)) - base) / step
    return base, slopes


def _moved(base: Column, slopes: Column, weights: Column, *, hold: float, away: Column) -> Column:
    """One step of Gauss and Newton, from where constants are so far away from what they are held to."""
    good = np.isfinite(base) & np.isfinite(slopes).all(axis=1)
    counts = weights[good] / np.sqrt(1.0 + (base[good] / _TOLERANCE) ** 2)
    matrix = np.concatenate([slopes[good] * counts[:, None], hold * np.eye(away.size)])
    target = np.concatenate([-base[good] * counts, -hold * away])
    return np.asarray(np.clip(np.linalg.lstsq(matrix, target, rcond=None)[0], -_FAR, _FAR))


def cost(off: Column, weights: Column) -> float:
    """Of errors, those beyond a tolerance counting less; a row that is refused counts as a large one."""
    errors = np.where(np.isfinite(off), off, 1.0) / _TOLERANCE
    return float(np.sum(weights * (np.sqrt(1.0 + errors**2) - 1.0)))


def _constants(start: EngineConstants, names: Sequence[str], at: Column) -> EngineConstants:
    values: dict[str, Any] = {name: float(np.exp(value)) for name, value in zip(names, at, strict=True)}
    return replace(start, **{**values, **{name: min(values[name], 1.0) for name in _SHARES if name in values}})


def one_deviation(off: Sequence[float], *, models: int | None = None) -> float:
    """As a factor, such that eight in ten of these logarithmic errors lie in the range; wider where models are few."""
    wider = 1.0 if models is None else _few(models)
    return float(np.exp(np.quantile(np.abs(off), 0.8) / REACH * wider))


def _few(models: int) -> float:
    """Times as wide a range is for a model that was not run, where those that were are few: Student's quantile."""
    if models > len(_STUDENT) + 2:
        return 1.0
    return _STUDENT[max(models, 3) - 3] / REACH
