"""The least of a loss: the one module that knows scipy.

A loss is the mean of absolute logarithmic errors, so it has corners and needs no derivative: differential evolution
searches a box, the simplex of Nelder and Mead goes on from a start.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import MissingExtraError, install_line

Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """The best of all candidates, and the rest of them."""

    constants: dict[str, float]
    loss: float
    tried: tuple[tuple[float, Column], ...]
    """Loss and values of every candidate, best first."""

    def nearly(self, share: float) -> dict[str, tuple[float, float]]:
        """Between which values candidates lie whose loss is at most that share larger."""
        near = np.array([point for loss, point in self.tried if loss <= (1 + share) * self.loss])
        return {name: (float(near[:, i].min()), float(near[:, i].max())) for i, name in enumerate(self.constants)}


def least_within(
    losses: Callable[[Mapping[str, Column]], Column],
    bounds: Mapping[str, tuple[float, float]],
    *,
    candidates: int,
    rounds: int,
    polish: int = 100,
    starts: int = 1,
) -> Least:
    """The least within a box, of several searches; all `candidates` of a round are handed over as columns at once.

    The best of all rounds is gone on from by a simplex, with `polish` candidates more.
    """
    names, tried = tuple(bounds), list[tuple[float, Column]]()

    def judged(points: Column) -> Column:
        columns = points if points.ndim == 2 else points[:, None]
        found = losses(dict(zip(names, columns, strict=True)))
        tried.extend((float(loss), point) for loss, point in zip(found, columns.T, strict=True))
        return found

    engine, searches = optimiser(), list[Least]()
    low, high = (np.array([ends[side] for ends in bounds.values()]) for side in (0, 1))
    for seed in range(starts):
        tried.clear()
        found = engine.differential_evolution(
            judged,
            tuple(bounds.values()),
            popsize=max(1, candidates // len(names)),
            maxiter=rounds - 1,
            tol=0.0,
            seed=seed,
            polish=False,
            init="latinhypercube",
            updating="deferred",
            vectorized=True,
        )
        engine.minimize(
            lambda shares: float(judged((low + shares * (high - low))[:, None])[0]),
            (found.x - low) / (high - low),
            method="Nelder-Mead",
            bounds=[(0.0, 1.0)] * len(names),
            options={"maxfev": polish, "xatol": 1e-4, "fatol": 1e-7, "adaptive": len(names) > 3},
        )
        searches.append(_least(names, tried))
    return min(searches, key=lambda search: search.loss)


def least_from(
    loss: Callable[[Mapping[str, float]], float],
    start: Mapping[str, float],
    *,
    most: Sequence[float] | None = None,
    evaluations: int = 4000,
    precision: float = 1e-5,
) -> Least:
    """The least near a start; constants are positive, so it is their logarithms that move."""
    names, tried = tuple(start), list[tuple[float, Column]]()
    highest = np.log(np.full(len(names), np.inf) if most is None else np.asarray(most, dtype=float))

    def judged(logarithms: Column) -> float:
        point = np.exp(logarithms)
        value = loss(dict(zip(names, map(float, point), strict=True)))
        tried.append((value, point))
        return value

    here = np.log(np.array(list(start.values())))
    for reach in (0.5, 0.1):  # a simplex may collapse on a corner; a second one goes on from there
        simplex = np.vstack([here, *(here - reach * row for row in np.eye(len(names)))])
        done = optimiser().minimize(
            judged,
            here,
            method="Nelder-Mead",
            bounds=[(-np.inf, high) for high in highest],
            options={
                "initial_simplex": simplex,
                "xatol": precision,
                "fatol": 1e-9,
                "maxfev": evaluations,
                "adaptive": len(names) > 3,
            },
        )
        here = done.x
    return _least(names, tried)


def _least(names: Sequence[str], tried: list[tuple[float, Column]]) -> Least:
    tried.sort(key=lambda pair: pair[0])
    loss, best = tried[0]
    return Least(constants=dict(zip(names, map(float, best), strict=True)), loss=loss, tried=tuple(tried))


def optimiser() -> Any:
    """SciPy's, an extra: refused by name where it is not installed."""
    try:
        import scipy.optimize  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError(
            f"fitting constants needs SciPy, which is not installed; run {install_line('fit')}"
        ) from None
    return scipy.optimize
