"""Decoder-only transformers: GPT, Llama, mixtures of experts and the many in between.

One builder; what differs between families (norms, gates, biases, positions, shared keys, experts) is a field of
:class:`Transformer`. Attention scores are counted in full: a causal mask is not taken to halve them, as in
Megatron and in ``torch.utils.flop_counter``.
"""

from volvelle.workload.builder import BlockBuilder
from volvelle.workload.families.attention import ATTENTION_CORE, attention
from volvelle.workload.families.feed_forward import feed_forward, mixture
from volvelle.workload.families.pieces import STREAM, bias, dropout, norm, residual
from volvelle.workload.families.shape import Transformer
from volvelle.workload.graph import Block, Workload

__all__ = ["ATTENTION_CORE", "Transformer", "transformer"]


def transformer(shape: Transformer, *, batch: int = 1, sequence: int | None = None) -> Workload:
    """The workload of one forward pass over `batch` sequences, ending in the training loss."""
    length = sequence or shape.sequence
    sizes: dict[str, float] = {
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
        sizes["places"] = shape.position_slots
    experts, latent = shape.experts, shape.latent
    if experts is not None:
        sizes |= {
            "experts": experts.count,
            "choices": experts.count,
            "slots": length * experts.chosen / experts.count,
            "expert_ffn": experts.ffn,
            "shared_ffn": experts.shared_ffn,
        }
    if latent is not None:
        sizes |= {
            "query_rank": latent.query_rank,
            "kv_rank": latent.kv_rank,
            "rotary_dim": latent.rotary_dim,
            "value_dim": latent.value_dim,
            "qk_dim": shape.head_dim + latent.rotary_dim,
        }
    layers = [_layer(shape, mixed=experts is not None)]
    if experts is not None and experts.dense_layers:
        layers.insert(0, _layer(shape, mixed=False, name="dense layer", repeat=experts.dense_layers))
    return Workload(name=shape.name, sizes=sizes, blocks=(_embedding(shape), *layers, _head(shape)))


def _embedding(shape: Transformer) -> Block:
    b = BlockBuilder("embedding", element=shape.element)
    stream = b.look_up(
        "tokens",
        f"batch position, vocab hidden -> {STREAM}",
        b.data("token_numbers", "batch position"),
        b.weight("weight", "vocab hidden"),
    )
    if shape.position_slots:
        places = b.look_up(
            "places",
            f"batch position, places hidden -> {STREAM}",
            b.data("place_numbers", "batch position"),
            b.weight("place_weight", "places hidden"),
        )
        stream = residual(b, "place_sum", stream, places)
    if shape.embedding_norm:
        stream = norm(b, shape, "embedding_norm", stream)
    if shape.dropout:
        stream = dropout(b, "dropout", STREAM, stream)
    return b.build(outputs=(stream,))


def _layer(shape: Transformer, *, mixed: bool, name: str = "layer", repeat: int | None = None) -> Block:
    b = BlockBuilder(name, element=shape.element)
    if repeat is None:
        repeat = shape.layers - (shape.experts.dense_layers if shape.experts else 0)

    def inner(x: str) -> str:
        return mixture(b, shape, shape.experts, x) if mixed and shape.experts else feed_forward(b, shape, x)

    x = b.input("x", STREAM)
    attended = norm(b, shape, "attention_norm", x)
    added = attention(b, shape, attended)
    if shape.norms_per_layer == 4:
        added = norm(b, shape, "attention_post_norm", added)
    if shape.parallel_block:
        fed = attended if shape.norms_per_layer == 1 else norm(b, shape, "mlp_norm", x)
        mlp = inner(fed)
        both = residual(b, "branch_sum", added, mlp)
        return b.build(outputs=(residual(b, "residual", x, both),), repeat=repeat)
    middle = residual(b, "attention_residual", x, added)
    mlp = inner(norm(b, shape, "mlp_norm", middle))
    if shape.norms_per_layer == 4:
        mlp = norm(b, shape, "mlp_post_norm", mlp)
    return b.build(outputs=(residual(b, "mlp_residual", middle, mlp),), repeat=repeat)


def _head(shape: Transformer) -> Block:
    b = BlockBuilder("head", element=shape.element)
    x = b.input("x", STREAM)
    final = norm(b, shape, "final_norm", x)
    b.part = "output head"
    tied = "embedding.weight" if shape.tied_embeddings else ""
    weight = b.weight("weight", "vocab hidden", tied_to=tied)
    logits = b.contract("logits", f"{STREAM}, vocab hidden -> batch position vocab", final, weight)
    if shape.head_bias:
        logits = bias(b, "logits_bias", "batch position vocab", "vocab", logits)
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
