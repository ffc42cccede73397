"""The model of a measured training run: its shape, by what the row states and by what its name and framework tell.

What is decided how is in the table of :mod:`volvelle.applications.training.rows`.
"""

import re
from typing import Any

from volvelle.applications.training.measurements import TrainingMeasurement
from volvelle.catalogue.stacks import stack_called
from volvelle.errors import VolvelleError
from volvelle.workload.families.shape import Experts, LatentAttention, LayerKind, Transformer


class UnstatedError(VolvelleError):
    """The row lacks something, named in the message."""


def stated(value: int | None, name: str) -> int:
    """A number that must be there."""
    if value is None:
        raise UnstatedError(f"not stated: {name}")
    return value


# -- frameworks ----------------------------------------------------------------------------------------------

_CLASSIC = ("megatron-lm", "megatron-deepspeed", "megatron+deepspeed", "deepspeed zero", "metaseq")
_RECENT_GROUPS = ("megascale", "jubench")


def is_classic(row: TrainingMeasurement) -> bool:
    """Software of 2021 and 2022: see the table above."""
    if row.head.group.startswith(_RECENT_GROUPS) or not re.search(r"[av]100", row.accelerator, re.I):
        return False
    return row.framework.lower().startswith(_CLASSIC)


def made_by(row: TrainingMeasurement, names: tuple[str, ...]) -> bool:
    """Whether the framework is one of those."""
    return any(name in row.framework.lower() for name in names)


def software_of(row: TrainingMeasurement) -> str:
    """The stack that its framework means; nothing where none of the words fits.

    DeepSpeed without a version is of 2021 where chips are of its day.
    """
    found = stack_called(row.framework)
    unversioned = found == "deepspeed" and not re.search(r"\d\.\d", row.framework)
    return "deepspeed-2021" if unversioned and is_classic(row) else found


def overlaps_replicas(row: TrainingMeasurement, zero: int) -> bool:
    """Whether replicas exchange behind computation.

    ZeRO-3 of DeepSpeed 0.3.12 to 0.5.10 halts the device before it gathers a tensor, and again before a module that
    needs it (``torch.cuda.synchronize`` in microsoft/DeepSpeed deepspeed/runtime/zero/partition_parameters.py and
    stage3.py@3fa2420). From 0.3.14 on it gathers nothing ahead: a module's step is counted before the counter is set
    to zero, so that no later module is the one expected (deepspeedai/DeepSpeed issue 1069; mended by pull request
    1453).
    """
    if zero == 3:
        software = software_of(row)
        return software != "deepspeed-2021" and not (software == "megatron-deepspeed" and is_classic(row))
    return not (is_classic(row) or "comm overlap off" in row.head.notes)


# -- model ---------------------------------------------------------------------------------------------------

_GPT: dict[str, Any] = {"linear_bias": "all", "positions": "learned", "tied_embeddings": True}
_LLAMA: dict[str, Any] = {"activation": "swiglu", "norm": "rmsnorm", "norm_bias": False}
_ROTARY = {"linear_bias": "none", "positions": "rotary", "tied_embeddings": False}
_WINDOWED = (LayerKind.parse("local attention + experts"), LayerKind.parse("attention + experts"))
_BY_NAME: tuple[tuple[str, dict[str, Any]], ...] = (
    ("nemotron", {**_ROTARY, "activation": "relu"}),
    ("maxtext", {**_ROTARY, "norm": "rmsnorm", "norm_bias": False}),
    ("mpt", {"linear_bias": "none", "norm_bias": False}),
    ("palm", {**_ROTARY, "tied_embeddings": True, "parallel_block": True, "norms_per_layer": 1}),
    ("qwen2", {"linear_bias": "qkv"}),
    ("qwen3", {"qk_norm": True}),
    ("internlm", {"linear_bias": "qkv"}),
    ("gpt-oss", {"linear_bias": "all", "pattern": _WINDOWED, "window": 128, "sinks": True}),
)
_BLOOM = {"positions": "alibi", "embedding_norm": True, "dropout": False}
_LATENT = LatentAttention(query_rank=1536, kv_rank=512, rotary_dim=64, value_dim=128)
# Width of one expert, of the shared ones, dense layers, layers (DeepSeek-V2 and V3 reports).
_DEEPSEEK = {"2": (1536, 2 * 1536, 1, 60), "3": (2048, 2048, 3, 61)}


def model_shape(row: TrainingMeasurement, assumed: list[str]) -> Transformer:
    """Architecture numbers, with what had to be assumed added to the list."""
    hidden, heads = stated(row.hidden, "hidden"), stated(row.heads, "heads")
    sequence = stated(row.sequence, "sequence")
    if row.ffn is None and (row.gated or row.mixture):
        raise UnstatedError("not stated: width of the feed-forward")
    if row.ffn is None and row.head.group != "vtrain-single":
        assumed.append("feed-forward of four times the hidden size")
    if row.vocabulary is None:
        assumed.append("vocabulary of 51200")
    fields = {**(_LLAMA if row.gated else _GPT), "dropout": is_classic(row)}
    name = row.model.lower()
    for part, changes in _BY_NAME:
        if part in name:
            fields |= changes
    if row.vocabulary == 250880:  # BLOOM's, and nobody else's
        fields |= _BLOOM
    if fields.get("positions") == "learned":
        fields["position_slots"] = sequence
    experts, latent = _experts(row, assumed)
    if "gpt-oss" in name:
        assumed.append("plain attention in place of one with sinks")
    return Transformer(
        name=row.model or f"{row.layers} layers of {hidden}",
        layers=stated(row.layers, "layers"),
        hidden=hidden,
        heads=heads,
        kv_heads=row.kv_heads or heads,
        head_dim=128 if latent else row.head_dim or hidden // heads,
        ffn=row.ffn or 4 * hidden,
        vocabulary=row.vocabulary or 51200,
        sequence=sequence,
        experts=experts,
        latent=latent,
        **fields,
    )


def _experts(row: TrainingMeasurement, assumed: list[str]) -> tuple[Experts | None, LatentAttention | None]:
    if row.experts is None:
        if row.mixture:
            raise UnstatedError("not stated: experts of the mixture")
        return None, None
    count, chosen = row.experts, stated(row.chosen_experts, "experts each token goes to")
    deepseek = re.match(r"deepseek[-_ ]?v([23])", row.model.lower())
    if deepseek:
        width, shared, dense, layers = _DEEPSEEK[deepseek[1]]
        if row.layers != layers:
            dense = 1
            assumed.append("one dense layer in the shortened model")
        return Experts(count=count, chosen=chosen, ffn=width, shared_ffn=shared, dense_layers=dense), _LATENT
    noted = re.search(r"shared expert width (\d+)", row.head.notes)
    if "topk_assumed" in row.head.flags:
        assumed.append("experts each token goes to")
    shared = int(noted[1]) if noted else 0
    return Experts(count=count, chosen=chosen, ffn=stated(row.ffn, "width of an expert"), shared_ffn=shared), None
