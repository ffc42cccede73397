"""State spaces in place of attention: Mamba and Mamba-2.

Their recurrences are scans whose states stay on the chip. Mamba's runs on the vector units; Mamba-2's is worked
through in chunks, as matrix products.
"""

from volvelle.workload.builder import BlockBuilder
from volvelle.workload.families.pieces import STREAM, bias, norm
from volvelle.workload.families.shape import Mamba, Mamba2, Transformer
from volvelle.workload.operations import Unit

_PART = "state space"
_INNER = "batch position inner"
_HEADS = "state_groups state_heads state_width"
_SCAN_FLOPS = 9.0
"""For every channel and number of its state: decay, input, state and output, as users of the published kernel count
it (github.com/state-spaces/mamba, issue 110)."""


def mamba(b: BlockBuilder, shape: Transformer, space: Mamba, x: str) -> str:
    """From the normed stream to what the recurrence adds to it, each channel with a step of its own."""
    b.part = _PART
    into, gate = (_project(b, name, x, "hidden", "inner", STREAM) for name in ("state_in", "state_gate"))
    into = _convolved(b, "state_conv", "inner", into)
    projected = []
    for name, width in (("step_down", "step_rank"), ("state_input", "state"), ("state_output", "state")):
        low = _project(b, name, into, "inner", width, _INNER)
        if space.norms:
            low = norm(b, shape, f"{name}_norm", low, dims=f"batch position {width}", along=width)
            b.part = _PART
        projected.append(low)
    step, *vectors = projected
    step = _project(b, "step_up", step, "step_rank", "inner", "batch position step_rank")
    step = bias(b, "step_bias", _INNER, "inner", step)
    step = b.pointwise("step_softplus", f"{_INNER} -> {_INNER}", step, flops=3.0, saves=(0,), fused=True)
    vector = "batch position state"
    made = b.scan(
        "state_scan",
        f"{_INNER}, {_INNER}, inner state, {vector}, {vector}, inner -> {_INNER}",
        into,
        step,
        b.weight("decay_weight", "inner state"),
        *vectors,
        b.weight("skip_weight", "inner"),
        along="position",
        flops=_SCAN_FLOPS,
    )
    signature = f"{_INNER}, {_INNER} -> {_INNER}"
    gated = b.pointwise("state_gating", signature, gate, made, flops=5.0, saves=(0, 1))
    return _project(b, "state_out", gated, "inner", "hidden", _INNER)


def mamba2(b: BlockBuilder, space: Mamba2, x: str) -> str:
    """From the normed stream to what the recurrence adds to it, each head with one decay and step."""
    b.part = _PART
    inner, vector, per_head = f"batch position {_HEADS}", "state_groups state", "state_groups state_heads"
    gate, into = (_project(b, name, x, "hidden", _HEADS, STREAM) for name in ("state_gate", "state_in"))
    into = _convolved(b, "state_conv", _HEADS, into)
    vectors = [
        _convolved(b, f"{name}_conv", vector, _project(b, name, x, "hidden", vector, STREAM))
        for name in ("state_input", "state_output")
    ]
    steps = f"batch position {per_head}"
    step = bias(b, "step_bias", steps, per_head, _project(b, "step", x, "hidden", per_head, STREAM))
    step = b.pointwise("step_softplus", f"{steps} -> {steps}", step, flops=3.0, saves=(0,), fused=True)
    made = b.scan(
        "state_scan",
        f"{inner}, {steps}, {per_head}, batch position {vector}, batch position {vector}, {per_head} -> {inner}",
        into,
        step,
        b.weight("decay_weight", per_head),
        *vectors,
        b.weight("skip_weight", per_head),
        along="position",
        flops=_chunk_flops(space),
        unit=Unit.MATRIX,
    )
    gated = b.pointwise("state_gating", f"{inner}, {inner} -> {inner}", gate, made, flops=5.0, saves=(0, 1))
    weight = b.weight("state_norm_weight", _HEADS)
    normed = b.normalise("state_norm", f"{inner}, {_HEADS} -> {inner}", gated, weight, along="state_width", flops=4.0)
    return _project(b, "state_out", normed, _HEADS, "hidden", inner)


def _chunk_flops(space: Mamba2) -> float:
    """FLOP for every number of a head's state (Dao and Gu, section 6).

    States from inputs and outputs from states take 2 each. Within a chunk every position meets all others, as in
    attention: 2 × state for each group of heads, and 2 × head_dim for each head.
    """
    within_group = 2.0 * space.chunk / (space.head_dim * space.heads / space.groups)
    within_head = 2.0 * space.chunk / space.state
    return 4.0 + within_group + within_head


def _project(b: BlockBuilder, name: str, x: str, taken: str, given: str, dims: str) -> str:
    """A projection of a tensor of `dims`, which end in `taken`."""
    return b.project(name, f"{dims}, {taken} {given} -> batch position {given}", x)


def _convolved(b: BlockBuilder, name: str, width: str, x: str) -> str:
    """A convolution over the last few positions, each channel alone, with its bias and activation."""
    dims = f"batch position {width}"
    weight = b.weight(f"{name}_weight", f"taps {width}")
    made = b.convolve(name, f"{dims}, taps {width} -> {dims}", x, weight, along="position")
    made = bias(b, f"{name}_bias", dims, width, made)
    return b.pointwise(f"{name}_activation", f"{dims} -> {dims}", made, flops=4.0, saves=(0,), fused=True)
