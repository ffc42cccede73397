"""Nodes that do not fail and are slow."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Count, Fraction, Number
from volvelle.spread import standard_normal


@cites("jiang2024megascale", place="section 5.1: half a per cent of machines, ten per cent slower")
def straggler_slowdown(nodes: Count, *, share: Fraction, slower: Fraction) -> Number:
    r"""Time of a step in which all wait for the slowest, over that without slow nodes.

    $$ 1 + \delta\,(1 - (1-p)^N) $$

    Assumes slow nodes are equally slow, and drawn independently.
    """
    with np.errstate(divide="ignore"):
        none = np.asarray(nodes) * np.log1p(-np.asarray(share, dtype=float))
    return np.asarray(1.0 - np.asarray(slower) * np.expm1(none))


@cites("blom1958statistical", place="chapter 6, expected largest of a normal sample")
def jitter_slowdown(nodes: Count, *, deviation: Fraction) -> Number:
    r"""Time of a step in which all wait for the slowest of many that vary, over the usual one's.

    $$ e^{\sigma z_N},\quad z_N = \Phi^{-1}\bigl(N/(N+1)\bigr) $$

    Assumes log-normal times, independent between nodes and steps.
    """
    count = np.asarray(nodes, dtype=float)
    return np.asarray(np.exp(np.asarray(deviation) * standard_normal(count / (count + 1.0))))
