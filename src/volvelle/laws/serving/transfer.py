"""Prompts computed in one place and continued in another: how long a cache is on its way, and how places match."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, Number, Seconds


@cites("patel2024splitwise", place="section 4.2, transfer of the KV cache between machines")
def cache_transfer_time(kept: Bytes, sources: Count, targets: Count, *, link_rate: BytesPerSecond) -> Seconds:
    r"""Time to move the cache of a prompt from the chips that computed it to those that decode.

    $$ t = \frac{b}{B}\,\max\!\left(1,\; \frac{p_d}{p_p}\right) $$

    with b bytes that each of the $p_d$ decoding chips keeps, $p_p$ chips that send, and the sustained rate B of the
    link of one chip. The slower of both ends decides. Assumes that the chips of one request share the work evenly, that
    every chip is sent what it keeps (a latent that all keep is sent to each), and a network without other traffic.
    """
    return kept * np.maximum(1.0, targets / sources) / link_rate


@cites("patel2024splitwise", place="section 4.2 and figure 11: layer by layer, beside the computation of the prompt")
def streamed_arrival(
    started: Seconds, computed: Seconds, *, transfer: Seconds, free: Seconds, latency: Seconds, layers: Count
) -> Seconds:
    r"""When a cache has arrived that is sent layer by layer while the prompt is computed.

    $$ T = \max\!\left(\max\!\left(t_0 + \frac{t_1 - t_0}{L},\; f\right) + x,\; t_1 + \frac{x}{L}\right) + \ell $$

    for a prompt that is worked on from $t_0$ to $t_1$, a transfer of x and a link of latency ℓ that is free from f on:
    the first layer can go when it is computed, and the last not before. Assumes layers alike, and work on the prompt
    that is spread evenly from its beginning to its end; one layer is the transfer after the prompt.
    """
    first = np.maximum(started + (computed - started) / layers, free)
    return np.maximum(first + transfer, computed + transfer / layers) + latency


@cites("zhong2024distserve", place="section 4.1: rates of both phases are matched by numbers of instances")
def matched_ratio(prefill_rate: Number, decode_rate: Number) -> Number:
    r"""Engines that compute prompts for each that decodes, so that neither waits for the other.

    $$ n = r_d / r_p $$

    with the requests a second that one of each sustains. Assumes pools that are as good as the sum of their engines.
    """
    return decode_rate / prefill_rate
