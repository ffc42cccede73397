"""One pass of a served model: a layer split over chips, stages one behind the other, and how often a pass comes out."""

from volvelle.laws.citations import cites
from volvelle.laws.collectives import ring_all_reduce_time
from volvelle.quantities import Bytes, BytesPerSecond, Count, Flop, FlopPerSecond, Number, Seconds


@cites("dfmodel", place="section VIII-A; as in the authors' serving inputs, nothing overlapped")
def split_layer_time(
    work: Flop,
    traffic: Bytes,
    exchanged: Bytes,
    chips: Count,
    *,
    compute_rate: FlopPerSecond,
    memory_rate: BytesPerSecond,
    link_rate: BytesPerSecond,
    latency: Seconds,
) -> Seconds:
    r"""A layer whose heads and feed-forward width are split over the chips of a ring.

    $$ t = \frac{W}{p\,F} + \frac{Q}{p\,B} + 2\,t_\mathrm{AR}(n, p) $$

    with the work W and the memory traffic Q of the whole layer, and one all-reduce of n bytes behind attention and
    behind the feed-forward part: on a ring each is a reduce-scatter and an all-gather. Assumes that nothing overlaps,
    and work and weights that split evenly.
    """
    exchange = 2.0 * ring_all_reduce_time(exchanged, chips, rate=link_rate, latency=latency)
    return work / (chips * compute_rate) + traffic / (chips * memory_rate) + exchange


@cites("dfmodel", place="section VIII-A, latency of the entire pass")
def pass_latency(stage: Seconds, stages: Count, *, transfer: Seconds) -> Seconds:
    r"""How long one pass takes through all stages of a pipeline.

    $$ T = p\,t_s + (p - 1)\,x $$

    with the time x that one stage takes to hand what it made to the next. Assumes stages alike, and no waiting for
    other passes.
    """
    return stages * stage + (stages - 1.0) * transfer


@cites("dfmodel", place="section VIII-A, system-level throughput of different users")
def pass_rate(stage: Seconds) -> Number:
    r"""Passes that leave a full pipeline every second.

    $$ r = 1 / t_s $$

    Assumes stages alike, a pass in each of them, and transfers that run beside the stages.
    """
    return 1.0 / stage
