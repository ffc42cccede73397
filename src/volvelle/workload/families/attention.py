"""Attention: grouped heads, or heads from low-rank latents."""

from volvelle.workload.builder import BlockBuilder
from volvelle.workload.families.pieces import STREAM, bias, dropout, norm
from volvelle.workload.families.shape import LatentAttention, Transformer
from volvelle.workload.families.sparse_index import queries_with_choice

ATTENTION_CORE = "attention core"
"""Region of the operations between the query, key, value projections and the output projection."""

_Q = "batch position kv_heads group head_dim"
_K = "batch position kv_heads head_dim"


def attention(b: BlockBuilder, shape: Transformer, x: str, *, local: bool = False) -> str:
    """From the normed stream to what attention adds to it; `local` attention reaches over a window only."""
    b.part = "attention"
    if shape.latent is not None:
        q, k, v = _latent(b, shape, shape.latent, x)
        across, value = "qk_dim", "value_dim"
    else:
        q, k, v = _grouped(b, shape, x, rotated=local or shape.global_rotation)
        across, value = "head_dim", "head_dim"
    b.part = "attention"
    if shape.sparse is not None:
        q = queries_with_choice(b, shape, x, q, dims=f"batch position kv_heads group {across}")
        local = True
    context = attention_core(b, q, k, v, across=across, value=value, local=local, drops=shape.dropout)
    made = f"batch position kv_heads group {value}"
    if shape.attention_gate:
        gate = b.project("attention_gate", f"{STREAM}, hidden kv_heads group {value} -> {made}", x)
        context = b.pointwise("attention_gating", f"{made}, {made} -> {made}", gate, context, flops=4.0, saves=(0, 1))
    out = b.project("attention_out", f"{made}, kv_heads group {value} hidden -> {STREAM}", context)
    if shape.linear_bias == "all":
        out = bias(b, "attention_out_bias", STREAM, "hidden", out)
    return dropout(b, "attention_out_dropout", STREAM, out) if shape.dropout else out


def attention_core(
    b: BlockBuilder,
    q: str,
    k: str,
    v: str,
    *,
    across: str = "head_dim",
    value: str = "head_dim",
    local: bool = False,
    drops: bool = False,
) -> str:
    """Queries against keys, and the values they choose.

    There are ``position`` queries and ``key`` keys: as many in training, one against a cache when a token is made.
    Local attention has ``window`` keys for each query, counted in full like a causal mask: also at the start of the
    sequence, and for attention in chunks also at the start of each. So has attention whose keys an index chooses.
    """
    b.region = ATTENTION_CORE
    window = "window" if local else ""
    key = window or "key"
    weighed, made = f"batch kv_heads group position {key}", f"batch position kv_heads group {value}"
    query, keyed = f"batch position kv_heads group {across}", f"batch {key} kv_heads {across}"
    scores = b.contract("scores", f"{query}, {keyed} -> {weighed}", q, k, window=window)
    probabilities = b.normalise("softmax", f"{weighed} -> {weighed}", scores, along=key, saves_output=True)
    if drops:
        probabilities = dropout(b, "attention_dropout", weighed, probabilities)
    signature = f"{weighed}, batch {key} kv_heads {value} -> {made}"
    context = b.contract("context", signature, probabilities, v, window=window)
    b.region = ""
    return context


def _grouped(b: BlockBuilder, shape: Transformer, x: str, *, rotated: bool) -> tuple[str, str, str]:
    """Queries, keys and values; several query heads may share one of keys and values."""
    q = b.project("query", f"{STREAM}, hidden kv_heads group head_dim -> {_Q}", x)
    k, v = (b.project(name, f"{STREAM}, hidden kv_heads head_dim -> {_K}", x) for name in ("key_proj", "value"))
    if shape.linear_bias in ("all", "qkv"):
        q = bias(b, "query_bias", _Q, "kv_heads group head_dim", q)
        k = bias(b, "key_bias", _K, "kv_heads head_dim", k)
        v = bias(b, "value_bias", _K, "kv_heads head_dim", v)
    if shape.qk_norm:
        for_q, for_k = (b.weight(f"{name}_norm_weight", "head_dim") for name in ("query", "key"))
        q = b.normalise("query_norm", f"{_Q}, head_dim -> {_Q}", q, for_q, along="head_dim")
        k = b.normalise("key_norm", f"{_K}, head_dim -> {_K}", k, for_k, along="head_dim")
    if shape.positions == "rotary" and rotated:
        q = b.pointwise("query_rotation", f"{_Q} -> {_Q}", q, flops=3.0)
        k = b.pointwise("key_rotation", f"{_K} -> {_K}", k, flops=3.0)
    return q, k, v


def _latent(b: BlockBuilder, shape: Transformer, latent: LatentAttention, x: str) -> tuple[str, str, str]:
    """Queries, keys and values from latents; a part of each key carries the position and is shared by all heads."""
    heads = "batch position kv_heads group"
    if latent.query_rank:
        low = b.project("query_down", f"{STREAM}, hidden query_rank -> batch position query_rank", x)
        low = norm(b, shape, "query_latent_norm", low, dims="batch position query_rank", along="query_rank")
        b.part = "attention"
        q = b.project("query_up", f"batch position query_rank, query_rank kv_heads group qk_dim -> {heads} qk_dim", low)
    else:
        q = b.project("query", f"{STREAM}, hidden kv_heads group qk_dim -> {heads} qk_dim", x)
    low = b.project("kv_down", f"{STREAM}, hidden kv_rank -> batch position kv_rank", x)
    placed = b.project("key_place", f"{STREAM}, hidden rotary_dim -> batch position rotary_dim", x)
    low = norm(b, shape, "kv_latent_norm", low, dims="batch position kv_rank", along="kv_rank")
    b.part = "attention"
    content = b.project(
        "key_up", "batch position kv_rank, kv_rank kv_heads head_dim -> batch position kv_heads head_dim", low
    )
    v = b.project(
        "value_up", "batch position kv_rank, kv_rank kv_heads value_dim -> batch position kv_heads value_dim", low
    )
    q = b.pointwise("query_rotation", f"{heads} qk_dim -> {heads} qk_dim", q, flops=3.0)
    k = b.join("key_join", "batch position kv_heads head_dim, batch position rotary_dim", "qk_dim", content, placed)
    return q, k, v
