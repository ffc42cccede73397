"""Megatron-LM: command-line arguments of ``pretrain_gpt.py``, as a shell fragment.

The fragment sets an array ``MEGATRON_ARGS`` for ``torchrun … pretrain_gpt.py "${MEGATRON_ARGS[@]}"``; tokenizer, data,
learning rate and checkpoints are the caller's. The data-parallel size is not an argument: it follows from the number
of ranks, which the first line states. ZeRO stage 1 is the distributed optimizer, stages 2 and 3 are Megatron-FSDP.
"""

import shlex

from volvelle.interchange.launch.expressible import Framework, check_model, one_line, recomputes_core, sequence_length
from volvelle.mapping.parallelism import ParallelMapping, Recompute, Schedule
from volvelle.workload.families.shape import Transformer
from volvelle.workload.training import TrainingStep

_MEGATRON = Framework("Megatron-LM")
_Flags = dict[str, object]
"""Arguments with their values; True: an argument that takes none, False: one that is left out."""


def emit(shape: Transformer, step: TrainingStep, mapping: ParallelMapping) -> str:
    """The arguments for one layout."""
    check_model(shape, step)
    _MEGATRON.check_axes(mapping)
    _MEGATRON.accumulation(step, mapping)
    _MEGATRON.check_trains_all(step)
    length = sequence_length(shape, step)
    flags: _Flags = {
        **_network(shape, length),
        **_attention(shape, mapping),
        **_experts(shape, step, mapping),
        **_parallelism(shape, mapping, length),
        "--micro-batch-size": mapping.micro_batch,
        "--global-batch-size": step.batch,
        **_sharing(mapping),
        **_recomputation(mapping),
        **_precision(step, mapping),
        **_optimiser(step, mapping),
        **_offload(mapping),
    }
    lines = [f"# {one_line(shape.name)}: {mapping.chips} ranks, of which {mapping.data} are data-parallel replicas"]
    if mapping.zero >= 2:
        lines.append("unset CUDA_DEVICE_MAX_CONNECTIONS  # Megatron-FSDP refuses 1")
    elif mapping.tensor > 1 or mapping.context > 1:
        lines.append("export CUDA_DEVICE_MAX_CONNECTIONS=1  # asked for by tensor and context parallelism")
    lines.append("MEGATRON_ARGS=(")
    given = {
        flag: "" if value is True else f" {shlex.quote(str(value))}"
        for flag, value in flags.items()
        if value is not False
    }
    lines += [f"    {flag}{value}" for flag, value in given.items()]
    return "\n".join([*lines, ")"]) + "\n"


def _network(shape: Transformer, length: int) -> _Flags:
    if shape.pattern:
        raise _MEGATRON.cannot(
            "layers of several kinds by these options", "write the launch file of its recipe by hand"
        )
    if shape.parallel_block:
        raise _MEGATRON.cannot("attention and feed-forward side by side (parallel_block)", "use a model without it")
    if shape.norms_per_layer != 2:
        raise _MEGATRON.cannot(f"{shape.norms_per_layer} norms a layer", "use a model with two")
    if shape.norm_bias is not (shape.norm == "layernorm"):
        raise _MEGATRON.cannot(f"a {shape.norm} {'with' if shape.norm_bias else 'without'} bias", "use a model without")
    if shape.embedding_norm:
        raise _MEGATRON.cannot("a norm after the embedding", "use a model without it")
    if shape.head_bias:
        raise _MEGATRON.cannot("a bias on the output head", "use a model without it")
    if shape.activation in ("geglu", "relu"):
        raise _MEGATRON.cannot(f"the activation {shape.activation}", "it has gelu, swiglu and squared relu")
    return {
        "--num-layers": shape.layers,
        "--hidden-size": shape.hidden,
        "--ffn-hidden-size": shape.ffn,
        "--num-attention-heads": shape.heads,
        "--seq-length": length,
        "--max-position-embeddings": max(shape.position_slots, length),
        "--vocab-size": shape.vocabulary,
        # Padded only as far as the split over tensor ranks asks, where the library would round up to 128 times that.
        "--make-vocab-size-divisible-by": 1,
        "--normalization": "RMSNorm" if shape.norm == "rmsnorm" else "LayerNorm",
        "--attention-dropout": "0.1" if shape.dropout else "0.0",
        "--hidden-dropout": "0.1" if shape.dropout else "0.0",
        "--squared-relu": shape.activation == "relu2",
        "--swiglu": shape.activation == "swiglu",
        "--disable-bias-linear": shape.linear_bias != "all",
        "--add-qkv-bias": shape.linear_bias == "qkv",
        "--untie-embeddings-and-output-weights": not shape.tied_embeddings,
    }


