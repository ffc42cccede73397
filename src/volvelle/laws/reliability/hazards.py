"""How often a job is interrupted: parts in series."""

from collections.abc import Sequence

import numpy as np

from volvelle.laws.citations import cites
from volvelle.laws.reliability.distributions import gamma_quantile
from volvelle.quantities import Count, Number, Seconds


@cites("rausand2004reliability", place="chapter 4, systems of independent components in series")
def series_hazard(counts: Sequence[Count], rates: Sequence[Number]) -> Number:
    r"""Failures a second of a job that any part stops.

    $$ \lambda = \sum_k n_k \lambda_k $$

    Assumes parts fail independently, each at a constant rate.
    """
    total: Number = 0.0
    for count, rate in zip(counts, rates, strict=True):
        total = total + count * rate
    return total


@cites("rausand2004reliability", place="chapter 2, mean time to failure of the exponential distribution")
def time_between(rate: Number) -> Seconds:
    r"""Mean time between failures; infinite where nothing fails.

    $$ M = 1/\lambda $$

    Assumes a constant rate.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / np.asarray(rate, dtype=float))


@cites("infinitehbd2025", place="trace: gamma shape 0.93 of faults across nodes")
def worst_share(shape: Number, *, taken: Number) -> Number:
    r"""Share of all failures that the worst nodes have, where rates of nodes are gamma-distributed.

    $$ s = \frac{1}{\mathrm{E}\lambda} \int_{1-q}^{1} F^{-1}(u)\,du $$

    q is the share of nodes taken. Assumes rates of nodes keep: who failed often will.
    """
    points = 4000
    places = 1.0 - np.asarray(taken, dtype=float)[..., None] * (np.arange(points) + 0.5) / points
    of_mean = gamma_quantile(np.asarray(shape, dtype=float)[..., None], 1.0, at=places)
    return np.asarray(taken * np.mean(of_mean, axis=-1))
