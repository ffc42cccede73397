"""Distributions as plans tell them: mean, deviation and quantiles, and the shares of samples as lines."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.scores import PlannedCurves
from volvelle.quantities import FLOP_PER_SECOND, show

Column = NDArray[np.float64]
QUANTILES = (0.05, 0.1, 0.5, 0.9, 0.95)


def told(samples: Column) -> dict[str, object]:
    """Mean, standard deviation and quantiles, as documents have them."""
    return {
        "mean": float(samples.mean()),
        "deviation": float(samples.std()),
        "quantiles": {f"{at:g}": float(np.quantile(samples, at)) for at in QUANTILES},
    }


def rate_curves(
    rates: Mapping[str, Column], centre: float, *, title: str, about: str, without: str, counted: str, steps: int = 24
) -> PlannedCurves:
    """How likely which rate is, in per cent above or below a central one, a line for what varies.

    `without` says what the centre is, `counted` what the rates are of: runs, or samples.
    """
    places, lines = share_lines({name: 100.0 * (column / centre - 1.0) for name, column in rates.items()}, steps=steps)
    return PlannedCurves(
        title=title,
        about=about,
        x_title=f"% of the rate above or below {show(centre, FLOP_PER_SECOND)}{without}",
        places=places,
        lines=lines,
        kind=None,
        y_title=f"% of {counted}",
    )


def share_lines(
    samples: Mapping[str, Column], *, steps: int = 24
) -> tuple[tuple[float, ...], dict[str, tuple[float, ...]]]:
    """Middles of even steps over all samples, and by name the share of samples in each, in per cent."""
    every = np.concatenate(list(samples.values()))
    edges = np.linspace(every.min(), every.max() + 1e-9, steps + 1)
    lines = {}
    for name, own in samples.items():
        counted, _ = np.histogram(own, bins=edges)
        lines[name] = tuple(float(share) for share in 100.0 * counted / len(own))
    return tuple(float(at) for at in (edges[:-1] + edges[1:]) / 2), lines
