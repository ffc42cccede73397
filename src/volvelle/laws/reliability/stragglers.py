"""Nodes that do not fail and are slow."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Fraction, Number


@cites("jiang2024megascale", place="section 5.1: half a per cent of machines, ten per cent slower")
def straggler_slowdown(nodes: Count, *, share: Fraction, slower: Fraction) -> Number:
    r"""Time of a step in which all wait for the slowest, over that without slow nodes.

    $$ 1 + \delta\,(1 - (1-p)^N) $$

    Assumes slow nodes are equally slow, and drawn independently.
    """
    with np.errstate(divide="ignore"):
        none = np.asarray(nodes) * np.log1p(-np.asarray(share, dtype=float))
    return np.asarray(1.0 - np.asarray(slower) * np.expm1(none))
