"""Decoder-only transformers: GPT, Llama and the many in between.

One builder; what differs between families (norms, gates, biases, positions, shared keys) is a field of
:class:`Transformer`. Attention scores are counted in full: a causal mask is not taken to halve them, as in
Megatron and in ``torch.utils.flop_counter``.
"""

from dataclasses import dataclass
from typing import Literal

from volvelle.errors import DescriptionError
from volvelle.workload.builder import BlockBuilder
from volvelle.workload.graph import Block, Workload

__all__ = ["ATTENTION_CORE", "Transformer", "transformer"]

ATTENTION_CORE = "attention core"
"""Region of the operations between the query, key, value projections and the output projection."""

_STREAM = "batch position hidden"
_Q = "batch position kv_heads group head_dim"
_K = "batch position kv_heads head_dim"
_KEYED = "batch key kv_heads head_dim"
_SCORES = "batch kv_heads group position key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformer:
    """Architecture numbers of a dense decoder-only transformer."""

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

    @property
    def gated(self) -> bool:
        """Whether the feed-forward multiplies two branches."""
        return self.activation in ("swiglu", "geglu")


def transformer(shape: Transformer, *, batch: int = 1, sequence: int | None = None) -> Workload:
    """The workload of one forward pass over `batch` sequences, ending in the training loss."""
    length = sequence or shape.sequence
    sizes = {
        "batch": batch,
        "position": length,
        "key": length,
        "hidden": shape.hidden,
        "kv_heads": shape.kv_heads,
        "group": shape.heads // shape.kv_heads,
        "head_dim": shape.head_dim,
        "ffn": shape.ffn,
        "vocab": shape.vocabulary,
    }
    if shape.position_slots:
        sizes["slots"] = shape.position_slots
    return Workload(name=shape.name, sizes=sizes, blocks=(_embedding(shape), _layer(shape), _head(shape)))


def _embedding(shape: Transformer) -> Block:
    b = BlockBuilder("embedding", element=shape.element)
    stream = b.look_up(
        "tokens",
        f"batch position, vocab hidden -> {_STREAM}",
        b.data("token_numbers", "batch position"),
        b.weight("weight", "vocab hidden"),
    )
    if shape.position_slots:
        places = b.look_up(
            "places",
            f"batch position, slots hidden -> {_STREAM}",
            b.data("place_numbers", "batch position"),
            b.weight("place_weight", "slots hidden"),
        )
        stream = _sum(b, "place_sum", stream, places)
    if shape.embedding_norm:
        stream = _norm(b, shape, "embedding_norm", stream)
    if shape.dropout:
        stream = _dropout(b, "dropout", _STREAM, stream)
    return b.build(outputs=(stream,))


def _layer(shape: Transformer) -> Block:
    b = BlockBuilder("layer", element=shape.element)
    x = b.input("x", _STREAM)
    attended = _norm(b, shape, "attention_norm", x)
    attention = _attention(b, shape, attended)
    if shape.norms_per_layer == 4:
        attention = _norm(b, shape, "attention_post_norm", attention)
    if shape.parallel_block:
        fed = attended if shape.norms_per_layer == 1 else _norm(b, shape, "mlp_norm", x)
        mlp = _feed_forward(b, shape, fed)
        both = _sum(b, "branch_sum", attention, mlp)
        return b.build(outputs=(_sum(b, "residual", x, both),), repeat=shape.layers)
    middle = _sum(b, "attention_residual", x, attention)
    mlp = _feed_forward(b, shape, _norm(b, shape, "mlp_norm", middle))
    if shape.norms_per_layer == 4:
        mlp = _norm(b, shape, "mlp_post_norm", mlp)
    return b.build(outputs=(_sum(b, "mlp_residual", middle, mlp),), repeat=shape.layers)


def _head(shape: Transformer) -> Block:
    b = BlockBuilder("head", element=shape.element)
    x = b.input("x", _STREAM)
    final = _norm(b, shape, "final_norm", x)
    b.part = "output head"
    tied = "embedding.weight" if shape.tied_embeddings else ""
    weight = b.weight("weight", "vocab hidden", tied_to=tied)
    logits = b.contract("logits", f"{_STREAM}, vocab hidden -> batch position vocab", final, weight)
    if shape.head_bias:
        logits = _bias(b, "logits_bias", "batch position vocab", "vocab", logits)
    loss = b.normalise(
        "loss",
        "batch position vocab -> batch position",
        logits,
        along="vocab",
        flops=4.0,
        statistics_reduced=True,
        element="fp32",
    )
    return b.build(outputs=(loss,))


