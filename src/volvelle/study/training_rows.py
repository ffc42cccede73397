"""From a measured training run to the question put to an estimator: step, cluster and mapping.

Sources leave settings out. What a row states is taken; what it does not state is decided by the table below, and every
decision that was not the source's own is named in `Question.assumed`. A row is refused, with a reason, only where
something is missing that no framework's habit tells: dimensions of the model, the batch, the degrees of parallelism.

============  =======================================================================================================
setting       how it is decided
============  =======================================================================================================
cluster       by the accelerator's name: A100-SXM4-80GB → dgx-a100, …-40GB → dgx-a100-40gb, H100, H200, H800, H20, B200,
              B300 → dgx-…, GB200 and GB300 → …-nvl72, GH200 → alps, MI250X-GCD → frontier, MI300X … → …-cluster,
              Gaudi → …-cluster, TPU → …-pod, V100 → dgx-v100, Trainium 2 → trn2-ultra; where the network says so: EFA →
              aws-…, TCPX → gcp-…, JUWELS … → that machine. A stack of a PVC is refused: the catalogue has the module
network       "8x HDR200 per node", "1600Gb/node RoCE", … replace the link between nodes by the catalogue's InfiniBand
              or RoCE at the stated rate a chip; Omni-Path as EDR; TPU slices joined as if they were one torus
element       fp16, bf16; FP8, MXFP8, FP8-CS … → fp8; NVFP4 → fp4; int8; weights stay 16-bit
model         ungated: GPT as in Megatron (layer norm, biases, learned positions, tied head); gated: Llama (RMS norm,
              rotary, no bias, own head). By name: Nemotron and MaxText (no bias, rotary, own head), MPT (no bias),
              BLOOM (ALiBi, no dropout), Qwen (biases on queries, or norms), GPT-OSS (biases), PaLM (parallel block),
              DeepSeek (latent attention, shared experts)
era           *classic*: Megatron-LM, Megatron-DeepSpeed, metaseq on V100 or A100: attention not fused, dropout,
              gradients exchanged after the backward pass (but with ZeRO-3), no ZeRO. *Modern*: all else, Megatron-LM as
              MegaScale and Jülich ran it: fused attention, no dropout, gradients exchanged during it, ZeRO-1
gradients     classic with fp16: fp16; NeMo, Megatron-Bridge, MLPerf, InternEvo, MaxText, Paxml, Composer "PURE": bf16,
              as their recipes say; else fp32
ZeRO          as stated, with the shard group where one is; HSDP and hpZ share out within a node; not stated: see era
recompute     none, full, selective as stated; MaxText "minimal" → selective, "offloaded" and "partial" → full; not
              stated: none
sequence      sequence parallelism as stated; not stated: modern yes, classic no. Ulysses as context parallelism
micro-batch   as stated, or batch / (replicas × accumulation); not stated: 1. MaxText and Paxml state the batch of a
              device and accumulate nothing: the whole share of a replica
stages        virtual ones as stated; not stated: none (DeepSpeed has none)
experts       those folded over tensor ranks (more than replicas, or "ETP=1") are split over those ranks and shared out
              over as many replicas as there are; expert parallelism not stated: none
replicas      where degrees and chips disagree, what the chips leave after the other degrees
============  =======================================================================================================
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from math import gcd
from typing import Any

from volvelle.catalogue import Catalogue
from volvelle.catalogue.training_measurements import TrainingMeasurement
from volvelle.errors import VolvelleError
from volvelle.mapping.parallelism import Mapping
from volvelle.system.cluster import Cluster
from volvelle.system.topologies import FatTree
from volvelle.workload.families.shape import Experts, LatentAttention, Transformer
from volvelle.workload.families.transformer import transformer
from volvelle.workload.training import TrainingStep

__all__ = ["Question", "question"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What an estimator is asked for one measured run."""

    step: TrainingStep
    cluster: Cluster
    mapping: Mapping
    assumed: tuple[str, ...]
    """Settings that the source does not state."""


class _UnstatedError(Exception):
    """The row lacks something, named in the message."""


def question(row: TrainingMeasurement, catalogue: Catalogue) -> Question | str:
    """The question a row puts to an estimator, or why it puts none."""
    assumed: list[str] = []
    try:
        _refuse(row)
        model = _workload(_shape(row, assumed))
        mapping = _mapping(row, assumed)
        cluster = _cluster(row, catalogue, assumed)
        element, sure = row.stated_element
        if not sure:
            assumed.append("precision")
        cluster.chip.matrix_rate(element)
        batch = _stated(row.global_batch, "global batch")
        step = TrainingStep(model=model, batch=batch, element=element, gradient_element=_gradient_element(row))
    except (_UnstatedError, VolvelleError) as error:
        return str(error)
    return Question(step=step, cluster=cluster, mapping=mapping, assumed=tuple(dict.fromkeys(assumed)))


