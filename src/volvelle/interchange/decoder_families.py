"""Families of decoders as ``config.json`` files of Hugging Face describe them: one reader each.

The same word means different things in different families, and what a file may leave out has a default of its own in
each; both follow the ``transformers`` library. What the shape leaves out is told in
:mod:`volvelle.interchange.huggingface`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from volvelle.interchange.config_fields import ConfigFields
from volvelle.workload.families.shape import Experts, LatentAttention, Transformer

_LAYERS = ("num_hidden_layers", "n_layer", "n_layers")
_HIDDEN = ("hidden_size", "n_embed", "n_embd", "d_model")
_HEADS = ("num_attention_heads", "n_head", "n_heads")
_LENGTH = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length")
_ALREADY_SCALED = ("llama3", "longrope", "su", "default")
"""Ways to scale rotary angles whose ``max_position_embeddings`` is the length after scaling."""


def context_length(c: ConfigFields, stated: int) -> int:
    """Return the context in tokens: what the file states, times the factor of ``rope_scaling`` as engines apply it.

    YaRN multiplies ``original_max_position_embeddings``; linear and dynamic scaling multiply the stated length.
    """
    name = "rope_scaling" if c.fields.get("rope_scaling") else "rope_parameters"
    scaling = c.inner(name)
    kind = scaling.fields.get("rope_type") or scaling.fields.get("type")
    if not isinstance(kind, str) or kind in _ALREADY_SCALED or c.family.startswith("gemma3"):
        return stated
    length = scaling.whole("original_max_position_embeddings", default=stated) if kind == "yarn" else stated
    return round(length * scaling.share("factor", default=1.0))


# -- Llama and what descends from it -------------------------------------------------------------------------


def llama_like(
    c: ConfigFields,
    *,
    kv_default: int | None = None,
    vocabulary_default: int | None = None,
    length_default: int | None = None,
    head_default: int | None = None,
    tied: bool = False,
    ffn: tuple[str, ...] = ("intermediate_size",),
    activation: tuple[str, ...] = ("hidden_act",),
    default_activation: str = "silu",
    experts: Experts | None = None,
    latent: LatentAttention | None = None,
) -> Transformer:
    """RMS norms before each half of a layer, rotary positions, a gated feed-forward."""
    heads, hidden = c.whole(*_HEADS), c.whole(*_HIDDEN)
    rests = experts.ffn if experts is not None and not experts.dense_layers else None
    return Transformer(
        name=c.name,
        layers=c.whole(*_LAYERS),
        hidden=hidden,
        heads=heads,
        kv_heads=heads if latent else c.kv_heads(heads, default=kv_default),
        head_dim=c.whole("qk_nope_head_dim") if latent else c.head_dim(heads, hidden, default=head_default),
        ffn=c.whole(*ffn, default=rests),
        vocabulary=c.whole("vocab_size", default=vocabulary_default),
        context=context_length(c, c.whole(*_LENGTH, default=length_default)),
        activation=c.activation(*activation, default=default_activation, gated=True),
        norm="rmsnorm",
        norm_bias=False,
        tied_embeddings=c.truth("tie_word_embeddings", default=tied),
        dropout=c.drops("resid_pdrop", "embd_pdrop", "attention_dropout"),
        experts=experts,
        latent=latent,
    )


def _llama(c: ConfigFields) -> Transformer:
    attention, mlp = c.truth("attention_bias", default=False), c.truth("mlp_bias", default=False)
    if mlp and not attention:
        raise c.refuse("mlp_bias", "biases are on all projections, on queries, keys and values, or on none")
    return replace(llama_like(c), linear_bias="all" if mlp else "qkv" if attention else "none")


def _deepseek_dense_layers(c: ConfigFields) -> int:
    if c.whole("moe_layer_freq", default=1) != 1:
        raise c.refuse("moe_layer_freq", "after the first layers, every layer has experts")
    return c.whole("first_k_dense_replace", default=0)


def _deepseek_experts(c: ConfigFields) -> Experts | None:
    if c.fields.get("n_routed_experts") is None:
        return None
    width = c.whole("moe_intermediate_size")
    return Experts(
        count=c.whole("n_routed_experts"),
        chosen=c.whole("num_experts_per_tok"),
        ffn=width,
        shared_ffn=width * c.whole("n_shared_experts", default=0),
        dense_layers=_deepseek_dense_layers(c),
    )


def deepseek_latent(c: ConfigFields) -> Transformer:
    """As in Llama, but with latent attention and experts."""
    if c.truth("attention_bias", default=False):
        raise c.refuse("attention_bias", "latent attention has no biases")
    latent = LatentAttention(
        query_rank=c.whole("q_lora_rank", default=0),
        kv_rank=c.whole("kv_lora_rank"),
        rotary_dim=c.whole("qk_rope_head_dim"),
        value_dim=c.whole("v_head_dim"),
    )
    return llama_like(c, experts=_deepseek_experts(c), latent=latent)


def qwen_experts(c: ConfigFields, *, shared: int) -> Experts:
    """Every layer has experts, but for those the file lists; the shape has words for a run of those at the start."""
    if c.whole("decoder_sparse_step", default=1) != 1:
        raise c.refuse("decoder_sparse_step", "every layer has experts, but for some at the start")
    dense = c.fields.get("mlp_only_layers") or []
    if not isinstance(dense, list) or sorted(map(str, dense)) != sorted(map(str, range(len(dense)))):
        raise c.refuse("mlp_only_layers", "layers without experts come first")
    return Experts(
        count=c.whole("num_experts"),
        chosen=c.whole("num_experts_per_tok"),
        ffn=c.whole("moe_intermediate_size"),
        shared_ffn=shared,
        dense_layers=len(dense),
    )


def mixtral_experts(c: ConfigFields) -> Experts:
    """Experts by the names that Mixtral gave their counts."""
    return Experts(
        count=c.whole("num_local_experts", "num_experts"),
        chosen=c.whole("num_experts_per_tok", "experts_per_token"),
        ffn=c.whole("intermediate_size"),
    )


def gemma(
    c: ConfigFields,
    *,
    kv_default: int,
    vocabulary_default: int | None = None,
    length_default: int | None = None,
) -> Transformer:
    """As in Llama, but with gates of GELU, wide heads and tied embeddings."""
    if c.truth("attention_bias", default=False):
        raise c.refuse("attention_bias", "a Gemma with biases is not described")
    # The first files of Gemma say hidden_act and leave hidden_activation null; both mean the tanh form of GELU.
    return llama_like(
        c,
        kv_default=kv_default,
        vocabulary_default=vocabulary_default,
        length_default=length_default,
        head_default=256,
        tied=True,
        activation=("hidden_activation", "hidden_act"),
        default_activation="gelu_pytorch_tanh",
    )


def _qwen2_moe(c: ConfigFields) -> Transformer:
    experts = qwen_experts(c, shared=c.whole("shared_expert_intermediate_size"))
    shape = llama_like(c, kv_default=16, experts=experts)
    return replace(shape, linear_bias="qkv" if c.truth("qkv_bias", default=True) else "none")


def _qwen3(c: ConfigFields, *, experts: Experts | None = None, kv_default: int) -> Transformer:
    shape = llama_like(c, kv_default=kv_default, head_default=None if experts else 128, experts=experts)
    return replace(shape, linear_bias="qkv" if c.truth("attention_bias", default=False) else "none", qk_norm=True)


# -- GPT and what descends from it ---------------------------------------------------------------------------


def _gpt_like(
    c: ConfigFields,
    *,
    ffn: int | None = None,
    length: int | None = None,
    activation: str = "activation_function",
    default_activation: str = "gelu",
    tied: bool,
) -> Transformer:
    """Layer norms with a mean, an ordinary feed-forward, biases everywhere, rotary positions."""
    heads, hidden = c.whole(*_HEADS), c.whole(*_HIDDEN)
    return Transformer(
        name=c.name,
        layers=c.whole(*_LAYERS),
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_dim=c.head_dim(heads, hidden),
        ffn=ffn or c.whole("n_inner", "intermediate_size", "ffn_hidden_size", "ffn_dim", default=4 * hidden),
        vocabulary=c.whole("vocab_size"),
        context=context_length(c, length or c.whole(*_LENGTH)),
        activation=c.activation(activation, default=default_activation, gated=False),
        norm="layernorm",
        linear_bias="all",
        tied_embeddings=c.truth("tie_word_embeddings", default=tied),
    )


def _gpt2(c: ConfigFields) -> Transformer:
    if c.truth("add_cross_attention", default=False):
        raise c.refuse("add_cross_attention", "a decoder that reads an encoder is not described")
    shape = _gpt_like(c, tied=True)
    shared = c.family == "gpt_bigcode" and c.truth("multi_query", default=True)
    return replace(
        shape,
        kv_heads=1 if shared else shape.heads,
        positions="learned",
        position_slots=shape.context,
        dropout=c.drops("resid_pdrop", "embd_pdrop", "attn_pdrop", default=0.1),
    )


def _gptj(c: ConfigFields) -> Transformer:
    return replace(
        _gpt_like(c, tied=False),
        linear_bias="none",
        norms_per_layer=1,
        head_bias=True,
        parallel_block=True,
        dropout=c.drops("resid_pdrop", "embd_pdrop", "attn_pdrop"),
    )


def _gpt_neox(c: ConfigFields) -> Transformer:
    if not c.truth("attention_bias", default=True):
        raise c.refuse("attention_bias", "biases are on all projections, on queries, keys and values, or on none")
    return replace(
        _gpt_like(c, activation="hidden_act", tied=False),
        parallel_block=c.truth("use_parallel_residual", default=True),
        dropout=c.drops("hidden_dropout", "attention_dropout"),
    )


def _opt(c: ConfigFields) -> Transformer:
    hidden = c.whole(*_HIDDEN)
    if c.whole("word_embed_proj_dim", default=hidden) != hidden:
        raise c.refuse("word_embed_proj_dim", f"token embeddings are as wide as the stream ({hidden})")
    if not c.truth("do_layer_norm_before", default=True):
        raise c.refuse("do_layer_norm_before", "norms come before each half of a layer, and once after the last")
    if not c.truth("layer_norm_elementwise_affine", default=True):
        raise c.refuse("layer_norm_elementwise_affine", "norms have weights")
    # The table of positions has two rows before the first, as the original code counted from there.
    shape = _gpt_like(c, default_activation="relu", tied=True)
    return replace(
        shape,
        linear_bias="all" if c.truth("enable_bias", default=True) else "none",
        positions="learned",
        position_slots=shape.context + 2,
        dropout=c.drops("dropout", default=0.1),
    )


def _falcon(c: ConfigFields) -> Transformer:
    heads = c.whole(*_HEADS)
    newer = c.truth("new_decoder_architecture", default=False)
    parallel = newer or c.truth("parallel_attn", default=True)
    own = newer or not c.truth("multi_query", default=True)
    norms = c.whole("num_ln_in_parallel_attn", default=2 if newer else 1) if parallel else 2
    if norms not in (1, 2):
        raise c.refuse("num_ln_in_parallel_attn", "a parallel layer has one norm or two")
    return replace(
        _gpt_like(c, length=c.whole(*_LENGTH, default=2048), activation="activation", tied=True),
        linear_bias="all" if c.truth("bias", default=False) else "none",
        norms_per_layer=1 if norms == 1 else 2,
        kv_heads=c.whole("num_kv_heads", "n_head_kv", default=heads) if own else 1,
        positions="alibi" if c.truth("alibi", default=False) else "rotary",
        parallel_block=parallel,
        dropout=c.drops("hidden_dropout", "attention_dropout"),
    )


def _bloom(c: ConfigFields) -> Transformer:
    return replace(
        _gpt_like(c, length=c.whole("seq_length", default=2048), tied=True),
        positions="alibi",
        embedding_norm=True,
        dropout=c.drops("hidden_dropout", "attention_dropout"),
    )


def _mpt(c: ConfigFields) -> Transformer:
    attention = c.inner("attn_config")
    if attention.truth("qk_ln", default=False):
        raise attention.refuse("qk_ln", "queries and keys are normed within a head, not across all")
    bare = c.truth("no_bias", default=True)
    learned = not attention.truth("alibi", default=True) and c.truth("learned_pos_emb", default=True)
    shared = 1 if attention.fields.get("attn_type") == "multiquery_attention" else None
    wide = round(c.share("expansion_ratio", default=4.0) * c.whole(*_HIDDEN))
    shape = _gpt_like(c, ffn=wide, length=c.whole("max_seq_len"), tied=True)
    return replace(
        shape,
        linear_bias="none" if bare else "all",
        norm_bias=not bare,
        kv_heads=attention.whole("kv_n_heads", default=shared or shape.heads),
        positions="learned" if learned else "alibi" if attention.truth("alibi", default=True) else "none",
        position_slots=shape.context if learned else 0,
        dropout=c.drops("resid_pdrop", "emb_pdrop"),
    )


FAMILIES: Mapping[str, Callable[[ConfigFields], Transformer]] = {
    "llama": _llama,
    "mixtral": lambda c: llama_like(c, kv_default=8, experts=mixtral_experts(c)),
    "qwen2": lambda c: replace(llama_like(c, kv_default=32), linear_bias="qkv"),
    "qwen2_moe": _qwen2_moe,
    "qwen3": lambda c: _qwen3(c, kv_default=32),
    "qwen3_moe": lambda c: _qwen3(c, kv_default=4, experts=qwen_experts(c, shared=0)),
    "deepseek": lambda c: llama_like(c, experts=_deepseek_experts(c)),
    "deepseek_v2": deepseek_latent,
    "deepseek_v3": deepseek_latent,
    "gemma": lambda c: gemma(c, kv_default=16),
    "phi3": llama_like,
    "gpt2": _gpt2,
    "gpt_bigcode": _gpt2,
    "gptj": _gptj,
    "gpt_neox": _gpt_neox,
    "opt": _opt,
    "falcon": _falcon,
    "bloom": _bloom,
    "mpt": _mpt,
}
"""Families by ``model_type``, each with its reader."""
