"""Decoder-only transformers: GPT, Llama, mixtures of experts, their crosses with state spaces and the many in between.

One builder; what differs between families (norms, gates, biases, positions, shared keys, experts) is a field of
:class:`Transformer`, and where layers differ from each other, each kind is a block of its own. Attention scores are
counted in full: a causal mask is not taken to halve them, as in Megatron and in ``torch.utils.flop_counter``.
"""

from collections import Counter
from itertools import groupby
from typing import Annotated

from volvelle.domains import SEQUENCES, WIDTH, within_domains
from volvelle.workload.builder import BlockBuilder
from volvelle.workload.families.attention import ATTENTION_CORE, attention
from volvelle.workload.families.delta_net import delta_net, delta_sizes
from volvelle.workload.families.feed_forward import feed_forward, mixture
from volvelle.workload.families.pieces import STREAM, bias, dropout, norm, residual
from volvelle.workload.families.shape import LayerKind, Transformer
from volvelle.workload.families.sparse_index import index_sizes
from volvelle.workload.families.state_space import mamba, mamba2
from volvelle.workload.graph import Block, Workload

__all__ = ["ATTENTION_CORE", "Transformer", "transformer"]


@within_domains
def transformer(
    shape: Transformer, *, batch: Annotated[int, SEQUENCES] = 1, sequence: Annotated[int | None, WIDTH] = None
) -> Workload:
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
    if shape.window:
        sizes["window"] = min(shape.window, length)
    if shape.sparse is not None:
        sizes |= index_sizes(shape.sparse, length)
    sizes |= _state_sizes(shape)
    named = [(_block_name(shape, kind), kind) for kind in shape.kinds]
    repeats = Counter(name for name, _ in named)
    layers = [_layer(shape, kind, name, repeats[name]) for name, kind in dict.fromkeys(named)]
    embedding, head = _embedding(shape), _head(shape)
    runs = [(name, len(list(run))) for name, run in groupby(name for name, _ in named)]
    return Workload(
        name=shape.name,
        sizes=sizes,
        blocks=(embedding, *layers, head),
        runs=((embedding.name, 1), *runs, (head.name, 1)),
        unpriced=("attention sinks",) if shape.sinks else (),
    )


def _state_sizes(shape: Transformer) -> dict[str, float]:
    if shape.mamba is not None:
        space = shape.mamba
        return {"inner": space.inner, "state": space.state, "step_rank": space.step_rank, "taps": space.taps}
    if shape.mamba2 is not None:
        groups = shape.mamba2.groups
        return {
            "state_groups": groups,
            "state_heads": shape.mamba2.heads // groups,
            "state_width": shape.mamba2.head_dim,
            "state": shape.mamba2.state,
            "taps": shape.mamba2.taps,
        }
    return {} if shape.delta_net is None else delta_sizes(shape.delta_net)


def _block_name(shape: Transformer, kind: LayerKind) -> str:
    """A layer of a pattern is named for its kind; of layers otherwise alike, those without experts stand out."""
    if shape.pattern:
        return str(kind)
    return "dense layer" if shape.experts is not None and kind.feed == "mlp" else "layer"


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


def _layer(shape: Transformer, kind: LayerKind, name: str, repeat: int) -> Block:
    b = BlockBuilder(name, element=shape.element)
    x = b.input("x", STREAM)
    if shape.parallel_block:
        return b.build(outputs=(_side_by_side(b, shape, kind, x),), repeat=repeat)
    if kind.mixer != "none":
        added = _mixer(b, shape, kind, norm(b, shape, "attention_norm", x))
        if shape.norms_per_layer == 4:
            added = norm(b, shape, "attention_post_norm", added)
        x = residual(b, "attention_residual", x, added)
    if kind.feed != "none":
        added = _feed(b, shape, kind, norm(b, shape, "mlp_norm", x))
        if shape.norms_per_layer == 4:
            added = norm(b, shape, "mlp_post_norm", added)
        x = residual(b, "mlp_residual", x, added)
    return b.build(outputs=(x,), repeat=repeat)


def _side_by_side(b: BlockBuilder, shape: Transformer, kind: LayerKind, x: str) -> str:
    """Both halves of a layer on the same input."""
    normed = norm(b, shape, "attention_norm", x)
    attended = _mixer(b, shape, kind, normed)
    if shape.norms_per_layer == 4:
        attended = norm(b, shape, "attention_post_norm", attended)
    fed = _feed(b, shape, kind, normed if shape.norms_per_layer == 1 else norm(b, shape, "mlp_norm", x))
    return residual(b, "residual", x, residual(b, "branch_sum", attended, fed))


def _mixer(b: BlockBuilder, shape: Transformer, kind: LayerKind, x: str) -> str:
    if kind.mixer == "mamba" and shape.mamba is not None:
        return mamba(b, shape, shape.mamba, x)
    if kind.mixer == "mamba2" and shape.mamba2 is not None:
        return mamba2(b, shape.mamba2, x)
    if kind.mixer == "delta net" and shape.delta_net is not None:
        return delta_net(b, shape.delta_net, x)
    return attention(b, shape, x, local=kind.mixer == "local attention")


def _feed(b: BlockBuilder, shape: Transformer, kind: LayerKind, x: str) -> str:
    if kind.feed == "experts" and shape.experts is not None:
        return mixture(b, shape, shape.experts, x)
    return feed_forward(b, shape, x)


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