def _refuse(row: TrainingMeasurement) -> None:
    if row.split == "excluded":
        raise _UnstatedError(f"excluded: {row.excluded_because or 'not usable'}")
    if row.layers == 1 or "single-layer" in row.model:
        raise _UnstatedError("one layer was timed, not a step")
    if "LoRA" in row.notes:
        raise _UnstatedError("LoRA: most weights are frozen")
    needed = ("layers", "hidden", "heads", "sequence", "global_batch", "chips")
    missing = [name.replace("_", " ") for name in needed if getattr(row, name) is None]
    if missing:
        raise _UnstatedError(f"not stated: {', '.join(missing)}")
    if row.seconds is None:
        raise _UnstatedError("neither a step time nor tokens per second is stated")


def _stated(value: int | None, name: str) -> int:
    if value is None:
        raise _UnstatedError(f"not stated: {name}")
    return value


# -- frameworks ----------------------------------------------------------------------------------------------

_CLASSIC = ("megatron-lm", "megatron-deepspeed", "megatron+deepspeed", "deepspeed zero", "metaseq")
_RECENT_GROUPS = ("megascale", "jubench")
_WHOLE_SHARE = ("maxtext", "paxml", "pathways", "google mlperf")
_SIXTEEN_BIT_GRADIENTS = ("nemo", "megatron-bridge", "internevo", *_WHOLE_SHARE, "mlperf")


def _classic(row: TrainingMeasurement) -> bool:
    """Software of 2021 and 2022: see the table above."""
    if row.group.startswith(_RECENT_GROUPS) or not re.search(r"[av]100", row.accelerator, re.I):
        return False
    return row.framework.lower().startswith(_CLASSIC)


def _made_by(row: TrainingMeasurement, names: tuple[str, ...]) -> bool:
    return any(name in row.framework.lower() for name in names)


# -- model ---------------------------------------------------------------------------------------------------

_GPT: dict[str, Any] = {"linear_bias": "all", "positions": "learned", "tied_embeddings": True}
_LLAMA: dict[str, Any] = {"activation": "swiglu", "norm": "rmsnorm", "norm_bias": False}
_ROTARY = {"linear_bias": "none", "positions": "rotary", "tied_embeddings": False}
_BY_NAME: tuple[tuple[str, dict[str, Any]], ...] = (
    ("nemotron", {**_ROTARY, "activation": "relu"}),
    ("maxtext", {**_ROTARY, "norm": "rmsnorm", "norm_bias": False}),
    ("mpt", {"linear_bias": "none", "norm_bias": False}),
    ("palm", {**_ROTARY, "tied_embeddings": True, "parallel_block": True, "norms_per_layer": 1}),
    ("qwen2", {"linear_bias": "qkv"}),
    ("qwen3", {"qk_norm": True}),
    ("internlm", {"linear_bias": "qkv"}),
    ("gpt-oss", {"linear_bias": "all"}),
)
_BLOOM = {"positions": "alibi", "embedding_norm": True, "dropout": False}
_LATENT = LatentAttention(query_rank=1536, kv_rank=512, rotary_dim=64, value_dim=128)
# Width of one expert, of the shared ones, dense layers, layers (DeepSeek-V2 and V3 reports).
_DEEPSEEK = {"2": (1536, 2 * 1536, 1, 60), "3": (2048, 2048, 3, 61)}


# Built once a shape: estimators keep their plans by identity.
_workload = lru_cache(maxsize=512)(transformer)
_named_cluster = lru_cache(maxsize=1024)(Catalogue.cluster)


