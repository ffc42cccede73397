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
    first = np.log([max(getattr(start, name), 1e-12) for name in names])
    at = first.copy()
    for _ in range(rounds):
        base = off(_constants(start, names, at))
        slopes = np.zeros((base.size, len(names)))
        for place in range(len(names)):
            moved = at.copy()
            moved[place] += step
            slopes[:, place] = (off(_constants(start, names, moved)) - base) / step
        good = np.isfinite(base) & np.isfinite(slopes).all(axis=1)
        counts = weights[good] / np.sqrt(1.0 + (base[good] / _TOLERANCE) ** 2)
        matrix = np.concatenate([slopes[good] * counts[:, None], hold * np.eye(len(names))])
        target = np.concatenate([-base[good] * counts, hold * (first - at)])
        at = at + np.clip(np.linalg.lstsq(matrix, target, rcond=None)[0], -_FAR, _FAR)
    return _constants(start, names, at)


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
