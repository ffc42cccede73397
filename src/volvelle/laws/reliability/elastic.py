"""Replicas that restart alone while the others go on."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Fraction, Number, Seconds


@cites("fthsdp2026", place="table 1 and its text; the expression is of first order, derived here")
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

    $$ \frac{T}{P}\Bigl(1 - \frac{S}{M} - \frac{R_e}{r M} - \frac{p_c (R + P/2)}{M}\Bigr) $$

    S is what all stand still for, $R_e$ what the replica lacks, and $p_c$ the share of failures that still stop
    everything. Assumes few failures at once: none below zero.
    """
    period = np.asarray(work) + checkpoint
    lost = stall + np.asarray(catch_up) / replicas + common * (restart + period / 2.0)
    return np.asarray(np.maximum(np.asarray(work) / period * (1.0 - lost / np.asarray(between)), 0.0))


@cites("fthsdp2026", place="as above: one replica fewer does its share less")
def fewer_replicas_share(replicas: Count, *, missing: Count = 1.0) -> Fraction:
    r"""Speed on fewer replicas over that on all.

    $$ (r - m)/r $$

    Assumes the batch shrinks with them.
    """
    return np.maximum((np.asarray(replicas, dtype=float) - missing) / replicas, 0.0)
