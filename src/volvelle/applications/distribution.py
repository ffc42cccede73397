"""Distributions as plans tell them: mean, deviation and quantiles, and the shares of samples as lines."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
QUANTILES = (0.05, 0.1, 0.5, 0.9, 0.95)


def told(samples: Column) -> dict[str, object]:
    """Mean, standard deviation and quantiles, as documents have them."""
    return {
        "mean": float(samples.mean()),
        "deviation": float(samples.std()),
        "quantiles": {f"{at:g}": float(np.quantile(samples, at)) for at in QUANTILES},
    }


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
