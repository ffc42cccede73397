"""The time of recurrent layers: one token a sequence, and prompts in chunks."""

from volvelle.laws.citations import cites
from volvelle.quantities import Bytes, BytesPerSecond, Count, Flop, Seconds

STATE_BYTES: Bytes = 4.0
"""Of a number of a state."""


@cites("yang2024gateddeltanet", place="section 2.2, equation 8: the state is read, changed and written at every token")
def state_step_time(
    sequences: Count, heads: Count, *, key_dim: Count, value_dim: Count, memory_rate: BytesPerSecond, start: Seconds
) -> Seconds:
    r"""Time of one token a sequence through a recurrent layer.

    $$ t = t_0 + \frac{2\,n\,h\,d_k d_v\,\epsilon_s}{B} $$

    Assumes that arithmetic hides behind the state, which is read and written once.
    """
    return start + 2.0 * sequences * heads * key_dim * value_dim * STATE_BYTES / memory_rate


@cites("yang2024gateddeltanet", place="section 3.3, equations 8 to 10: chunkwise form")
def delta_rule_work(tokens: Count, heads: Count, *, key_dim: Count, value_dim: Count, chunk: Count) -> Flop:
    r"""FLOP of the gated delta rule over a prompt, chunk by chunk.

    $$ W = 2\,s\,h\,\left(C\,(2 d_k + 2 d_v) + 3\,d_k d_v\right) $$

    with products among the C positions of a chunk, what they owe to each other solved as a triangle, and the state read
    and changed once a chunk. Assumes whole chunks.
    """
    return 2.0 * tokens * heads * (chunk * (2.0 * key_dim + 2.0 * value_dim) + 3.0 * key_dim * value_dim)
