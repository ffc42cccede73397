"""How far chance alone moves the time of a whole run."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Number, Seconds


@cites("aupy2013checkpointing", place="the renewal of section 3; its variance is derived here")
def run_variance(
    total: Seconds, work: Seconds, *, between: Seconds, stall: Seconds, restart: Seconds, downtime: Seconds = 0.0
) -> Number:
    r"""Variance of the wall time of a run by chance alone.

    $$ \frac{W}{T}\Bigl[k(\mathrm{Var}\,Y + \mathrm{Var}\,Z) + \tfrac{1-p}{p^2}(\mathrm{E}Y + \mathrm{E}Z)^2\Bigr],\quad
    p = e^{-P/M},\ k = \tfrac{1-p}{p} $$

    Y is the age of a period at its failure and Z the restart with its own failures. Assumes exponential failures.
    """
    mean = np.asarray(between, dtype=float)
    finite = np.where(np.isinf(mean), 1e12, mean)
    period, again = np.asarray(work) + np.asarray(stall), np.asarray(restart, dtype=float)
    age, age_variance = _truncated(period, finite)
    in_restart, restart_variance = _truncated(again, finite)
    tries = np.expm1(again / finite)
    each = in_restart + downtime
    loop = again + downtime + tries * each
    loop_variance = tries * restart_variance + tries * np.exp(again / finite) * each**2
    failures = np.expm1(period / finite)
    spread = failures * (age_variance + loop_variance) + failures * np.exp(period / finite) * (age + loop) ** 2
    return np.asarray(np.where(np.isinf(mean), 0.0, total / work * spread))


def _truncated(most: Number, mean: Number) -> tuple[Number, Number]:
    """Mean and variance of an exponential time of which it is known that it is below `most`."""
    ratio = np.maximum(np.asarray(most) / mean, 1e-12)
    left = ratio / np.expm1(ratio)
    # One minus x²eˣ/(eˣ-1)² cancels where x is small; there it is x²/12.
    exact = 1.0 - left**2 * np.exp(ratio)
    small = ratio < 1e-3
    variance = np.where(small, ratio**2 / 12.0, exact)
    average = np.where(small, ratio / 2.0 - ratio**2 / 12.0, 1.0 - left)
    return np.asarray(mean * average), np.asarray(mean**2 * variance)
