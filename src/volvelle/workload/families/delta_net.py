"""Linear attention by the gated delta rule, in place of attention.

As code of Qwen3-Next has it: projections to queries, keys, values and a gate, and to a decay and a write strength for
each value head; a convolution over queries, keys and values; the recurrence; a norm of each head and its gate.
"""

from volvelle.workload.builder import BlockBuilder
from volvelle.workload.families.attention_forms import DeltaNet
from volvelle.workload.families.pieces import STREAM, bias
from volvelle.workload.operations import Unit

_KEYS, _VALUES = "state_groups state", "state_groups state_heads state_width"
_PER_HEAD = "state_groups state_heads"


def delta_sizes(net: DeltaNet) -> dict[str, float]:
    """Its dimensions: a group is a head of keys, with the value heads that share it."""
    return {
        "state_groups": net.key_heads,
        "state_heads": net.value_heads // net.key_heads,
        "state_width": net.value_dim,
        "state": net.key_dim,
        "taps": net.taps,
    }


def delta_net(b: BlockBuilder, net: DeltaNet, x: str) -> str:
    """From the normed stream to what the recurrence adds to it."""
    b.part = "state space"
    made, keyed, steps = (f"batch position {dims}" for dims in (_VALUES, _KEYS, _PER_HEAD))
    query, key = (
        b.normalise(f"{name}_norm", f"{keyed} -> {keyed}", _convolved(b, name, _KEYS, x), along="state", flops=4.0)
        for name in ("state_query", "state_key")
    )
    value = _convolved(b, "state_value", _VALUES, x)
    gate = b.project("state_gate", f"{STREAM}, hidden {_VALUES} -> {made}", x)
    write, decay = (
        b.project(name, f"{STREAM}, hidden {_PER_HEAD} -> {steps}", x) for name in ("state_write", "state_decay")
    )
    write = b.pointwise("write_sigmoid", f"{steps} -> {steps}", write, flops=3.0, saves=(0,), fused=True)
    decay = bias(b, "decay_bias", steps, _PER_HEAD, decay)
    decay = b.pointwise("decay_softplus", f"{steps} -> {steps}", decay, flops=3.0, saves=(0,), fused=True)
    read = b.scan(
        "state_scan",
        f"{keyed}, {keyed}, {made}, {steps}, {steps}, {_PER_HEAD} -> {made}",
        *(query, key, value, write, decay),
        b.weight("decay_weight", _PER_HEAD),
        along="position",
        flops=_chunk_flops(net),
        unit=Unit.MATRIX,
    )
    weight = b.weight("state_norm_weight", "state_width")
    normed = b.normalise("state_norm", f"{made}, state_width -> {made}", read, weight, along="state_width", flops=4.0)
    gated = b.pointwise("state_gating", f"{made}, {made} -> {made}", gate, normed, flops=5.0, saves=(0, 1))
    return b.project("state_out", f"{made}, {_VALUES} hidden -> {STREAM}", gated)


def _chunk_flops(net: DeltaNet) -> float:
    """FLOP for every number of a head's state (the chunkwise form of Yang et al.).

    What a chunk writes is corrected by the state, then added to it, and outputs are read from it: 2 each. Within a
    chunk keys meet keys, queries meet keys, and corrections make keys and values anew and are read: 2 × key_dim or
    2 × value_dim for every pair of positions, counted in full as in attention. The inverse of the triangle between
    keys, chunk² / 3 for each position and about 1 % of all, is not counted.
    """
    with_keys, with_values = 3 * 2.0 * net.chunk / net.value_dim, 2 * 2.0 * net.chunk / net.key_dim
    return 6.0 + with_keys + with_values


def _convolved(b: BlockBuilder, name: str, width: str, x: str) -> str:
    """A projection and a convolution over its last few positions, each channel alone, without bias."""
    dims = f"batch position {width}"
    made = b.project(name, f"{STREAM}, hidden {width} -> {dims}", x)
    weight = b.weight(f"{name}_conv_weight", f"taps {width}")
    made = b.convolve(f"{name}_conv", f"{dims}, taps {width} -> {dims}", made, weight, along="position")
    return b.pointwise(f"{name}_activation", f"{dims} -> {dims}", made, flops=4.0, saves=(0,), fused=True)
