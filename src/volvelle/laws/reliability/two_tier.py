"""Checkpoints in two tiers: often into the memory of a peer, now and then to storage."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.laws.reliability.checkpoint_interval import best_interval
from volvelle.quantities import Count, Fraction, Number, Seconds


@cites("benoit2017twolevel", place="section 3, two-level patterns; solved exactly here for exponential failures")
def two_tier_time(
    work: Seconds,
    segments: Count,
    *,
    between: Seconds,
    survived: Fraction,
    memory_stall: Seconds,
    storage_stall: Seconds,
    memory_restart: Seconds,
    storage_restart: Seconds,
) -> Number:
    r"""Wall time for each second of work, with a checkpoint in memory after `work` and one in storage after `segments`.

    $$ w = \frac{\tau\,\frac{1-q^k}{1-q} + q^k\,\tau_C + (1 - q^k q_C)\,M(e^{R_2/M}-1)}{q^k\,q_C\,k\,T} $$

    q is the chance that a segment is done before a failure that no peer survives, τ the time until either. A share
    `survived` of failures goes back one segment after the restart of memory, the others to the last storage. Assumes
    exponential failures; any failure while storage is read reads it again, and one while it is written that a peer
    survives begins the write anew.
    """
    # Failures that never come are as good as some in 30 million years.
    mean, share = np.minimum(np.asarray(between, dtype=float), 1e15), np.asarray(survived, dtype=float)
    back = np.asarray(memory_restart) / mean
    done, spent = _segment(np.asarray(work) + memory_stall, mean, share, back)
    saved, saving = _segment(np.asarray(storage_stall, dtype=float), mean, share, back)
    count = np.asarray(segments, dtype=float)
    all_done = done**count
    with np.errstate(invalid="ignore", divide="ignore"):
        tried = np.where(done < 1.0, (1.0 - all_done) / (1.0 - done), count)
    success = all_done * saved
    lost = (1.0 - success) * mean * np.expm1(np.asarray(storage_restart) / mean)
    return np.asarray((spent * tried + all_done * saving + lost) / (success * count * work))


@cites("benoit2017twolevel", place="section 3: the two intervals part where each tier's stall is short; derived here")
def best_two_tier(
    between: Seconds, *, survived: Fraction, memory_stall: Seconds, storage_stall: Seconds
) -> tuple[Seconds, Seconds]:
    r"""Work between checkpoints in memory, and between those in storage: each by the failures that go back to it.

    $$ T = T^*(M/s,\; C_1),\quad L = T^*\bigl(M/(1-s),\; C_2\bigr) $$

    T* is the best interval of one tier. Assumes stalls that are short against the time between failures: within a
    thousandth of the best of both by search there. Where no failure goes back to a tier, its interval is none. Where
    storage would be written more often than memory, every checkpoint is in both, and both have T*(M, C₁ + C₂).
    """
    share = np.asarray(survived, dtype=float)
    with np.errstate(divide="ignore"):
        memory = best_interval(np.asarray(between) / share, memory_stall)
        storage = best_interval(np.asarray(between) / (1.0 - share), storage_stall)
        both = best_interval(between, np.asarray(memory_stall) + storage_stall)
    return np.asarray(np.where(storage < memory, both, memory)), np.asarray(np.where(storage < memory, both, storage))


def _segment(length: Number, mean: Number, survived: Number, back: Number) -> tuple[Number, Number]:
    """Chance that a segment is done before a failure that no peer survives, and the time until either.

    `back` is the restart from memory over the time between failures.
    """
    fails, fails_back = -np.expm1(-np.asarray(length) / mean), -np.expm1(-np.asarray(back))
    # From the start: through, or a failure; a survived one restarts from memory, which may fail likewise.
    again = 1.0 - fails_back * survived
    returns = fails * survived * (1.0 - fails_back) / again
    chance = (1.0 - fails) / (1.0 - returns)
    restarting = mean * fails_back / again
    return chance, (mean * fails + fails * survived * restarting) / (1.0 - returns)