def _attention(shape: Transformer, mapping: ParallelMapping) -> _Flags:
    places = {"learned": "learned_absolute", "rotary": "rope", "none": "none"}
    if shape.positions not in places:
        raise _MEGATRON.cannot(f"{shape.positions} positions", "it has learned and rotary ones, or none")
    if shape.attention_gate or shape.sparse is not None:
        raise _MEGATRON.cannot("gated or sparse attention by options that last", "use a model without it")
    backend = ("fused" if shape.latent else "flash") if mapping.fused_attention else "unfused"
    flags: _Flags = {
        "--position-embedding-type": places[shape.positions],
        "--kv-channels": shape.head_dim,
        "--attention-backend": backend,
    }
    latent = shape.latent
    if latent is not None:
        flags |= {
            "--multi-latent-attention": True,
            "--q-lora-rank": latent.query_rank or False,
            "--kv-lora-rank": latent.kv_rank,
            "--qk-head-dim": shape.head_dim,
            "--qk-pos-emb-head-dim": latent.rotary_dim,
            "--v-head-dim": latent.value_dim,
        }
    elif shape.kv_heads != shape.heads:
        flags |= {"--group-query-attention": True, "--num-query-groups": shape.kv_heads}
    # Under latent attention this flag stands for the norms of the latents, which the shape always has.
    return {**flags, "--qk-layernorm": shape.qk_norm or latent is not None}


def _experts(shape: Transformer, step: TrainingStep, mapping: ParallelMapping) -> _Flags:
    experts = shape.experts
    if experts is None:
        if mapping.expert > 1:
            raise _MEGATRON.cannot(f"expert parallelism of {mapping.expert} without experts", "set expert to 1")
        return {}
    copies = mapping.data * mapping.context * (1 if mapping.expert_tensor_parallel else mapping.tensor)
    if experts.count % mapping.expert or copies % mapping.expert:
        raise _MEGATRON.cannot(
            f"{experts.count} experts over {mapping.expert} of {copies} replicas", "make expert a divisor of both"
        )
    if mapping.tensor > 1 and not mapping.sequence_parallel:
        raise _MEGATRON.cannot("experts under tensor parallelism without sequence parallelism", "turn the latter on")
    dense = experts.dense_layers
    return {
        "--num-experts": experts.count,
        "--moe-router-topk": experts.chosen,
        "--moe-ffn-hidden-size": experts.ffn,
        "--moe-token-dispatcher-type": "flex" if mapping.hierarchical_dispatch else "alltoall",
        "--expert-model-parallel-size": mapping.expert,
        "--expert-tensor-parallel-size": mapping.tensor if mapping.expert_tensor_parallel else 1,
        "--moe-enable-deepep": mapping.hierarchical_dispatch,
        "--overlap-moe-expert-parallel-comm": mapping.expert_overlap,
        "--moe-shared-expert-intermediate-size": experts.shared_ffn or False,
        "--moe-layer-freq": dense > 0 and f"([0]*{dense}+[1]*{shape.layers - dense})",
        "--moe-grouped-gemm": step.element in ("bf16", "fp8", "fp4") and shape.linear_bias != "all",
    }


def _parallelism(shape: Transformer, mapping: ParallelMapping, length: int) -> _Flags:
    if mapping.pipeline > 1 and mapping.schedule is not Schedule.ONE_FORWARD_ONE_BACKWARD:
        raise _MEGATRON.cannot(f"the schedule {mapping.schedule.word}", "it runs 1f1b, interleaved or not")
    if mapping.interleave > 1 and mapping.pipeline == 1:
        raise _MEGATRON.cannot(f"{mapping.interleave} pieces of a single stage", "set interleave to 1")
    pieces = mapping.pipeline * mapping.interleave
    if shape.layers % pieces:
        raise _MEGATRON.cannot(
            f"{shape.layers} layers over {mapping.pipeline} stages of {mapping.interleave} pieces",
            "make their product a divisor of the layers",
        )
    if mapping.context > 1 and length % (2 * mapping.context):
        raise _MEGATRON.cannot(
            f"sequences of {length} over {mapping.context} context ranks",
            "make the length a multiple of twice the ranks",
        )
    return {
        "--tensor-model-parallel-size": mapping.tensor,
        "--pipeline-model-parallel-size": mapping.pipeline,
        "--context-parallel-size": mapping.context,
        "--cp-comm-type": mapping.context > 1 and mapping.ulysses and "a2a",
        "--num-virtual-stages-per-pipeline-rank": mapping.interleave > 1 and mapping.interleave,
        "--sequence-parallel": mapping.sequence_parallel and mapping.tensor > 1,
    }