def _shape(row: TrainingMeasurement, assumed: list[str]) -> Transformer:
    hidden, heads = _stated(row.hidden, "hidden"), _stated(row.heads, "heads")
    sequence = _stated(row.sequence, "sequence")
    if row.ffn is None and (row.gated or row.mixture):
        raise _UnstatedError("not stated: width of the feed-forward")
    if row.ffn is None and row.group != "vtrain-single":
        assumed.append("feed-forward of four times the hidden size")
    if row.vocabulary is None:
        assumed.append("vocabulary of 51200")
    fields = {**(_LLAMA if row.gated else _GPT), "dropout": _classic(row)}
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
        assumed.append("full attention in place of sliding windows")
    return Transformer(
        name=row.model or f"{row.layers} layers of {hidden}",
        layers=_stated(row.layers, "layers"),
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
            raise _UnstatedError("not stated: experts of the mixture")
        return None, None
    count, chosen = row.experts, _stated(row.chosen_experts, "experts each token goes to")
    deepseek = re.match(r"deepseek[-_ ]?v([23])", row.model.lower())
    if deepseek:
        width, shared, dense, layers = _DEEPSEEK[deepseek[1]]
        if row.layers != layers:
            dense = 1
            assumed.append("one dense layer in the shortened model")
        return Experts(count=count, chosen=chosen, ffn=width, shared_ffn=shared, dense_layers=dense), _LATENT
    stated = re.search(r"shared expert width (\d+)", row.notes)
    if "topk_assumed" in row.flags:
        assumed.append("experts each token goes to")
    shared = int(stated[1]) if stated else 0
    return Experts(count=count, chosen=chosen, ffn=_stated(row.ffn, "width of an expert"), shared_ffn=shared), None


def _gradient_element(row: TrainingMeasurement) -> str:
    if _classic(row):
        return "fp16" if row.precision.lower() == "fp16" else "fp32"
    if "pure" in row.precision.lower() or _made_by(row, _SIXTEEN_BIT_GRADIENTS):
        return "bf16"
    return "fp32"


# -- layout --------------------------------------------------------------------------------------------------


def _mapping(row: TrainingMeasurement, assumed: list[str]) -> Mapping:
    tensor = _stated(row.tensor, "tensor parallelism")
    pipeline = _stated(row.pipeline, "pipeline parallelism")
    context = row.context or 1
    if row.ulysses is not None:
        context = row.ulysses
        assumed.append("Ulysses as context parallelism")
    data = _replicas(row, tensor * pipeline * context, assumed)
    zero, shard = _zero(row, data * context, assumed)
    recompute, sure = row.stated_recompute
    if not sure:
        assumed.append("recomputation")
    if row.interleave is None and pipeline > 1 and "deepspeed" not in row.framework.lower():
        assumed.append("no virtual stages")
    return Mapping(
        tensor=tensor,
        pipeline=pipeline,
        data=data,
        context=context,
        expert=_expert(row, data * context, assumed),
        micro_batch=_micro_batch(row, data, assumed),
        interleave=row.interleave or 1 if pipeline > 1 else 1,
        zero=zero,
        shard=shard,
        overlap=zero == 3 or not (_classic(row) or "comm overlap off" in row.notes),
        sequence_parallel=tensor > 1 and _sequence_parallel(row, assumed),
        recompute=recompute,
        fused_attention=not _classic(row),
    )


def _replicas(row: TrainingMeasurement, others: int, assumed: list[str]) -> int:
    chips = _stated(row.chips, "number of accelerators")
    if row.data is not None and row.data * others == chips:
        return row.data
    if chips % others:
        raise _UnstatedError(f"its degrees of parallelism do not make {chips} accelerators")
    assumed.append("replicas: what the accelerators leave")
    return chips // others


def _expert(row: TrainingMeasurement, replicas: int, assumed: list[str]) -> int:
    if row.experts is None:
        return 1
    if row.expert is None:
        assumed.append("no expert parallelism")
    found = gcd(row.expert or 1, replicas)
    if found != (row.expert or 1) or ("ETP=1" in row.notes and row.tensor != 1):
        assumed.append("experts folded over tensor ranks: split over those, shared out over replicas")
    return found


def _micro_batch(row: TrainingMeasurement, data: int, assumed: list[str]) -> int:
    batch = _stated(row.global_batch, "the global batch")
    if _made_by(row, _WHOLE_SHARE):
        share = max(batch // data, 1)
        if share != row.micro_batch:
            assumed.append("a replica's whole share at once")
        return share
    if row.micro_batch is not None:
        return row.micro_batch
    if row.accumulation is not None and batch % (data * row.accumulation) == 0:
        return batch // (data * row.accumulation)
    assumed.append("micro-batch of 1")
    return 1


def _zero(row: TrainingMeasurement, replicas: int, assumed: list[str]) -> tuple[int, int]:
    stage, shard = row.stated_sharding
    if stage is None:
        stage = 0 if _classic(row) else 1
        assumed.append(f"ZeRO stage {stage}")
    text = row.sharding.lower()
    if "not stated" in text or "?" in text:
        assumed.append("sharding over all replicas")
    if "hsdp" in text or "hpz" in text:
        shard = row.chips_per_node or _NODE
        assumed.append("weights shared out within a node")
    # A shard group that is no part of the replicas says something else; all of them are then meant.
    return stage, shard if 1 < shard < replicas and replicas % shard == 0 else 0


def _sequence_parallel(row: TrainingMeasurement, assumed: list[str]) -> bool:
    if row.sequence_parallel in ("0", "1") or _classic(row):
        return row.sequence_parallel == "1"
    assumed.append("sequence parallelism")
    return True


# -- machine -------------------------------------------------------------------------------------------------

_TEMPLATES = (
    (r"pvc|max ?1550", ""),
    (r"(gb[23]00)", r"\1-nvl72"),
    (r"gh200", "alps"),
    (r"a100.*40", "dgx-a100-40gb"),
    (r"([ah]100)(?!.*pcie)", r"dgx-\1"),
    (r"(h200|h800|h20|b300|b200|v100)", r"dgx-\1"),
    (r"mi250x", "frontier"),
    (r"(mi300x|mi325x|mi355x)", r"\1-cluster"),
    (r"gaudi ?([23])", r"gaudi\1-cluster"),
    (r"trn2|trainium ?2", "trn2-ultra"),
    (r"tpu.*v(3|4|5e|5p|6e|7)", r"tpu-v\1-pod"),
)
_SITES = (  # words of the network column, the template they replace, and the one that fits better
    ("efa", "dgx-a100", "aws-p4de"),
    ("efa", "dgx-h100", "aws-p5"),
    ("efa", "dgx-b200", "aws-p6-b200"),
    ("tcpxo", "dgx-h100", "gcp-a3-mega"),
    ("tcpx", "dgx-h100", "gcp-a3-high"),
    ("a3 ultra", "dgx-h200", "gcp-a3-ultra"),
    ("juwels", "dgx-a100-40gb", "juwels-booster"),
    ("lumi", "frontier", "lumi"),
)
_PORTS = {  # catalogue links by Gb/s of a port
    "infiniband": {100: "infiniband-hdr100", 200: "infiniband-hdr200", 400: "infiniband-ndr400"},
    "roce": {100: "roce-100", 200: "roce-200", 400: "roce-400"},
    "omni-path": {100: "infiniband-edr"},
}
_NODE = 8
_BIT = 1e9 / 8.0


def _cluster(row: TrainingMeasurement, catalogue: Catalogue, assumed: list[str]) -> Cluster:
    template = _template(row, catalogue)
    chips = _stated(row.chips, "number of accelerators")
    cluster = _named_cluster(catalogue, f"{template}/{chips}")
    if template.endswith("-pod"):
        if "DCN" in row.network and (row.chips_per_node or chips) < chips:
            assumed.append("slices joined as one torus")
        return cluster
    cluster = _resized(row, cluster)
    outer = cluster.dimensions[-1]
    if outer.size == 1 or not isinstance(outer.topology, FatTree) or not template.startswith("dgx"):
        return cluster
    stated = row.stated_network
    if stated is None or "not stated" in row.network:
        assumed.append("network between nodes")
    if stated is None:
        return cluster
    kind, rate = stated
    if kind == "omni-path":
        assumed.append("Omni-Path as InfiniBand")
    port = next((port for port in _PORTS[kind] if port * _BIT > 0.99 * rate), max(_PORTS[kind]))
    link = catalogue.link(_PORTS[kind][port])
    if link.name == outer.link.name and abs(rate / (port * _BIT) - 1) < 0.01:
        return cluster
    # A port is shared by several chips where the node has fewer of them.
    shared = replace(link, rate=link.rate * (rate / (port * _BIT)))
    return replace(cluster, dimensions=(*cluster.dimensions[:-1], replace(outer, name=row.network, link=shared)))


def _template(row: TrainingMeasurement, catalogue: Catalogue) -> str:
    name = row.accelerator.lower()
    if name in catalogue.names("clusters"):
        return name
    for pattern, template in _TEMPLATES:
        found = re.search(pattern, name)
        if not found:
            continue
        if not template:
            raise _UnstatedError("the catalogue has the whole PVC module, not one of its two stacks")
        usual = found.expand(template)
        sites = (site for word, replaced, site in _SITES if replaced == usual and word in row.network.lower())
        return next(sites, usual)
    raise _UnstatedError(f"the catalogue has no cluster of {row.accelerator!r}")


def _resized(row: TrainingMeasurement, cluster: Cluster) -> Cluster:
    """With as many chips a node as stated, where that is a part of the template's eight (a rack is one unit)."""
    inner, stated, rack = cluster.dimensions[0], row.chips_per_node, "-nvl" in cluster.name
    if len(cluster.dimensions) != 2 or inner.size != _NODE or stated not in (1, 2, 4) or rack:
        return cluster
    outer = replace(cluster.dimensions[1], size=cluster.accelerators // stated)
    return replace(cluster, dimensions=(replace(inner, size=stated), outer))
