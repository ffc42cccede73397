"""Collectives over nested network dimensions: inside first, then between with what is left.

A group that spans several dimensions is described by one :class:`Tier` a dimension, innermost first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from volvelle.laws.citations import cites
from volvelle.laws.collectives import (
    all_to_all_time,
    in_network_all_reduce_time,
    pipeline_fill_time,
    pipelined_broadcast_time,
    stepped_gather_time,
    tree_all_reduce_time,
)
from volvelle.quantities import Bytes, BytesPerSecond, Count, Fraction, Number, Seconds, is_plainly


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """What a group of chips has of one network dimension."""

    chips: Count
    """Members of the group along this dimension."""
    rate: BytesPerSecond
    """Sustained by one chip, each direction."""
    latency: Seconds
    steps: Count
    """Steps of a reduce-scatter among that many."""
    bisection: Fraction = 1.0
    crossing: Fraction = 1.0
    """Part of an all-to-all's bytes that crosses this dimension, of what would if each went its own way."""
    setup: Seconds = 0.0
    fill: Seconds = 0.0
    """Most that filling the pipeline of a long message costs."""
    reduces: bool = False
    reduction_efficiency: Fraction = 1.0
    """Rate while the network adds up, over `rate`."""
    unhidden: Fraction = 0.0
    """Of this transfer and the longest further in, the share of the shorter that a pipeline does not hide."""


def _left_for(size: Bytes, tiers: Sequence[Tier]) -> Iterator[tuple[Tier, Bytes]]:
    """Each tier and the bytes a chip has left for it, after the tiers inside have shared them out."""
    left: Number = size
    for tier in tiers:
        yield tier, left
        left = left / tier.chips


def _setup(tiers: Sequence[Tier]) -> Seconds:
    """Launching costs once: the dearest of the tiers the group really spans."""
    found: Number = 0.0
    for tier in tiers:
        found = np.maximum(found, np.minimum(1.0, tier.chips - 1.0) * tier.setup)
    return found


def _combined(times: Sequence[tuple[Seconds, Seconds]], tiers: Sequence[Tier], *, pipelined: bool) -> Seconds:
    """Latencies and fillings add; transfers of pipelined tiers run at once, of the others one after another.

    Of those at once, all but the longest may be hidden in part alone.
    """
    latency: Number = 0.0
    transfer: Number = 0.0
    rest: Number = 0.0
    for (wait, move), tier in zip(times, tiers, strict=True):
        latency = latency + wait
        if not is_plainly(tier.fill, 0.0):
            latency = latency + pipeline_fill_time(move, fill=tier.fill)
        if pipelined and not is_plainly(tier.unhidden, 0.0):
            rest = rest + tier.unhidden * np.minimum(transfer, move)
        transfer = np.maximum(transfer, move) if pipelined else transfer + move
    return latency + transfer + rest


def _ring_volumes(size: Bytes, tiers: Sequence[Tier]) -> list[Bytes]:
    """What a chip sends in each dimension when rings pass all chips, each ring leaving a unit by another chip.

    Of a ring's hops, 1 in P_{<i} leaves a unit below dimension i; those that also leave the unit of dimension i
    belong to the next.
    """
    members: Number = 1.0
    for tier in tiers:
        members = members * tier.chips
    passing = (members - 1.0) / members * size
    volumes = []
    inside: Number = 1.0
    for tier in tiers:
        through = inside * tier.chips
        leaving = np.minimum(1.0, members / through - 1.0)
        volumes.append(np.minimum(1.0, tier.chips - 1.0) * (1.0 / inside - leaving / through) * passing)
        inside = through
    return volumes


def _ring_parts(size: Bytes, tiers: Sequence[Tier]) -> list[tuple[Seconds, Seconds]]:
    volumes = _ring_volumes(size, tiers)
    return [(tier.steps * tier.latency, volume / tier.rate) for tier, volume in zip(tiers, volumes, strict=True)]


@cites("nccl-tuning", place="ncclTopoTuneModel, collectives other than all-reduce run as rings")
def nested_reduce_scatter_time(size: Bytes, tiers: Sequence[Tier], *, pipelined: bool = True) -> Seconds:
    r"""Reduce-scatter around one ring through nested dimensions.

    $$ t = \sigma + \sum_i (s_i\alpha_i + f_i) + \max_i\ (\text{or } \sum_i)\
       \frac{P-1}{P}\,\frac{n}{B_i}\left(\frac{1}{P_{<i}} - \frac{1}{P_{\le i}}\right) $$

    P is the size of the group, with an index that of its part below or up to dimension i; the last term falls away in
    the outermost dimension. f is the filling of the pipeline. Assumes as many rings at once as a unit has chips, each
    leaving it by another chip's links; a library that nested its reduce-scatters would send only (p−1)/p of n/P_{<i}
    through dimension i. Dimensions are passed in a pipeline (max) or one after the other (sum).
    """
    return _setup(tiers) + _combined(_ring_parts(size, tiers), tiers, pipelined=pipelined)


