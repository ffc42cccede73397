"""Collective communication in one network dimension, by algorithm.

`size` is the whole tensor: what every chip holds before an all-reduce or a reduce-scatter and after an
all-gather or a broadcast, and what every chip sends in all (its own share included) in an all-to-all.
`rate` is what one chip sustains in each direction; `latency` is one step, and steps grow with the group.
"""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, Fraction, Seconds


@cites("thakur2005collectives", place="section 4.2, reduce-scatter by pairwise exchange")
def ring_reduce_scatter_time(size: Bytes, chips: Count, *, rate: BytesPerSecond, latency: Seconds) -> Seconds:
    r"""Reduce-scatter around a ring; an all-gather, which is the same run backwards, takes as long.

    $$ t = (p-1)\left(\alpha + \frac{n}{p\,B}\right) $$

    Assumes adding is free beside sending.
    """
    return (chips - 1.0) * (latency + size / chips / rate)


@cites("patarasuk2009ring", place="theorem 2, bandwidth-optimal all-reduce")
def ring_all_reduce_time(size: Bytes, chips: Count, *, rate: BytesPerSecond, latency: Seconds) -> Seconds:
    r"""All-reduce around a ring: reduce-scatter, then all-gather.

    $$ t = 2(p-1)\left(\alpha + \frac{n}{p\,B}\right) $$

    Assumes the second half starts when the first has ended; adding is free beside sending.
    """
    return 2.0 * (chips - 1.0) * (latency + size / chips / rate)


@cites("sanders2009twotree", place="section 3, two trees at once")
def tree_all_reduce_time(size: Bytes, chips: Count, *, rate: BytesPerSecond, latency: Seconds) -> Seconds:
    r"""All-reduce up and down two complementary binary trees.

    $$ t = 2\lceil\log_2 p\rceil\,\alpha + \frac{2n}{B} $$

    Assumes messages are cut fine enough to keep the trees full; each chip is inner node in one tree and leaf in
    the other, so both directions are busy.
    """
    steps = np.ceil(np.log2(np.maximum(chips, 1.0)) - 1e-9)
    return 2.0 * steps * latency + np.where(np.asarray(chips) > 1, 2.0, 0.0) * size / rate


@cites("thakur2005collectives", place="section 4.2, pairwise exchange with all messages at once")
def direct_all_reduce_time(size: Bytes, chips: Count, *, rate: BytesPerSecond, latency: Seconds) -> Seconds:
    r"""All-reduce with a link between every two chips: one step to scatter, one to gather.

    $$ t = 2\min(1, p-1)\,\alpha + 2\,\frac{p-1}{p}\,\frac{n}{B} $$

    Assumes a chip's rate is spread evenly over its links to all the others.
    """
    return 2.0 * np.minimum(1.0, chips - 1.0) * latency + 2.0 * (chips - 1.0) / chips * size / rate


@cites("klenk2020innetwork", place="section III, in-network reduction and multicast")
def in_network_all_reduce_time(size: Bytes, chips: Count, *, rate: BytesPerSecond, latency: Seconds) -> Seconds:
    r"""All-reduce added up by the switch: each chip sends its data once and receives the sum once.

    $$ t = 2\min(1, p-1)\,\alpha + \frac{p+1}{p}\,\frac{n}{B} \quad (p > 1) $$

    Assumes the switch adds at line rate; a chip's own share of the gather passes it twice, hence p + 1.
    """
    several = np.minimum(1.0, chips - 1.0)
    return 2.0 * several * latency + several * (chips + 1.0) / chips * size / rate


@cites("hockney1994communication", place="the latency-bandwidth model, eq. 1")
def point_to_point_time(size: Bytes, *, rate: BytesPerSecond, latency: Seconds) -> Seconds:
    r"""One message between two chips.

    $$ t = \alpha + n/B $$

    Assumes nobody else uses the link.
    """
    return latency + size / rate


