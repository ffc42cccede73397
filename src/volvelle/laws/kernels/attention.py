"""The time of fused attention: causal prompts, one token at a time, and their latent forms."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.laws.kernels.products import smooth_maximum
from volvelle.quantities import Bytes, BytesPerSecond, Count, Flop, FlopPerSecond, Number, Seconds

ROWS_OF_A_TILE = 128
"""Queries that a unit works on at a time."""


@cites("dao2023flashattention2", place="section 3.1, blocks above the diagonal skipped")
def causal_attention_work(
    sequences: Count, heads: Count, length: Count, *, width: Count, extra_keys: Count = 0.0, past: Count = 0.0
) -> Flop:
    r"""FLOP of causal attention, tile by tile, as a kernel does them.

    $$ W = b\,h\,S \left(p + \frac{S + 128}{2} + s_0\right) 2 w, \qquad S = 128 \lceil s / 128 \rceil $$

    `width` is what a query and a key cost: both products over the head and the exponential, in head dimensions; `past`
    are p keys before the first query, which all queries see. Assumes tiles of 128 queries, the diagonal ones whole, and
    a start worth s₀ keys for every tile.
    """
    padded = ROWS_OF_A_TILE * np.ceil(length / ROWS_OF_A_TILE)
    return sequences * heads * padded * (past + (padded + ROWS_OF_A_TILE) / 2.0 + extra_keys) * 2.0 * width


@cites("dao2023flashattention2", place="section 3.2, work partitioned over query tiles")
def longest_tile_work(length: Count, *, width: Count, units: Count, extra_keys: Count = 0.0, past: Count = 0.0) -> Flop:
    r"""FLOP that the whole chip could have done while one unit works on the last tile of queries, the longest.

    $$ W = U \cdot 128\,(p + S + s_0)\,2 w $$

    Assumes that a tile of 128 queries is one unit's from its first key to its last.
    """
    padded = ROWS_OF_A_TILE * np.ceil(length / ROWS_OF_A_TILE)
    return units * ROWS_OF_A_TILE * (past + padded + extra_keys) * 2.0 * width


@cites("aiconfigurator2026", place="measured kernel tables, attention over a prompt")
def prompt_attention_time(
    work: Flop,
    longest: Flop,
    traffic: Bytes,
    appended: Bytes,
    *,
    rate: FlopPerSecond,
    memory_rate: BytesPerSecond,
    path: Number,
    passes: Number,
    start: Seconds,
) -> Seconds:
    r"""Time of fused causal attention over a prompt.

    $$ t = t_0 + \left[\left(\max(C_1, C_2) + \tfrac12 \min(C_1, C_2)\right)^{p} + (Q/B)^{p}\right]^{1/p} + a\,Q_a/B $$

    with $C_1$ all tiles spread over the chip and $C_2$ π times the longest alone. `appended` are the bytes of keys,
    values and queries that `passes` go over beside: rotary embedding and the cache. Assumes tiles are dealt out
    longest first.
    """
    spread, alone = work / rate, path * longest / rate
    arithmetic = np.maximum(spread, alone) + 0.5 * np.minimum(spread, alone)
    return start + smooth_maximum(arithmetic, traffic / memory_rate) + passes * appended / memory_rate


@cites("aiconfigurator2026", place="measured kernel tables, attention of one token")
def one_token_time(
    work: Flop,
    traffic: Bytes,
    pairs: Count,
    *,
    blocks: Count | None,
    rate: FlopPerSecond,
    memory_rate: BytesPerSecond,
    block_share: Number,
    start: Seconds,
    each: Seconds,
) -> Seconds:
    r"""Time of attention of one new token a sequence over what is cached.

    $$ t = t_0 + \max\left(\left[(Q/B)^p + (W/F)^p\right]^{1/p},\; \frac{Q}{n_b}\frac{u}{B}\right)
       + \sigma\,n\,h_{kv} $$

    `pairs` are sequences times heads of keys, each of which costs σ to begin; `blocks` are the parts they are cut into,
    each of which draws 1/u of the memory's rate, so that few long sequences do not fill the chip. Assumes kernels that
    split long sequences among units. Without `blocks` one core draws the whole memory rate, and the second term is
    absent.
    """
    together = smooth_maximum(traffic / memory_rate, work / rate)
    if blocks is not None:
        together = np.maximum(together, traffic / blocks * block_share / memory_rate)
    return start + together + each * pairs
