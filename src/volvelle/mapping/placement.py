"""Where the members of a parallel group sit in nested network dimensions."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from volvelle.quantities import Count


def members(group: Count, stride: Count, spans: Sequence[int]) -> list[NDArray[np.float64]]:
    """Members of a group along each network dimension, innermost first.

    Ranks are numbered with consecutive chips; a group takes every `stride`-th rank. `spans` are the chips in one
    unit of each dimension. Where group and units do not divide each other, the worst-placed group counts: six
    consecutive chips over nodes of eight are taken as three pairs, because some six straddle two nodes.
    """
    reach = np.minimum(np.multiply(group, stride), 2.0**62).astype(np.int64)  # more chips than there can be
    step = np.positive(stride).astype(np.int64)
    found = []
    inside: NDArray[np.float64] = np.ones(())
    for span in spans:
        within = _common(reach, span) / _common(step, span)
        found.append(np.maximum(within / inside, 1.0))
        inside = np.maximum(within, inside)
    return found


def _common(values: NDArray[np.int64], span: int) -> NDArray[np.int64]:
    """The greatest common divisor with a span; of many small values each is computed once and looked up."""
    if isinstance(values, np.ndarray) and (most := int(values.max(initial=0))) < values.size:
        return _divisors(span, most.bit_length())[values]
    return np.gcd(values, span)


@lru_cache(maxsize=64)
def _divisors(span: int, bits: int) -> NDArray[np.int64]:
    """The greatest common divisor of a span with every number of so many bits."""
    return np.gcd(np.arange(1 << bits), span)