@cites("nccl-tuning", place="ncclTopoTuneModel, collectives other than all-reduce run as rings")
def nested_all_gather_time(size: Bytes, tiers: Sequence[Tier], *, pipelined: bool = True) -> Seconds:
    r"""All-gather around one ring through nested dimensions: the reduce-scatter run backwards.

    $$ t = \sigma + \sum_i (s_i\alpha_i + f_i) + \max_i\ (\text{or } \sum_i)\
       \frac{P-1}{P}\,\frac{n}{B_i}\left(\frac{1}{P_{<i}} - \frac{1}{P_{\le i}}\right) $$

    Assumes what the reduce-scatter assumes.
    """
    return _setup(tiers) + _combined(_ring_parts(size, tiers), tiers, pipelined=pipelined)


@cites("cho2019blueconnect", place="section 3, all-reduce decomposed over network dimensions")
def nested_all_reduce_time(size: Bytes, tiers: Sequence[Tier], *, pipelined: bool = True) -> Seconds:
    r"""All-reduce over nested dimensions: scatter inwards to outwards, gather back.

    $$ t = \sigma + \sum_i (2 s_i\alpha_i + f_i) + \max_i\ (\text{or } \sum_i)\
       2\,\frac{p_i-1}{p_i}\,\frac{n}{P_{<i}\,B_i} $$

    Where a dimension's network adds up by itself, its transfer is (p+1)/p at a rate of its own instead of 2(p−1)/p
    when that takes less, and its steps are two. f is the filling of the pipeline. Assumes chunks pass the dimensions
    in a pipeline (max) or one after the other (sum); two trees between units send as much. A pipeline hides all but the
    longest transfer, or all but a share of the others that a tier states.
    """
    parts = []
    for tier, left in _left_for(size, tiers):
        latency = 2.0 * tier.steps * tier.latency
        transfer = 2.0 * stepped_gather_time(left, tier.chips, rate=tier.rate, latency=0.0, steps=0.0)
        if tier.reduces:
            rate = tier.rate * tier.reduction_efficiency
            transfer = np.minimum(transfer, in_network_all_reduce_time(left, tier.chips, rate=rate, latency=0.0))
            latency = np.minimum(latency, 2.0 * tier.latency)
        parts.append((latency, transfer))
    return _setup(tiers) + _combined(parts, tiers, pipelined=pipelined)


@cites("patarasuk2009ring", place="theorem 2, on a tree of switches")
def ring_through_tiers_time(size: Bytes, tiers: Sequence[Tier], *, pipelined: bool = True) -> Seconds:
    r"""All-reduce around one ring through nested dimensions, where a library is told to use no other algorithm.

    $$ t = \sigma + \sum_i (2 h_i\alpha_i + f_i) + \max_i\ (\text{or } \sum_i)\
       2\,h_i\,\frac{n}{P\,B_i}, \qquad
       h_i = (P-1)\left(\frac{1}{P_{<i}} - \frac{1}{P_{\le i}}\right) $$

    h are the hops of a ring in dimension i: P − 1 of them in all, also where a switch could halve and double in fewer
    steps. Assumes what the reduce-scatter around one ring assumes; the network adds nothing up.
    """
    return _setup(tiers) + _combined(_hop_parts(size, tiers, passes=2.0), tiers, pipelined=pipelined)


@cites("patarasuk2009ring", place="section 3, all-gather as one half of an all-reduce, on a tree of switches")
def ring_gather_through_tiers_time(size: Bytes, tiers: Sequence[Tier], *, pipelined: bool = True) -> Seconds:
    r"""All-gather or reduce-scatter around one ring through nested dimensions: half an all-reduce around it.

    $$ t = \sigma + \sum_i (h_i\alpha_i + f_i) + \max_i\ (\text{or } \sum_i)\
       h_i\,\frac{n}{P\,B_i}, \qquad
       h_i = (P-1)\left(\frac{1}{P_{<i}} - \frac{1}{P_{\le i}}\right) $$

    Assumes what an all-reduce around one ring assumes: P − 1 hops, also where a switch could do with fewer steps.
    """
    return _setup(tiers) + _combined(_hop_parts(size, tiers, passes=1.0), tiers, pipelined=pipelined)


def _hop_parts(size: Bytes, tiers: Sequence[Tier], *, passes: float) -> list[tuple[Seconds, Seconds]]:
    """Latencies and transfers of the hops that a ring through all has in each dimension."""
    members: Number = 1.0
    for tier in tiers:
        members = members * tier.chips
    hops = _ring_volumes(members, tiers)
    return [
        (passes * hop * tier.latency, passes * hop * size / members / tier.rate)
        for tier, hop in zip(tiers, hops, strict=True)
    ]


