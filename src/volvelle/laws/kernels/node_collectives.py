"""Collectives among the chips of one node, from the smallest message to the largest."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, Number, Seconds


@cites("aiconfigurator2026", place="measured kernel tables, NCCL and the engines' own all-reduce within a node")
def node_collective_time(
    size: Bytes,
    chips: Count,
    *,
    crossings: Number,
    start: Seconds,
    each: Seconds,
    bus_rate: BytesPerSecond,
    between: Number,
) -> Seconds:
    r"""Time of a collective over all links of a node.

    $$ t = a + y + g\sqrt{a y}, \qquad a = a_0 + a_1 (n - 1), \qquad y = x\,\frac{n - 1}{n}\,\frac{S}{\beta} $$

    with x how often a byte crosses: twice for an all-reduce, once for a gather, a scatter or an all-to-all. The mixed
    term stands for the change of protocol between short and long messages. Assumes one switch, or links that the
    library uses like one.
    """
    fixed = start + each * (chips - 1.0)
    moved = crossings * (chips - 1.0) / chips * size / bus_rate
    return fixed + moved + between * np.sqrt(fixed * moved)
