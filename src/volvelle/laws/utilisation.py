"""How much of the machine is put to use."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, Flop, FlopPerSecond, Fraction, Number, Seconds


@cites("chowdhery2022palm", place="section 4.1, model FLOPs utilisation")
def model_flops_utilisation(work: Flop, time: Seconds, *, chips: Count, peak: FlopPerSecond) -> Fraction:
    r"""Arithmetic the model needs over what the chips could have done in that time.

    $$ \mathrm{MFU} = \min\left(1,\; \frac{W}{t\,N\,F}\right) $$

    W counts the forward and backward matrix products once, recomputation not at all, attention in full (a causal
    mask is not taken to halve it). Kernels skip what a mask hides, so where attention is nearly all, W may be more than
    a chip can do; no chip is busy for more than all the time. Assumes F is the dense peak of the element type.
    """
    return np.minimum(1.0, work / (time * chips * peak))


@cites(
    "jiang2024megascale",
    place="table 2: 173 to 162 tokens a second and GPU from 3,072 to 12,288, an exponent of -0.05; the form is ours",
)
def pace_among(pace: Number, chips: Count, *, measured_on: Count, exponent: Number) -> Number:
    r"""Pace of one chip among so many, from its pace among others.

    $$ v(N) = v(N_0)\,(N/N_0)^{a} $$

    Assumes one power over the whole range: a batch that does not grow with the machine, and a network like the one it
    was measured on. An exponent of zero is perfect scaling.
    """
    return pace * (np.asarray(chips, dtype=float) / measured_on) ** exponent


@cites("kadiyala2024comet", place="section 3.2, resource utilisation beside the training time")
def transfer_utilisation(moved: Bytes, time: Seconds, *, rate: BytesPerSecond) -> Fraction:
    r"""Bytes that passed over what a memory or a link could have passed in that time.

    $$ u = \min\left(1,\; \frac{Q}{t\,B}\right) $$

    The paper names the figure and prints no formula. Q is what one chip moves to and from its memory, or sends at one
    level of the network, in a whole step; B is the rated rate, of a link in one direction. Assumes that what a chip
    receives runs at the same time in the other direction, and that a cached byte is not moved.
    """
    return np.minimum(1.0, moved / (time * rate))
