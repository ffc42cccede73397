"""How much of the machine is put to use."""

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Flop, FlopPerSecond, Fraction, Seconds


@cites("chowdhery2022palm", place="section 4.1, model FLOPs utilisation")
def model_flops_utilisation(work: Flop, time: Seconds, *, chips: Count, peak: FlopPerSecond) -> Fraction:
    r"""Arithmetic the model needs over what the chips could have done in that time.

    $$ \mathrm{MFU} = \frac{W}{t\,N\,F} $$

    W counts the forward and backward matrix products once, recomputation not at all, attention in full (a causal
    mask is not taken to halve it). Assumes F is the dense peak in the element type of the products.
    """
    return work / (time * chips * peak)
