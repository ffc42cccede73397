"""How often a job is interrupted: parts in series."""

from collections.abc import Sequence

import numpy as np

from volvelle.laws.citations import cites
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
