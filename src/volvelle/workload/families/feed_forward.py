"""Feed-forward networks: dense, gated, or a mixture of experts."""

from volvelle.workload.builder import BlockBuilder
from volvelle.workload.families.pieces import STREAM, bias, dropout, residual
from volvelle.workload.families.shape import Experts, Transformer

_ROUTED = "batch experts slots hidden"
_ACTIVATION = {"gelu": 8.0, "relu": 1.0, "relu2": 2.0}
"""FLOP a point."""


def feed_forward(b: BlockBuilder, shape: Transformer, x: str, *, name: str = "mlp", ffn: str = "ffn") -> str:
    """Up, activation, down, for every token."""
    b.part = "feed-forward"
    wide = f"batch position {ffn}"
    up = b.project(f"{name}_up", f"{STREAM}, hidden {ffn} -> {wide}", x)
    if shape.linear_bias == "all":
        up = bias(b, f"{name}_up_bias", wide, ffn, up)
    active = "activation" if name == "mlp" else f"{name}_activation"
    if shape.gated:
        gate = b.project(f"{name}_gate", f"{STREAM}, hidden {ffn} -> {wide}", x)
        act = b.pointwise(active, f"{wide}, {wide} -> {wide}", gate, up, flops=8.0, saves=(0, 1))
    else:
        act = b.pointwise(active, f"{wide} -> {wide}", up, flops=_ACTIVATION[shape.activation], saves=(0,))
    down = b.project(f"{name}_down", f"{wide}, {ffn} hidden -> {STREAM}", act)
    if shape.linear_bias == "all":
        down = bias(b, f"{name}_down_bias", STREAM, "hidden", down)
    return dropout(b, f"{name}_dropout", STREAM, down) if shape.dropout else down


def mixture(b: BlockBuilder, shape: Transformer, experts: Experts, x: str) -> str:
    """Each token to its chosen experts and back, weighted; and past the shared experts, if any.

    ``slots`` are the places one sequence has at each expert: positions × chosen / experts.
    """
    b.part = "routing"
    choices = "batch position choices"
    logits = b.project("router", f"{STREAM}, hidden choices -> {choices}", x)
    weights = b.normalise("router_weights", f"{choices} -> {choices}", logits, along="choices", saves_output=True)
    sent = b.route("dispatch", f"{STREAM} -> {_ROUTED}", x)
    b.part = "experts"
    wide, inner = "batch experts slots expert_ffn", "experts hidden expert_ffn"
    up = b.project("expert_up", f"{_ROUTED}, {inner} -> {wide}", sent)
    if shape.gated:
        gate = b.project("expert_gate", f"{_ROUTED}, {inner} -> {wide}", sent)
        act = b.pointwise("expert_activation", f"{wide}, {wide} -> {wide}", gate, up, flops=8.0, saves=(0, 1))
    else:
        act = b.pointwise("expert_activation", f"{wide} -> {wide}", up, flops=8.0, saves=(0,))
    outer = "experts expert_ffn hidden"
    made = b.project("expert_down", f"{wide}, {outer} -> {_ROUTED}", act)
    b.part = "routing"
    back = b.route("combine", f"{_ROUTED}, {choices} -> {STREAM}", made, weights, flops=2.0)
    if experts.shared_ffn:
        shared = feed_forward(b, shape, x, name="shared", ffn="shared_ffn")
        back = residual(b, "expert_sum", back, shared)
    return back
