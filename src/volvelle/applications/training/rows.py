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
              aws-…, TCPX → gcp-…, JUWELS … → that machine; a stack of a PVC → aurora-stacks
software      by the framework's name (`catalogue/data/stacks.yaml`); none that is known: the usual one of the chip
recipe        Megatron-Bridge: its preset of the model, GPU and precision that is nearest in degrees and release
              (`recipes`) says what brings tokens to experts and whether behind computation, which kernels the host
              starts together, fp8 attention, FSDP and virtual stages, where the row does not
network       "8x HDR200 per node", "1600Gb/node RoCE", … replace the link between nodes by the catalogue's InfiniBand
              or RoCE at the stated rate a chip; Omni-Path as EDR; TPU slices joined as if they were one torus
element       fp16, bf16; FP8, MXFP8, FP8-CS … → fp8; NVFP4 → fp4; int8; weights stay 16-bit
model         ungated: GPT as in Megatron (layer norm, biases, learned positions, tied head); gated: Llama (RMS norm,
              rotary, no bias, own head). By name: Nemotron and MaxText (no bias, rotary, own head), MPT (no bias),
              BLOOM (ALiBi, no dropout), Qwen (biases on queries, or norms), GPT-OSS (biases), PaLM (parallel block),
              DeepSeek (latent attention, shared experts)
era           *classic*: Megatron-LM, Megatron-DeepSpeed, metaseq on V100 or A100: attention not fused, dropout,
              gradients exchanged after the backward pass (with ZeRO-3 during it, but by DeepSpeed: see `models`), no
              ZeRO. *Modern*: all else, Megatron-LM as MegaScale and Jülich ran it: fused attention, no dropout,
              gradients exchanged during it, ZeRO-1
gradients     classic with fp16: fp16; NeMo, Megatron-Bridge, MLPerf, InternEvo, MaxText, Paxml, Composer "PURE": bf16,
              as their recipes say; else fp32
ZeRO          as stated, with the shard group where one is; HSDP shares out within a node, hpZ among all with a second
              copy of the weights within a node; not stated: see era. FSDP in a pipeline gathers weights and scatters
              gradients once a step, as ZeRO-1; DeepSpeed in bf16 shares out optimiser state as ZeRO-1 also where its
              stage is stated as 0 (microsoft/DeepSpeed deepspeed/runtime/bf16_optimizer.py)
recompute     none, full, selective as stated; MaxText "minimal" → light, "offloaded" and "partial" → full; not
              stated, or by a recipe of another micro-batch: that, or none, if it fits, since the run ran; else
              activations off-load (NeMo with FSDP), else full. FMS-FSDP's "selective" is some whole blocks, however
              many: selective if that fits, else full. Torchtitan's: alternate; light where it is timed, as was fitted
sequence      sequence parallelism as stated; not stated: modern yes, classic no. Ulysses: heads swapped for positions
micro-batch   as stated, or batch / (replicas × accumulation); not stated: 1. MaxText and Paxml state the batch of a
              device and accumulate nothing: the whole share of a replica. Torchtitan in a pipeline, not stated: as many
              as stages, its default
stages        virtual ones as stated; not stated: NeMo, Megatron-Core, MLPerf a layer each where micro-batches come in
              multiples of the stages, as near as all their calibration runs that state it; "interleaved" in the
              notes: two; else none
experts       whole on tensor ranks where said ("ETP=1") or where replicas alone are too few, else split over them;
              expert parallelism not stated: none
replicas      where degrees and chips disagree, what the chips leave after the other degrees
============  =======================================================================================================
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import gcd, hypot

import numpy as np

from volvelle.applications.contract import Question
from volvelle.applications.training.measurements import TrainingMeasurement
from volvelle.applications.training.models import (
    UnstatedError,
    is_classic,
    made_by,
    model_shape,
    overlaps_replicas,
    stated,
)
from volvelle.applications.training.recipes import Recipe, recipe_of
from volvelle.applications.training.row_machines import NETWORK_ASSUMED, NODE, ONE_TORUS, cluster_of_row
from volvelle.catalogue import Catalogue
from volvelle.catalogue.training_errors import stand_in_error, unstated_network_error
from volvelle.errors import VolvelleError
from volvelle.estimators.question_error import waiting_share, ways_left
from volvelle.estimators.training.closed_form import ClosedForm
from volvelle.mapping.parallelism import MappingTable, ParallelMapping, Recompute
from volvelle.system.cluster import Cluster
from volvelle.workload.families.transformer import transformer
from volvelle.workload.training import TrainingStep

