"""Constants of smooth laws by least squares of logarithmic errors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.fit import optimiser

Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastSquares:
    """Constants of a smooth law, and how far each may be moved before errors grow."""

    constants: dict[str, float]
    spread: dict[str, float]
    """One standard deviation of each as a factor, from how errors change with it; large where rows do not tell it."""


def least_squares(
    errors: Callable[[Mapping[str, float]], Column],
    starts: Sequence[Mapping[str, float]],
    bounds: Mapping[str, tuple[float, float]],
    *,
    scale: float,
    towards: Mapping[str, float] | None = None,
    width: float = 0.5,
    evaluations: int = 300,
) -> LeastSquares:
    """The least of squared logarithmic errors, those far beyond `scale` counting in proportion only.

    Constants that rows do not tell apart lean `towards` those given: to be off by a factor of exp(`width`) costs as
    much as one row that is off by `scale`.
    """
    names, engine = tuple(bounds), optimiser()
    low, high = (np.log([ends[side] for ends in bounds.values()]) for side in (0, 1))

    known = None if towards is None else np.log([towards[name] for name in names])

    def judged(logarithms: Column) -> Column:
        found = errors(dict(zip(names, map(float, np.exp(logarithms)), strict=True)))
        return found if known is None else np.append(found, scale / width * (logarithms - known))

    found = min(
        (
            engine.least_squares(
                judged,
                np.log([start[name] for name in names]),
                bounds=(low, high),
                loss="soft_l1",
                f_scale=scale,
                max_nfev=evaluations,
            )
            for start in starts
        ),
        key=lambda search: float(search.cost),
    )
    rows = max(len(found.fun) - len(names), 1)
    variance = float(np.median(np.abs(found.fun)) / 0.6745) ** 2 * len(found.fun) / rows
    covariance = np.linalg.pinv(found.jac.T @ found.jac) * variance
    return LeastSquares(
        constants=dict(zip(names, map(float, np.exp(found.x)), strict=True)),
        spread=dict(zip(names, map(float, np.exp(np.sqrt(np.clip(np.diag(covariance), 0.0, 9.0)))), strict=True)),
    )
