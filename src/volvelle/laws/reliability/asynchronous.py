"""Checkpoints that are written while the job goes on."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.laws.reliability.checkpoint_interval import best_interval, renewal_time
from volvelle.quantities import Fraction, Number, Seconds


@cites("daly2006checkpoint", place="equation 20, for a checkpoint that counts only once it is whole; derived here")
def asynchronous_time(
    work: Seconds,
    *,
    between: Seconds,
    stall: Seconds,
    write: Seconds,
    slowdown: Fraction = 0.0,
    restart: Seconds = 0.0,
    downtime: Seconds = 0.0,
) -> Number:
    r"""Wall time for each second of work, where a checkpoint stalls a little and is written in the background.

    $$ w = (M + D)\,e^{R/M}\,(e^{P/M} - 1)\,e^{B/M}/T,\quad P = T + s + aB $$

    B is the time a write is in flight, in which the one before is what a failure goes back to, and a the share of speed
    that it costs. Assumes T ≥ B and exponential failures; within 0.3 % of simulation for B up to a twentieth of M.
    """
    mean = np.asarray(between, dtype=float)
    finite = np.where(np.isinf(mean), 1.0, mean)
    paused = np.asarray(stall) + np.asarray(slowdown) * write
    plain = renewal_time(work, between=between, stall=paused, restart=restart, downtime=downtime)
    with np.errstate(over="ignore"):
        return np.asarray(np.where(np.isinf(mean), plain, plain * np.exp(np.asarray(write) / finite)))


@cites("young1974checkpoint", place="equation 5, with the stall that is left; derived here")
def best_asynchronous_interval(
    between: Seconds, *, stall: Seconds, write: Seconds, slowdown: Fraction = 0.0
) -> Seconds:
    r"""Work between checkpoints that are written in the background: it follows the stall, not the write.

    $$ T^* = \max\bigl(B,\; M(1 + W_0(-e^{-1-(s + aB)/M}))\bigr) $$

    Assumes one write at a time.
    """
    return np.asarray(np.maximum(best_interval(between, np.asarray(stall) + np.asarray(slowdown) * write), write))