TrainingQuestion = Question[TrainingStep, ParallelMapping, None]
"""What an estimator is asked for one measured run; its constants are the chip's own."""


_WHOLE_SHARE = ("maxtext", "paxml", "pathways", "google mlperf")
_AS_MANY_AS_STAGES = _ALTERNATING = ("torchtitan",)
_OVER_CONTEXT = ("torchtitan",)
"""Software that shares out among ranks of context parallelism too, beside the replicas that it names."""
_LAYER_A_PIECE = ("nemo", "megatron-core", "megatron-bridge", "mlperf")
_OFFLOADING = ("nemo", "megatron-bridge")
_RECOMPUTATION = "recomputation"
_LEEWAY = 1.15
"""How far over a chip's memory an estimate may be for a run that ran: about how far estimates of memory are off."""
_SIXTEEN_BIT_GRADIENTS = ("nemo", "megatron-bridge", "internevo", "fms-fsdp", *_WHOLE_SHARE, "mlperf")
"""Software that sums gradients of replicas in 16 bits unless it says; fms-fsdp by the policy it chooses where bf16 is
ready (``reduce_dtype`` of ``fms_fsdp/policies/mixed_precision.py@5a296af``)."""

# Built once a shape: estimators keep their plans by identity.
_workload = lru_cache(maxsize=512)(transformer)


@lru_cache(maxsize=4096)
def training_question(row: TrainingMeasurement, catalogue: Catalogue, *, timed: bool = True) -> TrainingQuestion | str:
    """The question a row puts to an estimator, or why it puts none.

    A run that is not `timed` need not have run, so nothing is assumed of it because it did.
    """
    assumed: list[str] = []
    try:
        _refuse(row, timed=timed)
        model = _workload(model_shape(row, assumed))
        mapping = _mapping(row, assumed, timed=timed)
        cluster = cluster_of_row(row, catalogue, assumed)
        element, sure = row.stated_element
        if not sure:
            assumed.append("precision")
        cluster.chip.matrix_rate(element)
        batch = stated(row.global_batch, "global batch")
        step = TrainingStep(model=model, batch=batch, element=element, gradient_element=_gradient_element(row))
        if timed and _RECOMPUTATION in assumed:
            mapping = _that_fits(row, step, mapping, cluster, assumed)
    except VolvelleError as error:
        return str(error)
    return Question(
        candidates=((step, mapping),),
        system=cluster,
        calibration=None,
        assumed=tuple(dict.fromkeys(assumed)),
        unstated=_unstated(step, mapping, cluster, assumed),
        outside=ways_left(cluster, step, mapping),
    )


def _unstated(step: TrainingStep, mapping: ParallelMapping, cluster: Cluster, assumed: Sequence[str]) -> float:
    """What is left open by what a row does not say of the machine."""
    network = waiting_share(cluster, step, mapping) if NETWORK_ASSUMED in assumed else 0.0
    return hypot(unstated_network_error(network), stand_in_error() if ONE_TORUS in assumed else 0.0)


def priced_together(asked: TrainingQuestion) -> tuple[object, ...]:
    """All that must be equal for two questions to be rows of one table: step and machine, but not layout."""
    step, system = asked.work, asked.system
    links = tuple((each.link.name, float(np.max(each.link.rate)), each.size) for each in system.dimensions)
    return id(step.model), step.batch, step.element, step.gradient_element, system.name, links


def _refuse(row: TrainingMeasurement, *, timed: bool) -> None:
    if row.head.split == "excluded":
        raise UnstatedError(f"excluded: {row.head.excluded_because or 'not usable'}")
    if row.layers == 1 or "single-layer" in row.model:
        raise UnstatedError("one layer was timed, not a step")
    if "LoRA" in row.head.notes:
        raise UnstatedError("LoRA: most weights are frozen")
    needed = ("layers", "hidden", "heads", "sequence", "global_batch", "chips")
    missing = [name.replace("_", " ") for name in needed if getattr(row, name) is None]
    if missing:
        raise UnstatedError(f"not stated: {', '.join(missing)}")
    if timed and row.seconds is None:
        raise UnstatedError("neither a step time nor tokens per second is stated")


