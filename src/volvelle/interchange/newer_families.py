"""Families with linear or sparse attention, as ``config.json`` files of Hugging Face describe them: one reader each."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from volvelle.interchange.config_fields import ConfigFields
from volvelle.interchange.decoder_families import deepseek_latent, llama_like, mixtral_experts, qwen_experts
from volvelle.interchange.hybrid_families import every_so_often, pattern_of
from volvelle.workload.families.shape import DeltaNet, SparseIndex, Transformer

_MIXERS = {"full_attention": "attention", "linear_attention": "delta net"}


def _qwen3_next(c: ConfigFields) -> Transformer:
    """Gated delta nets, and attention with a gate on every fourth layer; experts on all."""
    if c.fields.get("mlp_only_layers"):
        raise c.refuse("mlp_only_layers", "every layer has experts")
    if c.truth("attention_bias", default=False):
        raise c.refuse("attention_bias", "gated attention has no biases")
    experts = qwen_experts(c, shared=c.whole("shared_expert_intermediate_size", default=512))
    shape = llama_like(c, kv_default=2, head_default=256, experts=experts)
    every = c.whole("full_attention_interval", default=4)
    mixers = c.words("layer_types", _MIXERS, shape.layers)
    mixers = mixers or every_so_often(shape.layers, every, every - 1, "attention", "delta net")
    net = DeltaNet(
        value_heads=c.whole("linear_num_value_heads", default=32),
        key_heads=c.whole("linear_num_key_heads", default=16),
        key_dim=c.whole("linear_key_head_dim", default=128),
        value_dim=c.whole("linear_value_head_dim", default=128),
        taps=c.whole("linear_conv_kernel_dim", default=4),
    )
    return replace(
        shape,
        qk_norm=True,
        attention_gate=c.truth("attn_output_gate", default=True),
        pattern=pattern_of(mixers, ["experts"] * shape.layers),
        delta_net=net if "delta net" in mixers else None,
    )


def _glm_moe_dsa(c: ConfigFields) -> Transformer:
    """As DeepSeek-V3, with an index that chooses the keys of each query."""
    kinds = c.fields.get("indexer_types") or []
    if not isinstance(kinds, list) or any(kind != "full" for kind in kinds):
        raise c.refuse("indexer_types", "every layer has an index of its own")
    index = SparseIndex(
        heads=c.whole("index_n_heads", default=32),
        dim=c.whole("index_head_dim", default=128),
        chosen=c.whole("index_topk", default=2048),
    )
    return replace(deepseek_latent(c), sparse=index)


def _minimax_m2(c: ConfigFields) -> Transformer:
    shape = llama_like(c, kv_default=8, head_default=128, experts=mixtral_experts(c))
    norms = c.truth("use_qk_norm", default=True)
    over_heads = norms and c.fields.get("qk_norm_type", "per_layer") == "per_layer"
    return replace(shape, qk_norm=norms, qk_norm_over_heads=over_heads)


def _text_of(reader: Callable[[ConfigFields], Transformer]) -> Callable[[ConfigFields], Transformer]:
    """A reader of the text part of a model that also sees pictures."""
    return lambda c: replace(reader(c.inner("text_config") if c.fields.get("text_config") else c), name=c.name)


NEWER_FAMILIES: Mapping[str, Callable[[ConfigFields], Transformer]] = {
    "qwen3_next": _qwen3_next,
    "qwen3_5_moe": _text_of(_qwen3_next),
    "glm_moe_dsa": _glm_moe_dsa,
    "kimi_k25": _text_of(deepseek_latent),
    "minimax_m2": _minimax_m2,
}
"""Families by ``model_type``, each with its reader."""