@cites("thakur2005collectives", place="section 4.3, long-message broadcast")
def pipelined_broadcast_time(size: Bytes, chips: Count, *, rate: BytesPerSecond, latency: Seconds) -> Seconds:
    r"""Broadcast in fine pieces down a binary tree or along a ring.

    $$ t = \lceil\log_2 p\rceil\,\alpha + \min(1, p-1)\,\frac{n}{B} $$

    Assumes pieces small enough that filling the pipeline costs latency only.
    """
    steps = np.ceil(np.log2(np.maximum(chips, 1.0)) - 1e-9)
    return steps * latency + np.minimum(1.0, chips - 1.0) * size / rate


@cites("dally2004interconnection", place="section 3.3, bisection bound on uniform traffic")
def all_to_all_time(
    size: Bytes, chips: Count, *, rate: BytesPerSecond, latency: Seconds, bisection: Fraction = 1.0
) -> Seconds:
    r"""Every chip sends an equal share of `size` to every chip.

    $$ t = (p-1)\alpha' + \max\left(\frac{p-1}{p},\; \frac{1}{2\beta}\right)\frac{n}{B}, \quad
       \alpha' = \alpha / \lceil \log_2 p \rceil $$

    β is the rate across the worst half-half cut over the injection rate of half the chips: half of all data
    crosses it. Assumes uniform shares and minimal routing; messages to different chips are in flight at once, so
    that p − 1 of them cost no more latency than p − 1 injections of a logarithmic collective's step.
    """
    several = np.minimum(1.0, chips - 1.0)
    volume = several * np.maximum((chips - 1.0) / chips, 0.5 / bisection)
    steps = np.maximum(np.ceil(np.log2(np.maximum(chips, 1.0)) - 1e-9), 1.0)
    return (chips - 1.0) / steps * latency + volume * size / rate


@cites("thakur2005collectives", place="sections 4.1–4.2, cost of a reduce-scatter or all-gather in general")
def stepped_gather_time(size: Bytes, chips: Count, *, rate: BytesPerSecond, latency: Seconds, steps: Count) -> Seconds:
    r"""Reduce-scatter or all-gather in the number of steps natural to a network's shape.

    $$ t = s\,\alpha + \frac{p-1}{p}\,\frac{n}{B} $$

    Assumes a bandwidth-optimal schedule: s = p − 1 on a ring, ⌈log₂ p⌉ on a switch, 1 fully connected,
    Σ(k − 1) on a torus.
    """
    return steps * latency + (chips - 1.0) / chips * size / rate


@cites("sanders2009twotree", place="section 2, pipelining with the best number of pieces")
def pipeline_fill_time(transfer: Seconds, *, fill: Seconds) -> Seconds:
    r"""What cutting a message into pieces costs beside its transfer.

    $$ t = \varphi\,\sqrt{\frac{x}{x + \varphi}} $$

    x is the transfer at full rate. With pieces of the best size a pipeline costs the geometric mean of transfer and
    stage time, √(φ x); φ is the most it costs, when pieces have grown as large as the library lets them. Assumes one
    constant covers both regimes; long messages are then a constant φ away from their full rate.
    """
    return fill * np.sqrt(transfer / np.maximum(transfer + fill, 1e-30))


@cites("nccl-tests", place="doc/PERFORMANCE.md, bus bandwidth")
def bus_rate(size: Bytes, chips: Count, time: Seconds, *, passes: Count) -> BytesPerSecond:
    r"""Rate that each chip's link would have to sustain, so that collectives compare with the link and each other.

    $$ b = k\,\frac{p-1}{p}\,\frac{n}{t} $$

    k is how often the data pass a link: 2 in an all-reduce, 1 in an all-gather, a reduce-scatter or an all-to-all.
    Assumes an algorithm that sends no more than it must; a switch that adds up needs less, so that the bus rate may be
    above that of the link.
    """
    return passes * (chips - 1.0) / chips * size / time
