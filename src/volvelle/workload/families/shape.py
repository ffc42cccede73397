"""Architecture numbers of a decoder-only transformer."""

from dataclasses import dataclass
from typing import Literal

from volvelle.errors import DescriptionError

__all__ = ["Experts", "LatentAttention", "Transformer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """A mixture of experts in place of the feed-forward."""

    count: int
    """Routed experts."""
    chosen: int
    """Experts each token is sent to."""
    ffn: int
    """Inner width of one expert."""
    shared_ffn: int = 0
    """Inner width of the experts every token passes, taken together."""
    dense_layers: int = 0
    """Layers at the start that keep an ordinary feed-forward."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2): queries, keys and values from low-rank latents."""

    query_rank: int
    """0: queries are projected directly."""
    kv_rank: int
    rotary_dim: int
    """Part of a head's query and key that carries the position."""
    value_dim: int
    """A head's width of values; `head_dim` of the transformer is that of queries and keys without position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformer:
    """Architecture numbers of a decoder-only transformer."""

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocabulary: int
    sequence: int
    activation: Literal["gelu", "relu", "swiglu", "geglu"] = "gelu"
    norm: Literal["layernorm", "rmsnorm"] = "layernorm"
    norms_per_layer: Literal[1, 2, 4] = 2
    norm_bias: bool = True
    linear_bias: Literal["none", "qkv", "all"] = "none"
    head_bias: bool = False
    positions: Literal["learned", "rotary", "alibi", "none"] = "rotary"
    position_slots: int = 0
    embedding_norm: bool = False
    qk_norm: bool = False
    tied_embeddings: bool = False
    parallel_block: bool = False
    dropout: bool = False
    experts: Experts | None = None
    latent: LatentAttention | None = None
    element: str = "bf16"

    def __post_init__(self) -> None:
        for field in ("layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocabulary", "sequence"):
            if getattr(self, field) < 1:
                raise DescriptionError(f"model {self.name!r}: {field} is {getattr(self, field)}; it must be positive")
        if self.heads % self.kv_heads:
            raise DescriptionError(
                f"model {self.name!r}: {self.heads} heads cannot share {self.kv_heads} key-value heads evenly"
            )
        if self.norms_per_layer == 1 and not self.parallel_block:
            raise DescriptionError(f"model {self.name!r}: one norm a layer needs parallel_block: true")
        experts = self.experts
        if experts is not None and not 1 <= experts.chosen <= experts.count:
            raise DescriptionError(
                f"model {self.name!r}: each token goes to {experts.chosen} of {experts.count} experts; choose 1 to all"
            )
        if experts is not None and not 0 <= experts.dense_layers < self.layers:
            raise DescriptionError(
                f"model {self.name!r}: {experts.dense_layers} dense layers of {self.layers} leave none for experts"
            )
        if self.latent is not None and self.heads != self.kv_heads:
            raise DescriptionError(f"model {self.name!r}: latent attention has as many key-value heads as heads")

    @property
    def gated(self) -> bool:
        """Whether the feed-forward multiplies two branches."""
        return self.activation in ("swiglu", "geglu")
