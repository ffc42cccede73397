"""Replicas that restart alone while the others go on."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Fraction, Seconds


@cites("fthsdp2026", place="table 1 and its text; the expression is derived here as the renewal time is")
def elastic_ettr(
    work: Seconds,
    *,
    between: Seconds,
    checkpoint: Seconds,
    stall: Seconds,
    catch_up: Seconds,
    replicas: Count,
    restart: Seconds = 0.0,
    common: Fraction = 0.0,
) -> Fraction:
    r"""Effective training time ratio where one replica of several restarts alone.

    $$ \frac{T}{P}\,e^{-\ell/M},\quad \ell = S + \frac{R_e}{r} + p_c (R + P/2) $$

    S is what all stand still for, $R_e$ what the replica lacks, and $p_c$ the share of failures that still stop
    everything; of first order $1 - \ell/M$. Assumes exponential failures that occur while all stand still too, which
    then begins anew; exact for S alone.
    """
    period = np.asarray(work) + checkpoint
    lost = stall + np.asarray(catch_up) / replicas + common * (restart + period / 2.0)
    return np.asarray(np.asarray(work) / period * np.exp(-lost / np.asarray(between)))
