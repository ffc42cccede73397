"""How much of the machine is put to use."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Flop, FlopPerSecond, Fraction, Seconds


@cites("chowdhery2022palm", place="section 4.1, model FLOPs utilisation")
def model_flops_utilisation(work: Flop, time: Seconds, *, chips: Count, peak: FlopPerSecond) -> Fraction:
    r"""Arithmetic the model needs over what the chips could have done in that time.

    $$ \mathrm{MFU} = \min\left(1,\; \frac{W}{t\,N\,F}\right) $$

    W counts the forward and backward matrix products once, recomputation not at all, attention in full (a causal
    mask is not taken to halve it). Kernels skip what a mask hides, so where attention is nearly all, W may be more than
    a chip can do; no chip is busy for more than all the time. Assumes F is the dense peak of the element type.
    """
    return np.minimum(1.0, work / (time * chips * peak))