@cites("sanders2009twotree", place="section 3, two trees at once, between units and in them")
def tree_through_tiers_time(size: Bytes, tiers: Sequence[Tier], *, pipelined: bool = True) -> Seconds:
    r"""All-reduce up and down two trees in every dimension, where a library is told to use no other algorithm.

    $$ t = \sigma + \sum_i (2\lceil\log_2 p_i\rceil\alpha_i + f_i) + \max_i\ (\text{or } \sum_i)\
       \frac{2n}{P_{<i}\,B_i} \quad (p_i > 1) $$

    Assumes as many trees at once as a unit has chips, each leaving it by another chip's links, and messages cut fine
    enough to keep them full; inside a unit every chip passes all of the data up and down. The network adds nothing up.
    """
    parts = []
    for tier, left in _left_for(size, tiers):
        latency = tree_all_reduce_time(0.0, tier.chips, rate=1.0, latency=tier.latency)
        parts.append((latency, tree_all_reduce_time(left, tier.chips, rate=tier.rate, latency=0.0)))
    return _setup(tiers) + _combined(parts, tiers, pipelined=pipelined)


@cites("klenk2020innetwork", place="section III, in-network reduction, in every dimension whose switches add up")
def in_network_through_tiers_time(size: Bytes, tiers: Sequence[Tier], *, pipelined: bool = True) -> Seconds:
    r"""All-reduce over nested dimensions, added up by the network wherever it can.

    $$ t = \sigma + \sum_i (2\alpha_i + f_i) + \max_i\ (\text{or } \sum_i)\
       \frac{p_i+1}{p_i}\,\frac{n}{P_{<i}\,r_i B_i} \quad (p_i > 1) $$

    r is the rate while the network adds up over the rate otherwise. A dimension whose network cannot add up does as in
    the nested all-reduce. Assumes a library that is told to use no other algorithm: also where that takes longer.
    """
    parts = []
    for tier, left in _left_for(size, tiers):
        if tier.reduces:
            rate = tier.rate * tier.reduction_efficiency
            latency = in_network_all_reduce_time(0.0, tier.chips, rate=rate, latency=tier.latency)
            transfer = in_network_all_reduce_time(left, tier.chips, rate=rate, latency=0.0)
        else:
            latency = 2.0 * tier.steps * tier.latency
            transfer = 2.0 * stepped_gather_time(left, tier.chips, rate=tier.rate, latency=0.0, steps=0.0)
        parts.append((latency, transfer))
    return _setup(tiers) + _combined(parts, tiers, pipelined=pipelined)


@cites("thakur2005collectives", place="section 4.3, long-message broadcast, dimension by dimension")
def nested_broadcast_time(size: Bytes, tiers: Sequence[Tier], *, pipelined: bool = True) -> Seconds:
    r"""Broadcast in fine pieces over nested dimensions.

    $$ t = \sigma + \sum_i (\lceil\log_2 p_i\rceil\alpha_i + f_i) + \max_i\ (\text{or } \sum_i)\
       \frac{n}{P_{<i}\,B_i} \quad (p_i > 1) $$

    Assumes that the chips of a unit share out what leaves it, so that each sends a part through its own links.
    """
    parts = []
    for tier, left in _left_for(size, tiers):
        latency = pipelined_broadcast_time(0.0, tier.chips, rate=1.0, latency=tier.latency)
        parts.append((latency, pipelined_broadcast_time(left, tier.chips, rate=tier.rate, latency=0.0)))
    return _setup(tiers) + _combined(parts, tiers, pipelined=pipelined)


@cites("dally2004interconnection", place="section 3.3, bisection bound, dimension by dimension")
def nested_all_to_all_time(size: Bytes, tiers: Sequence[Tier], *, pipelined: bool = True) -> Seconds:
    r"""All-to-all over nested dimensions, each dimension carrying what has to cross it.

    $$ n_i = s_i\,n\,\frac{p_i - 1}{p_i} $$

    of every chip's data leaves its unit of dimension i for another one; s is 1, or less where copies of the same data
    cross once. Assumes uniform shares; each chip sends
    its own data through its own links at every dimension (no aggregation at a leader).
    """
    parts = []
    for tier in tiers:
        crossing = size if is_plainly(tier.crossing, 1.0) else size * tier.crossing
        whole = all_to_all_time(crossing, tier.chips, rate=tier.rate, latency=0.0, bisection=tier.bisection)
        wait = all_to_all_time(0.0, tier.chips, rate=1.0, latency=tier.latency)
        parts.append((wait, whole))
    return _setup(tiers) + _combined(parts, tiers, pipelined=pipelined)
