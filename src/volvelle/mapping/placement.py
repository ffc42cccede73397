"""Where the members of a parallel group sit in nested network dimensions."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from volvelle.quantities import Count


def members(group: Count, stride: Count, spans: Sequence[int]) -> list[NDArray[np.float64]]:
    """Members of a group along each network dimension, innermost first.

    Ranks are numbered with consecutive chips; a group takes every `stride`-th rank. `spans` are the chips in one
    unit of each dimension. Where group and units do not divide each other, the worst-placed group counts: six
    consecutive chips over nodes of eight are taken as three pairs, because some six straddle two nodes.
    """
    reach = np.multiply(group, stride).astype(np.int64)
    step = np.positive(stride).astype(np.int64)
    found = []
    inside: NDArray[np.float64] = np.ones(())
    for span in spans:
        within = np.gcd(reach, span) / np.gcd(step, span)
        found.append(np.maximum(within / inside, 1.0))
        inside = np.maximum(within, inside)
    return found
