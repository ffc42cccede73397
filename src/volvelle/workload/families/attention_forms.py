"""Newer forms of attention: a delta rule in its place, and an index that chooses which keys it looks at."""

from dataclasses import dataclass

from volvelle.domains import WIDTH, number


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaNet:
    """Linear attention by the gated delta rule, worked through in chunks (Yang et al., arXiv:2412.06464)."""

    value_heads: int = number(WIDTH)
    """Heads, each with a state of `key_dim` times `value_dim` and a decay of its own."""
    key_heads: int = number(WIDTH)
    """Heads of queries and keys, which several value heads may share."""
    key_dim: int = number(WIDTH)
    value_dim: int = number(WIDTH)
    taps: int = number(WIDTH, 4)
    """Positions that the convolution over queries, keys and values covers."""
    chunk: int = number(WIDTH, 64)
    """Positions worked through at once; 64 in the published kernels, and in no configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseIndex:
    """An index that chooses the keys each query attends to (DeepSeek sparse attention, arXiv:2512.02556)."""

    heads: int = number(WIDTH)
    """Heads of the index's own queries; they share one key."""
    dim: int = number(WIDTH)
    """Width of a head of the index, and of its key."""
    chosen: int = number(WIDTH)
    """Keys that each query attends to, at most."""
