"""Architecture numbers of a decoder-only transformer, and of its relatives whose layers are of several kinds."""

from dataclasses import dataclass
from itertools import cycle, islice
from typing import Literal

from volvelle.domains import LAYERS, NO_LAYERS, NO_WIDTH, WIDTH, check_fields, number
from volvelle.errors import DescriptionError
from volvelle.presentable import only_what_is_set
from volvelle.workload.families.attention_forms import DeltaNet, SparseIndex
from volvelle.workload.families.layer_kind import LayerKind

TRAINING_LENGTH = 8192
"""Tokens per training sequence where no length is given, for every model whose context is not shorter."""

__all__ = [
    "DeltaNet",
    "Experts",
    "LatentAttention",
    "LayerKind",
    "Mamba",
    "Mamba2",
    "SparseIndex",
    "Transformer",
    "training_length",
]


def training_length(context: int) -> int:
    """Return the tokens per training sequence where no length is given; `context` 0 means that it is unknown."""
    return min(TRAINING_LENGTH, context) if context else TRAINING_LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """A mixture of experts in place of the feed-forward."""

    count: int = number(WIDTH)
    """Routed experts."""
    chosen: int = number(WIDTH)
    """Experts each token is sent to."""
    ffn: int = number(WIDTH)
    """Inner width of one expert."""
    shared_ffn: int = number(NO_WIDTH, 0)
    """Inner width of the experts every token passes, taken together."""
    dense_layers: int = number(NO_LAYERS, 0)
    """Layers at the start that keep an ordinary feed-forward."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2): queries, keys and values from low-rank latents."""

    query_rank: int = number(NO_WIDTH)
    """0: queries are projected directly."""
    kv_rank: int = number(WIDTH)
    rotary_dim: int = number(WIDTH)
    """Part of a head's query and key that carries the position."""
    value_dim: int = number(WIDTH)
    """A head's width of values; `head_dim` of the transformer is that of queries and keys without position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mamba:
    """A selective state space in place of attention (Gu and Dao, arXiv:2312.00752)."""

    inner: int = number(WIDTH)
    """Width of the recurrence: channels, each with a state of its own."""
    state: int = number(WIDTH)
    """Numbers in the state of one channel."""
    step_rank: int = number(WIDTH)
    """Rank of the projection that makes each channel's step."""
    taps: int = number(WIDTH, 4)
    """Positions that the convolution before the recurrence covers."""
    norms: bool = False
    """Whether step, input and output vectors are normed, as in Jamba."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mamba2:
    """A state space of heads with one decay each, worked through in chunks (Dao and Gu, arXiv:2405.21060)."""

    heads: int = number(WIDTH)
    head_dim: int = number(WIDTH)
    groups: int = number(WIDTH)
    """Heads of one group share their input and output vectors, as query heads share keys and values."""
    state: int = number(WIDTH)
    """Length of the input and output vectors; a head's state is `head_dim` times this."""
    chunk: int = number(WIDTH)
    """Positions worked through at once, as in attention; only states pass from chunk to chunk."""
    taps: int = number(WIDTH, 4)
    """Positions that the convolution before the recurrence covers."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Transformer:
    """Architecture numbers of a decoder-only transformer.

    Layers are all alike (attention, then a feed-forward or `experts`) unless a `pattern` names their kinds.
    """

    name: str
    layers: int = number(LAYERS)
    hidden: int = number(WIDTH)
    heads: int = number(WIDTH)
    kv_heads: int = number(WIDTH)
    head_dim: int = number(WIDTH)
    ffn: int = number(WIDTH)
    vocabulary: int = number(WIDTH)
    context: int = number(NO_WIDTH, 0)
    """Tokens of the longest sequence the model was made for (``max_position_embeddings``); 0: unknown."""
    sequence: int = number(NO_WIDTH, 0)
    """Tokens per training sequence where a question gives no length; 0: `training_length` of the context."""
    published_weights: str = ""
    """Format of the published weights, where it is narrower than 16 bits (``fp8-block``)."""
    activation: Literal["gelu", "relu", "relu2", "swiglu", "geglu"] = "gelu"
    norm: Literal["layernorm", "rmsnorm"] = "layernorm"
    norms_per_layer: Literal[1, 2, 4] = 2
    norm_bias: bool = True
    linear_bias: Literal["none", "qkv", "all"] = "none"
    head_bias: bool = False
    positions: Literal["learned", "rotary", "alibi", "none"] = "rotary"
    position_slots: int = number(NO_WIDTH, 0)
    embedding_norm: bool = False
    qk_norm: bool = False
    qk_norm_over_heads: bool = False
    """Whether that norm goes over all heads, so that chips that share them exchange what they sum."""
    tied_embeddings: bool = False
    parallel_block: bool = False
    dropout: bool = False
    experts: Experts | None = None
    latent: LatentAttention | None = None
    pattern: tuple[LayerKind, ...] = ()
    """Kinds of layers in order, over and over until there are `layers` of them."""
    window: int = number(NO_WIDTH, 0)
    """Positions that local attention reaches over."""
    global_rotation: bool = True
    """Whether attention over all positions rotates queries and keys too; in Llama 4 only local attention does."""
    mamba: Mamba | None = None
    mamba2: Mamba2 | None = None
    delta_net: DeltaNet | None = None
    attention_gate: bool = False
    """Whether what attention makes is multiplied by a gate, as wide as its queries."""
    sparse: SparseIndex | None = None
    sinks: bool = False
    """Whether every head has a sink beside its keys (gpt-oss), which has no price: steps are known less by it."""
    element: str = "bf16"

    def __post_init__(self) -> None:
        check_fields(self, f"model {self.name!r}")
        if not self.sequence:
            object.__setattr__(self, "sequence", training_length(self.context))
        for name in ("experts", "latent", "mamba", "mamba2", "delta_net", "sparse"):
            if getattr(self, name) is not None:
                check_fields(getattr(self, name), f"model {self.name!r}: {name}")
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
        self._check_pattern()

    def __repr__(self) -> str:
        return only_what_is_set(self)

    def _check_pattern(self) -> None:
        where = f"model {self.name!r}"
        spaces = {"mamba": self.mamba, "mamba2": self.mamba2, "delta net": self.delta_net}
        needs: dict[str, object] = {**spaces, "local attention": self.window}
        if self.pattern:
            needs["experts"] = self.experts
        used = {part for kind in self.pattern for part in (kind.mixer, kind.feed)}
        for part, said in needs.items():
            field = _FIELDS.get(part, part)
            if part in used and not said:
                raise DescriptionError(f"{where}: its pattern has {part}; give {field}")
            if part not in used and said:
                lack = f"its pattern has no {part}" if self.pattern else "no pattern says where"
                raise DescriptionError(f"{where}: {field} is given, but {lack}")
        if self.sparse is not None and self.window:
            raise DescriptionError(f"{where}: its keys are chosen by an index or by a window, not both")
        if not self.pattern:
            return
        if self.parallel_block:
            raise DescriptionError(f"{where}: layers of several kinds run their halves in turn, not side by side")
        if self.experts is not None and self.experts.dense_layers:
            raise DescriptionError(f"{where}: say by the pattern which layers are dense, not by dense_layers")
        if sum(space is not None for space in spaces.values()) > 1:
            raise DescriptionError(f"{where}: its state spaces are mamba, mamba2 or delta net, not both")
        if self.mamba2 is not None and self.mamba2.heads % self.mamba2.groups:
            raise DescriptionError(
                f"{where}: {self.mamba2.heads} heads of its state space do not form {self.mamba2.groups} even groups"
            )
        if self.delta_net is not None and self.delta_net.value_heads % self.delta_net.key_heads:
            raise DescriptionError(
                f"{where}: {self.delta_net.value_heads} value heads of its delta net cannot share "
                f"{self.delta_net.key_heads} heads of keys evenly"
            )

    @property
    def kinds(self) -> tuple[LayerKind, ...]:
        """The kind of each layer, in order."""
        if self.pattern:
            return tuple(islice(cycle(self.pattern), self.layers))
        dense = self.experts.dense_layers if self.experts else 0
        rest = LayerKind(mixer="attention", feed="experts" if self.experts else "mlp")
        return (LayerKind(mixer="attention", feed="mlp"),) * dense + (rest,) * (self.layers - dense)

    @property
    def gated(self) -> bool:
        """Whether the feed-forward multiplies two branches."""
        return self.activation in ("swiglu", "geglu")


_FIELDS = {"local attention": "window", "delta net": "delta_net"}
"""Fields that are not named as the part of a layer they describe."""