def _attention(b: BlockBuilder, shape: Transformer, x: str) -> str:
    b.part = "attention"
    biased = shape.linear_bias in ("all", "qkv")
    q = b.contract(
        "query",
        f"{_STREAM}, hidden kv_heads group head_dim -> {_Q}",
        x,
        b.weight("query_weight", "hidden kv_heads group head_dim"),
    )
    k, v = (
        b.contract(
            name,
            f"{_STREAM}, hidden kv_heads head_dim -> {_K}",
            x,
            b.weight(f"{name}_weight", "hidden kv_heads head_dim"),
        )
        for name in ("key_proj", "value")
    )
    if biased:
        q = _bias(b, "query_bias", _Q, "kv_heads group head_dim", q)
        k = _bias(b, "key_bias", _K, "kv_heads head_dim", k)
        v = _bias(b, "value_bias", _K, "kv_heads head_dim", v)
    if shape.qk_norm:
        for_q, for_k = (b.weight(f"{name}_norm_weight", "head_dim") for name in ("query", "key"))
        q = b.normalise("query_norm", f"{_Q}, head_dim -> {_Q}", q, for_q, along="head_dim")
        k = b.normalise("key_norm", f"{_K}, head_dim -> {_K}", k, for_k, along="head_dim")
    if shape.positions == "rotary":
        q = b.pointwise("query_rotation", f"{_Q} -> {_Q}", q, flops=3.0)
        k = b.pointwise("key_rotation", f"{_K} -> {_K}", k, flops=3.0)
    b.region = ATTENTION_CORE
    scores = b.contract("scores", f"{_Q}, {_KEYED} -> {_SCORES}", q, k)
    probabilities = b.normalise("softmax", f"{_SCORES} -> {_SCORES}", scores, along="key", saves_output=True)
    if shape.dropout:
        probabilities = _dropout(b, "attention_dropout", _SCORES, probabilities)
    context = b.contract("context", f"{_SCORES}, {_KEYED} -> {_Q}", probabilities, v)
    b.region = ""
    out = b.contract(
        "attention_out",
        f"{_Q}, kv_heads group head_dim hidden -> {_STREAM}",
        context,
        b.weight("attention_out_weight", "kv_heads group head_dim hidden"),
    )
    if shape.linear_bias == "all":
        out = _bias(b, "attention_out_bias", _STREAM, "hidden", out)
    return _dropout(b, "attention_out_dropout", _STREAM, out) if shape.dropout else out


def _feed_forward(b: BlockBuilder, shape: Transformer, x: str) -> str:
    b.part = "feed-forward"
    wide = "batch position ffn"
    up = b.contract("mlp_up", f"{_STREAM}, hidden ffn -> {wide}", x, b.weight("mlp_up_weight", "hidden ffn"))
    if shape.linear_bias == "all":
        up = _bias(b, "mlp_up_bias", wide, "ffn", up)
    if shape.gated:
        gate = b.contract("mlp_gate", f"{_STREAM}, hidden ffn -> {wide}", x, b.weight("mlp_gate_weight", "hidden ffn"))
        active = b.pointwise("activation", f"{wide}, {wide} -> {wide}", gate, up, flops=8.0, saves=(0, 1))
    else:
        flops = 8.0 if shape.activation == "gelu" else 1.0
        active = b.pointwise("activation", f"{wide} -> {wide}", up, flops=flops, saves=(0,))
    down = b.contract("mlp_down", f"{wide}, ffn hidden -> {_STREAM}", active, b.weight("mlp_down_weight", "ffn hidden"))
    if shape.linear_bias == "all":
        down = _bias(b, "mlp_down_bias", _STREAM, "hidden", down)
    return _dropout(b, "mlp_dropout", _STREAM, down) if shape.dropout else down


def _norm(b: BlockBuilder, shape: Transformer, name: str, x: str) -> str:
    b.part = "norms, residuals"
    weights = [b.weight(f"{name}_weight", "hidden")]
    if shape.norm_bias:
        weights.append(b.weight(f"{name}_shift", "hidden"))
    signature = ", ".join([_STREAM, *["hidden"] * len(weights)]) + f" -> {_STREAM}"
    flops = 5.0 if shape.norm == "layernorm" else 4.0
    return b.normalise(name, signature, x, *weights, along="hidden", flops=flops)


def _bias(b: BlockBuilder, name: str, dims: str, of: str, x: str) -> str:
    return b.pointwise(name, f"{dims}, {of} -> {dims}", x, b.weight(f"{name}_weight", of), fused=True)


def _sum(b: BlockBuilder, name: str, first: str, second: str) -> str:
    b.part = "norms, residuals"
    return b.pointwise(name, f"{_STREAM}, {_STREAM} -> {_STREAM}", first, second, is_sum=True)


def _dropout(b: BlockBuilder, name: str, dims: str, x: str) -> str:
    return b.pointwise(name, f"{dims} -> {dims}, {dims}", x, flops=2.0, saves=(~1,))
