"""Pieces that all layers are made of: norms, biases, sums, dropout."""

from volvelle.workload.builder import BlockBuilder
from volvelle.workload.families.shape import Transformer

STREAM = "batch position hidden"
"""Dimensions of what layers hand to each other."""


def norm(b: BlockBuilder, shape: Transformer, name: str, x: str, *, dims: str = STREAM, along: str = "hidden") -> str:
    """A norm of the model's kind along one dimension."""
    b.part = "norms, residuals"
    weights = [b.weight(f"{name}_weight", along)]
    if shape.norm_bias:
        weights.append(b.weight(f"{name}_shift", along))
    signature = ", ".join([dims, *[along] * len(weights)]) + f" -> {dims}"
    flops = 5.0 if shape.norm == "layernorm" else 4.0
    return b.normalise(name, signature, x, *weights, along=along, flops=flops)


def bias(b: BlockBuilder, name: str, dims: str, of: str, x: str) -> str:
    """A bias, added by the kernel before it."""
    return b.pointwise(name, f"{dims}, {of} -> {dims}", x, b.weight(f"{name}_weight", of), fused=True)


def residual(b: BlockBuilder, name: str, first: str, second: str) -> str:
    """A sum of two streams."""
    b.part = "norms, residuals"
    return b.pointwise(name, f"{STREAM}, {STREAM} -> {STREAM}", first, second, is_sum=True)


def dropout(b: BlockBuilder, name: str, dims: str, x: str) -> str:
    """Dropout, which keeps its mask for the backward pass."""
    return b.pointwise(name, f"{dims} -> {dims}, {dims}", x, flops=2.0, saves=(~1,))