def _gradient_element(row: TrainingMeasurement) -> str:
    if is_classic(row):
        return "fp16" if row.precision.lower() == "fp16" else "fp32"
    if "pure" in row.precision.lower() or made_by(row, _SIXTEEN_BIT_GRADIENTS):
        return "bf16"
    return "fp32"


# -- layout --------------------------------------------------------------------------------------------------


def _mapping(row: TrainingMeasurement, assumed: list[str], *, timed: bool) -> ParallelMapping:
    recipe = _recipe(row, assumed)
    tensor = stated(row.tensor, "tensor parallelism")
    pipeline = stated(row.pipeline, "pipeline parallelism")
    context = row.context or 1
    if row.ulysses is not None:
        context = row.ulysses
    data = _replicas(row, tensor * pipeline * context, assumed)
    zero, shard = _zero(row, data * context, assumed, fsdp=recipe.fsdp or False)
    if zero == 3 and pipeline > 1:
        zero = 1
        assumed.append("weights stay gathered over a pipeline's micro-batches")
    second = (row.chips_per_node or NODE) if zero == 3 and "hpz" in row.sharding.lower() else 0
    micro_batch = _micro_batch(row, data, pipeline, assumed)
    recompute, sure = row.stated_recompute
    if not sure and recipe.light:
        recompute = Recompute.LIGHT
    other_batch = recipe.micro_batch is not None and recipe.micro_batch != micro_batch
    if not sure and (recipe is _PLAIN or other_batch):
        assumed.append(_RECOMPUTATION)
    alternates = not timed and made_by(row, _ALTERNATING)
    sequence_parallel = tensor > 1 and _sequence_parallel(row, assumed)
    whole = sequence_parallel and _whole_experts(row, data * context)
    return ParallelMapping(
        tensor=tensor,
        pipeline=pipeline,
        data=data,
        context=context,
        expert=_expert(row, data * context * (tensor if whole else 1), assumed),
        expert_tensor_parallel=not whole,
        hierarchical_dispatch=bool(recipe.dispatcher),
        expert_overlap=recipe.overlap or False,
        graphs=recipe.graphs,
        narrow_attention=recipe.narrow_attention or False,
        ulysses=row.ulysses is not None and context > 1,
        micro_batch=micro_batch,
        interleave=_interleave(row, recipe, pipeline, data * micro_batch, assumed) if pipeline > 1 else 1,
        zero=zero,
        zero_group=shard,
        zero_secondary=second,
        overlap=overlaps_replicas(row, zero),
        sequence_parallel=sequence_parallel,
        recompute=Recompute.ALTERNATE if recompute is Recompute.LIGHT and alternates else recompute,
        offload_activations=bool(recipe.offload_layers),
        fused_attention=not is_classic(row),
    )


_PLAIN = Recipe(release="", preset="", model="", gpu="", precision="")


def _recipe(row: TrainingMeasurement, assumed: list[str]) -> Recipe:
    """What its framework publishes for the run, or a recipe that sets nothing."""
    found = recipe_of(row)
    if found is None:
        return _PLAIN
    recipe, unsure = found
    assumed += [unsure] if unsure else []
    assumed += recipe.unpriced
    return recipe


def _that_fits(
    row: TrainingMeasurement, step: TrainingStep, mapping: ParallelMapping, cluster: Cluster, assumed: list[str]
) -> ParallelMapping:
    """A run that ran had room: where nothing says what it kept of activations, as much as fits, or nothing does."""
    candidates: list[ParallelMapping] = [mapping, replace(mapping, recompute=Recompute.FULL)]
    if made_by(row, _OFFLOADING) and mapping.zero == 3:
        candidates.insert(1, replace(mapping, offload_activations=True))
    memory = ClosedForm().table(step, cluster, MappingTable.of(candidates)).memory_bytes
    fitting = np.flatnonzero(memory <= _LEEWAY * float(np.min(cluster.chip.memory.capacity)))
    if not len(fitting) or fitting[0] == 0:
        return mapping
    found = candidates[int(fitting[0])]
    words = "activations off-load" if found.offload_activations else "full recomputation"
    assumed.append(f"{words}: it would not have fitted")
    return found