def _sharing(mapping: ParallelMapping) -> _Flags:
    groups, fsdp = _MEGATRON.hybrid_groups(mapping), mapping.zero >= 2
    strategy = "optim_grads" if mapping.zero == 2 else "optim_grads_params"
    return {
        "--use-distributed-optimizer": mapping.zero >= 1,
        "--use-megatron-fsdp": fsdp,
        "--data-parallel-sharding-strategy": fsdp and strategy,
        "--ckpt-format": fsdp and "fsdp_dtensor",
        "--num-distributed-optimizer-instances": groups > 1 and groups,
        "--overlap-grad-reduce": mapping.overlap,
        "--overlap-param-gather": mapping.overlap and mapping.zero >= 1,
    }


def _recomputation(mapping: ParallelMapping) -> _Flags:
    if mapping.recompute is Recompute.FULL:
        return {
            "--recompute-granularity": "full",
            "--recompute-method": "uniform",
            "--recompute-num-layers": mapping.recompute_every,
        }
    if recomputes_core(mapping):
        return {"--recompute-granularity": "selective", "--recompute-modules": "core_attn"}
    return {}


def _precision(step: TrainingStep, mapping: ParallelMapping) -> _Flags:
    flags: _Flags
    match step.element:
        case "fp32":
            flags = {}
        case "fp16" | "bf16":
            flags = {f"--{step.element}": True}
        case "fp8" | "fp4":
            if mapping.zero == 0:
                raise _MEGATRON.cannot(
                    f"{step.element} weights without a distributed optimizer", "set zero to 1 or more"
                )
            form = "hybrid" if step.element == "fp8" else "e2m1"
            flags = {"--bf16": True, f"--{step.element}-format": form, f"--{step.element}-param-gather": True}
        case other:
            raise _MEGATRON.cannot(f"the element type {other}", "it has fp32, bf16, fp16, fp8 and fp4")
    if step.gradient_element == "fp32":
        return {**flags, "--accumulate-allreduce-grads-in-fp32": step.element != "fp32"}
    if step.gradient_element == "bf16" and "--bf16" in flags:
        return {**flags, "--grad-reduce-in-bf16": True}
    if step.gradient_element == "fp16" == step.element:
        return flags
    raise _MEGATRON.cannot(f"gradients in {step.gradient_element} beside weights in {step.element}", "use fp32")


def _optimiser(step: TrainingStep, mapping: ParallelMapping) -> _Flags:
    """SGD by its name; Adam is what it does unless told."""
    momentum = {"sgd": 0.0, "sgd-momentum": 0.9}.get(step.optimiser)
    if momentum is None:
        _MEGATRON.check_adam(step)
        return {}
    if mapping.zero:
        raise _MEGATRON.cannot(
            f"{step.optimiser} whose states are shared out", "its distributed optimizer is Adam's; set zero to 0"
        )
    if step.element == "fp32" or step.optimiser_state != (8.0 if momentum else 4.0):
        raise _MEGATRON.cannot(
            f"{step.optimiser} with {step.optimiser_state:g} bytes a parameter", "it keeps weights and momentum in fp32"
        )
    return {"--optimizer": "sgd", "--sgd-momentum": momentum}


def _offload(mapping: ParallelMapping) -> _Flags:
    if mapping.offload_weights:
        raise _MEGATRON.cannot("weights in host memory", "off-load the optimiser state only")
    if mapping.offload_activations:
        raise _MEGATRON.cannot("the activations of all layers in host memory", "it keeps those of one layer or more")
    if not mapping.offload_optimiser:
        return {}
    if mapping.zero == 0:
        raise _MEGATRON.cannot("off-loaded optimiser state without a distributed optimizer", "set zero to 1 or more")
    return {
        "--optimizer-cpu-offload": True,
        "--optimizer-offload-fraction": "1.0",
        "--use-precision-aware-optimizer": True,
    }
