"""Roofline: a kernel is as slow as its slower resource."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Flop, FlopPerSecond, Number, Seconds


@cites("williams2009roofline", place="the attainable-performance bound")
def kernel_time(work: Flop, traffic: Bytes, *, compute_rate: FlopPerSecond, memory_rate: BytesPerSecond) -> Seconds:
    r"""Time of a kernel limited by its slower resource.

    $$ t = \max(W/F,\; Q/B) $$

    Assumes arithmetic and memory traffic overlap perfectly; a lower bound otherwise.
    """
    return np.maximum(work / compute_rate, traffic / memory_rate)


@cites("williams2009roofline", place="the attainable-performance bound, as a rate")
def attainable_rate(intensity: Number, *, compute_rate: FlopPerSecond, memory_rate: BytesPerSecond) -> FlopPerSecond:
    r"""Rate of a kernel that does `intensity` FLOP for every byte it moves.

    $$ P = \min(F,\; I \cdot B) $$

    Assumes arithmetic and memory traffic overlap perfectly; an upper bound otherwise.
    """
    return np.minimum(compute_rate, intensity * memory_rate)