def _replicas(row: TrainingMeasurement, others: int, assumed: list[str]) -> int:
    chips = stated(row.chips, "number of accelerators")
    if row.data is not None and row.data * others == chips:
        return row.data
    if chips % others:
        raise UnstatedError(f"its degrees of parallelism do not make {chips} accelerators")
    assumed.append("replicas: what the accelerators leave")
    return chips // others


def _whole_experts(row: TrainingMeasurement, replicas: int) -> bool:
    """Whether experts are dealt out over tensor ranks too: said so, or more of them than replicas could hold apart."""
    return row.experts is not None and ("ETP=1" in row.head.notes or replicas % (row.expert or 1) != 0)


def _expert(row: TrainingMeasurement, holders: int, assumed: list[str]) -> int:
    if row.experts is None:
        return 1
    if row.expert is None:
        assumed.append("no expert parallelism")
    found = gcd(row.expert or 1, holders)
    if found != (row.expert or 1):
        assumed.append("expert parallelism: as far as the accelerators allow")
    return found


def _interleave(row: TrainingMeasurement, recipe: Recipe, pipeline: int, at_once: int, assumed: list[str]) -> int:
    if row.interleave is not None:
        return row.interleave
    if recipe.pipeline == pipeline:
        return recipe.interleave or 1
    if made_by(row, _LAYER_A_PIECE):
        micro_batches, layers = stated(row.global_batch, "the global batch") // at_once, stated(row.layers, "layers")
        if micro_batches % pipeline == 0 and layers >= pipeline:
            assumed.append("a layer a virtual stage")
            return layers // pipeline
    if "interleaved" in row.head.notes.lower():
        assumed.append("two virtual stages")
        return 2
    if "deepspeed" not in row.framework.lower():
        assumed.append("no virtual stages")
    return 1


def _micro_batch(row: TrainingMeasurement, data: int, pipeline: int, assumed: list[str]) -> int:
    batch = stated(row.global_batch, "the global batch")
    if made_by(row, _WHOLE_SHARE):
        share = max(batch // data, 1)
        if share != row.micro_batch:
            assumed.append("a replica's whole share at once")
        return share
    if row.micro_batch is not None:
        return row.micro_batch
    if row.accumulation is not None and batch % (data * row.accumulation) == 0:
        return batch // (data * row.accumulation)
    if made_by(row, _AS_MANY_AS_STAGES) and pipeline > 1 and batch % (data * pipeline) == 0:
        assumed.append("as many micro-batches as stages")
        return batch // (data * pipeline)
    assumed.append("micro-batch of 1")
    return 1


def _zero(row: TrainingMeasurement, replicas: int, assumed: list[str], *, fsdp: bool) -> tuple[int, int]:
    stage, shard = row.stated_sharding
    if stage is None and fsdp:
        stage = 3
    if stage is None:
        stage = 0 if is_classic(row) else 1
        assumed.append(f"ZeRO stage {stage}")
    if stage == 0 and row.sharding and made_by(row, ("deepspeed",)) and row.stated_element[0] == "bf16":
        stage = 1  # its BF16_Optimizer shares out fp32 weights and moments whatever the stage
    text = row.sharding.lower()
    if "not stated" in text or "?" in text:
        assumed.append("sharding over all replicas")
    if made_by(row, _OVER_CONTEXT) and shard:
        shard *= row.context or 1
    if "hsdp" in text:
        shard = row.chips_per_node or NODE
        assumed.append("weights shared out within a node")
    # A shard group that is no part of the replicas says something else; all of them are then meant.
    return stage, shard if 1 < shard < replicas and replicas % shard == 0 else 0


def _sequence_parallel(row: TrainingMeasurement, assumed: list[str]) -> bool:
    if row.sequence_parallel in ("0", "1") or is_classic(row):
        return row.sequence_parallel == "1"
    assumed.append("sequence parallelism")
    return True
