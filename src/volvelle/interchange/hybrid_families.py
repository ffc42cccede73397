"""Families whose layers are of several kinds, as ``config.json`` files of Hugging Face describe them: one reader each.

Their files say the kind of each layer in as many ways as there are families: a list, a period, a period with an
offset, a string of letters. Defaults follow the ``transformers`` library.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil

from volvelle.interchange.config_fields import ConfigFields
from volvelle.interchange.decoder_families import context_length, gemma, llama_like, mixtral_experts
from volvelle.workload.families.shape import Experts, LayerKind, Mamba, Mamba2, Transformer

_SPANS = {
    "full_attention": "attention",
    "sliding_attention": "local attention",
    "chunked_attention": "local attention",
}


def pattern_of(mixers: Sequence[str], feeds: Sequence[str]) -> tuple[LayerKind, ...]:
    """The kinds of all layers, written once where they repeat."""
    kinds = [LayerKind.parse(f"{mixer} + {feed}") for mixer, feed in zip(mixers, feeds, strict=True)]
    for period in range(1, len(kinds) // 2 + 1):
        if kinds[period:] == kinds[:-period]:
            return tuple(kinds[:period])
    return tuple(kinds)


def every_so_often(count: int, period: int, offset: int, there: str, elsewhere: str) -> list[str]:
    """What each of so many layers is: one kind at an offset within every period, another elsewhere."""
    return [there if layer % max(period, 1) == offset else elsewhere for layer in range(count)]


def _alternating(c: ConfigFields, shape: Transformer, feed: str, *, window: int) -> Transformer:
    """Every other layer, from the first on, attends within a window, unless the file says which."""
    spans = c.words("layer_types", _SPANS, shape.layers)
    spans = spans or every_so_often(shape.layers, 2, 1, "attention", "local attention")
    if "local attention" not in spans:
        return shape
    return replace(
        shape, pattern=pattern_of(spans, [feed] * shape.layers), window=c.whole("sliding_window", default=window)
    )


def _mistral(c: ConfigFields) -> Transformer:
    """Every layer attends within a window; of files from version 0.2 on, which say that there is none, no layer."""
    shape = llama_like(c, kv_default=8)
    window = c.whole("sliding_window", default=4096 if "sliding_window" not in c.fields else 0)
    if window == 0:
        return shape
    return replace(shape, pattern=pattern_of(["local attention"] * shape.layers, ["mlp"] * shape.layers), window=window)


def _gemma2(c: ConfigFields) -> Transformer:
    return _alternating(c, replace(gemma(c, kv_default=4), norms_per_layer=4), "mlp", window=4096)


def _gpt_oss(c: ConfigFields) -> Transformer:
    shape = llama_like(c, kv_default=8, head_default=64, experts=mixtral_experts(c))
    return _alternating(c, replace(shape, linear_bias="all", sinks=True), "experts", window=128)


def _gemma3_text(c: ConfigFields) -> Transformer:
    shape = gemma(c, kv_default=4, vocabulary_default=262208, length_default=131072)
    shape = replace(shape, norms_per_layer=4, qk_norm=True)
    every = c.whole("sliding_window_pattern", "_sliding_window_pattern", default=6)
    spans = c.words("layer_types", _SPANS, shape.layers)
    spans = spans or every_so_often(shape.layers, every, every - 1, "attention", "local attention")
    window = c.whole("sliding_window", default=4096)
    if "local attention" not in spans:
        return shape
    return replace(shape, pattern=pattern_of(spans, ["mlp"] * shape.layers), window=window)


def _gemma3(c: ConfigFields) -> Transformer:
    return replace(_gemma3_text(c.inner("text_config")), name=c.name)


def _llama4(c: ConfigFields) -> Transformer:
    text = c.inner("text_config") if c.fields.get("text_config") else c
    if text.truth("attention_bias", default=False):
        raise text.refuse("attention_bias", "a Llama 4 with biases is not described")
    width = text.whole("intermediate_size")
    experts = Experts(
        count=text.whole("num_local_experts", default=16),
        chosen=text.whole("num_experts_per_tok", default=1),
        ffn=width,
        shared_ffn=width,
    )
    shape = llama_like(text, kv_default=8, head_default=128, ffn=("intermediate_size_mlp",), experts=experts)
    rotated = text.words("no_rope_layers", {"1": "local attention", "0": "attention"}, shape.layers)
    every = text.whole("no_rope_layer_interval", default=4)
    spans = text.words("layer_types", _SPANS, shape.layers) or rotated
    spans = spans or every_so_often(shape.layers, every, every - 1, "attention", "local attention")
    step = text.whole("interleave_moe_layer_step", default=1)
    feeds = every_so_often(shape.layers, step, step - 1, "experts", "mlp")
    return replace(
        shape,
        name=c.name,
        pattern=pattern_of(spans, feeds),
        window=text.whole("attention_chunk_size", default=8192),
        global_rotation=False,
    )


def _jamba(c: ConfigFields) -> Transformer:
    for name, usual in (("mamba_conv_bias", True), ("mamba_proj_bias", False)):
        if c.truth(name, default=usual) is not usual:
            raise c.refuse(name, "only the convolution and the step have biases")
    count = c.whole("num_experts", default=16)
    chosen, ffn = c.whole("num_experts_per_tok", default=2), c.whole("intermediate_size")
    experts = Experts(count=count, chosen=chosen, ffn=ffn) if count > 1 else None
    shape = llama_like(c, kv_default=8, experts=experts, length_default=262144)
    mixers, feeds = (
        every_so_often(
            shape.layers,
            c.whole(f"{key}_layer_period", default=period),
            c.whole(f"{key}_layer_offset", default=offset),
            there,
            elsewhere,
        )
        for key, period, offset, there, elsewhere in (
            ("attn", 8, 4, "attention", "mamba"),
            ("expert", 2, 1, "experts" if experts else "mlp", "mlp"),
        )
    )
    rank = ceil(shape.hidden / 16) if c.fields.get("mamba_dt_rank") == "auto" else c.whole("mamba_dt_rank")
    return replace(
        shape,
        positions="none",
        pattern=pattern_of(mixers, feeds),
        mamba=Mamba(
            inner=c.whole("mamba_expand", default=2) * shape.hidden,
            state=c.whole("mamba_d_state", default=16),
            step_rank=rank,
            taps=c.whole("mamba_d_conv", default=4),
            norms=True,
        ),
    )


def _nemotron_h(c: ConfigFields) -> Transformer:
    for name in ("use_bias", "mamba_proj_bias", "attention_bias", "mlp_bias"):
        if c.truth(name, default=False):
            raise c.refuse(name, "only the convolution and the step have biases")
    if not c.truth("use_conv_bias", default=True):
        raise c.refuse("use_conv_bias", "the convolution has a bias")
    layers, heads, hidden = c.whole("num_hidden_layers"), c.whole("num_attention_heads"), c.whole("hidden_size")
    kinds = c.words("hybrid_override_pattern", {"M": "mamba2", "-": "mlp", "*": "attention"}, layers)
    if kinds is None:
        raise c.refuse("hybrid_override_pattern", "it says which layer is Mamba-2 (M), feed-forward (-), attention (*)")
    return Transformer(
        name=c.name,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=c.kv_heads(heads, default=8),
        head_dim=c.whole("attention_head_dim", "head_dim", default=128),
        ffn=c.whole("intermediate_size"),
        vocabulary=c.whole("vocab_size"),
        context=context_length(c, c.whole("max_position_embeddings")),
        activation=c.activation("mlp_hidden_act", default="relu2", gated=False),
        norm="rmsnorm",
        norm_bias=False,
        positions="none",
        tied_embeddings=c.truth("tie_word_embeddings", default=False),
        dropout=c.drops("hidden_dropout", "attention_dropout"),
        pattern=tuple(LayerKind.parse(kind) for kind in kinds),
        mamba2=Mamba2(
            heads=c.whole("mamba_num_heads"),
            head_dim=c.whole("mamba_head_dim"),
            groups=c.whole("n_groups"),
            state=c.whole("ssm_state_size"),
            chunk=c.whole("chunk_size"),
            taps=c.whole("conv_kernel", default=4),
        ),
    )


HYBRID_FAMILIES: Mapping[str, Callable[[ConfigFields], Transformer]] = {
    "gemma2": _gemma2,
    "gemma3": _gemma3,
    "gemma3_text": _gemma3_text,
    "gpt_oss": _gpt_oss,
    "llama4": _llama4,
    "mistral": _mistral,
    "jamba": _jamba,
    "nemotron_h": _nemotron_h,
}
"""Families by ``model_type``, each with its reader."""
