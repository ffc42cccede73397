"""What many users of one network take from each other."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import BytesPerSecond, Count, Fraction


@cites("pitfalls-talk", place="analytical models of collectives are too optimistic, more so at scale-out")
def contended_rate(rate: BytesPerSecond, units: Count, *, contention: Fraction) -> BytesPerSecond:
    r"""Rate one chip sustains in a collective over many units of a network.

    $$ B' = \frac{B}{1 + \kappa \log_2 (p/2)} \quad (p > 2) $$

    κ is fitted; it stands for colliding routes, stragglers and jitter, each of which gets likelier with every doubling
    of the group beyond two units, where the link's own efficiency is measured. Assumes nothing of a particular fabric;
    zero gives the ideal rate.
    """
    return rate / (1.0 + contention * np.log2(np.maximum(units / 2.0, 1.0)))
