"""Work between checkpoints: the exact time of a run that fails at random, and the interval that makes it least."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Number, Seconds

_STEPS = 4
"""Of Halley's iteration: they reach rounding for every stall up to 30 times the time between failures."""


@cites("daly2006checkpoint", place="equation 20, the complete cost function; Aupy et al. 2013, section 3, add D")
def renewal_time(
    work: Seconds, *, between: Seconds, stall: Seconds, restart: Seconds = 0.0, downtime: Seconds = 0.0
) -> Number:
    r"""Wall time for each second of work, where a failure throws a job back to its last checkpoint.

    $$ w = (M + D)\,e^{R/M}\,\frac{e^{(T+C)/M} - 1}{T} $$

    T is the work between checkpoints, C the stall of one, R the restart, in which failures occur too, and D a downtime
    in which none does. Assumes exponential failures, M apart on average; exact then. Without failures 1 + C/T.
    """
    mean, period = np.asarray(between, dtype=float), np.asarray(work) + np.asarray(stall)
    never = np.isinf(mean)
    finite = np.where(never, 1.0, mean)
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.expm1(period / finite) * np.exp(np.asarray(restart) / finite)
        failing = (finite + np.asarray(downtime)) * grown / work
    return np.asarray(np.where(never, period / work, failing))


@cites("corless1996lambert", place="section 4, W0 by Halley's iteration; Aupy et al. 2013, theorem 1, for the optimum")
def best_interval(between: Seconds, stall: Seconds) -> Seconds:
    r"""Work between checkpoints that makes a run shortest; restart and downtime do not move it.

    $$ T^* = M\,\bigl(1 + W_0(-e^{-1-C/M})\bigr) $$

    With x = T*/M this is $-\ln(1-x) - x = C/M$, solved by Halley's iteration: nothing cancels where C is small. Assumes
    exponential failures and a stall above zero; without a stall the interval is none.
    """
    ratio = np.asarray(stall, dtype=float) / np.asarray(between, dtype=float)
    root, tail = np.sqrt(2.0 * np.minimum(ratio, 1.0)), np.exp(-1.0 - ratio)
    x = np.where(ratio < 1.0, root - root**2 / 3.0 + root**3 / 36.0, 1.0 - tail * (1.0 + tail))
    for _ in range(_STEPS):
        left = np.maximum(1.0 - x, 1e-300)
        off = -np.log(left) - x - ratio
        slope = np.maximum(2.0 * x * x - off, 1e-300)
        x = np.clip(x - 2.0 * off * x * left / slope, 0.0, 1.0)
    return np.asarray(np.where(np.isinf(between), np.inf, np.where(np.isinf(between), 1.0, between) * x))
