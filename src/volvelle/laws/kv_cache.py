"""What is kept of every token that was read or made: bytes of keys and values, by token, by block, by request."""

import numpy as np

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, Count, Number


@cites("ainslie2023gqa", place="section 2.2; split over chips as Shoeybi et al. split heads")
def cached_heads(kv_heads: Count, tensor: Count) -> Count:
    r"""Heads of keys and values that one of `tensor` chips keeps.

    $$ h = \max(1,\; h_{kv} / t) $$

    Beyond as many chips as there are heads each head is kept more than once. Assumes degrees that divide the heads or
    are a multiple of them.
    """
    return np.maximum(1.0, kv_heads / tensor)


@cites("ainslie2023gqa", place="section 2.2")
def grouped_cache_bytes(kv_heads: Count, head_dim: Count, tensor: Count, *, element_bytes: Bytes) -> Bytes:
    r"""Bytes that a layer of grouped heads keeps of a token on one chip.

    $$ b = 2\,\max(1, h_{kv}/t)\,d\,\epsilon $$

    Assumes that keys and values are as wide as each other.
    """
    return 2.0 * cached_heads(kv_heads, tensor) * head_dim * element_bytes


@cites("deepseek2024v2", place="section 2.1.2, equation 9 onwards: only the latent and the rotated key are kept")
def latent_cache_bytes(kv_rank: Count, rotary_dim: Count, *, element_bytes: Bytes) -> Bytes:
    r"""Bytes that a layer of latent attention keeps of a token on every chip.

    $$ b = (r + d_R)\,\epsilon $$

    All heads read the same latent, so it is not split: every chip keeps all of it. Assumes latents kept as they are
    made, and no expanded keys.
    """
    return (kv_rank + rotary_dim) * element_bytes


@cites("beltagy2020longformer", place="section 3.1, sliding window attention")
def attended_positions(context: Count, *, reach: Count) -> Count:
    r"""Positions that a query reads, of those before it.

    $$ n = \min(c,\; w) $$

    Assumes a window that moves with the query, or the w highest by an index; infinite: all of them.
    """
    return np.minimum(context, reach)


@cites("kwon2023pagedattention", place="section 4.2, block tables")
def cache_blocks(tokens: Count, *, block: Count) -> Count:
    r"""Blocks that so many tokens take.

    $$ n = \lceil s / B \rceil $$

    Assumes that a block holds tokens of one request only.
    """
    return np.ceil(np.asarray(tokens) / block)


@cites("yang2024gateddeltanet", place="section 2, the state of one head is a matrix")
def recurrent_state_bytes(
    heads: Count, key_dim: Count, value_dim: Count, channels: Count, taps: Count, tensor: Count, *, state_bytes: Bytes
) -> Bytes:
    r"""Bytes that a recurrent layer keeps of a request, however long it is, on one of `tensor` chips.

    $$ b = \frac{h\,d_k d_v\,\epsilon_s + 2\,c\,(\kappa - 1)}{t} $$

    with the last κ − 1 inputs of its convolution over c channels in 16 bits. Assumes one state a head.
    """
    return (heads * key_dim * value_dim * state_bytes + 2.0 * channels * (taps - 1.0)) / tensor


@cites("kwon2023pagedattention", place="section 4.1: what weights and activations leave is cut into blocks")
def cache_room(memory: Bytes, *, share: Number, weights: Bytes, working: Bytes) -> Bytes:
    r"""Bytes that are left for what is cached.

    $$ b = \max(0,\; u M - W - A) $$

    with the share u of the memory that an engine may take, weights W, and A what the largest step works with, captured
    graphs and buffers of collectives included. Assumes that nothing else is kept on the chip.
    """
    return np.maximum(0.0, share * memory - weights - working)
