"""DeepSpeed: its configuration file, in JSON.

The file holds replicas and what they share out, precision, batches, off-loading, and the degrees of its automatic
tensor and expert parallelism. It holds no sizes of the model, which comes with the training script, and no comments,
so what it has no key for is refused: pipelines (``PipelineModule(num_stages=…)`` in code) and context parallelism as
priced here (its own kind, Ulysses, exchanges heads, not keys and values). Full recomputation is switched on by the
model's calls of ``deepspeed.checkpointing``; the file says how many checkpoints there are and where they live.
"""

import json

from volvelle.interchange.launch.expressible import Framework, check_model
from volvelle.mapping.parallelism import ParallelMapping, Recompute
from volvelle.workload.families.shape import Transformer
from volvelle.workload.training import TrainingStep

_DEEPSPEED = Framework("the DeepSpeed configuration file", second_copies=True)


def emit(shape: Transformer, step: TrainingStep, mapping: ParallelMapping) -> str:
    """The configuration file for one layout."""
    check_model(shape, step)
    _DEEPSPEED.check_axes(mapping)
    _DEEPSPEED.check_trains_all(step)
    _DEEPSPEED.check_adam(step)
    _check_degrees(shape, mapping)
    settings: dict[str, object] = {
        "train_batch_size": step.batch,
        "train_micro_batch_size_per_gpu": mapping.micro_batch,
        "gradient_accumulation_steps": _DEEPSPEED.accumulation(step, mapping),
        **_precision(step),
        "zero_optimization": _zero(mapping),
    }
    if mapping.tensor > 1:
        settings["tensor_parallel"] = {"autotp_size": mapping.tensor}
    if mapping.expert > 1:
        settings["expert_parallel"] = {
            "enabled": True,
            "autoep_size": mapping.expert,
            "expert_tensor_parallel_size": 1,
        }
    if mapping.recompute is Recompute.FULL:
        settings["activation_checkpointing"] = {
            "number_checkpoints": -(-shape.layers // mapping.recompute_every),
            # Off-loading takes only partitioned checkpoints; over one tensor rank a partition is the whole.
            "partition_activations": mapping.offload_activations,
            "cpu_checkpointing": mapping.offload_activations,
        }
    return json.dumps(settings, indent=2) + "\n"


def _check_degrees(shape: Transformer, mapping: ParallelMapping) -> None:
    if mapping.pipeline > 1:
        raise _DEEPSPEED.cannot(
            f"{mapping.pipeline} pipeline stages", "they are an argument of PipelineModule in the model's code"
        )
    if mapping.interleave > 1:
        raise _DEEPSPEED.cannot(f"{mapping.interleave} pieces of a stage", "set interleave to 1")
    if mapping.context > 1:
        raise _DEEPSPEED.cannot(
            f"context parallelism of {mapping.context} that exchanges keys and values",
            "its own (Ulysses) exchanges heads; set context to 1",
        )
    if mapping.tensor > 1 and mapping.sequence_parallel:
        raise _DEEPSPEED.cannot("sequence parallelism beside tensor parallelism", "turn sequence_parallel off")
    if not mapping.fused_attention:
        raise _DEEPSPEED.cannot("attention that is not one kernel", "it is the model's; set fused_attention")
    _DEEPSPEED.plainly_routed(mapping)
    if mapping.expert > 1:
        if shape.experts is None:
            raise _DEEPSPEED.cannot(f"expert parallelism of {mapping.expert} without experts", "set expert to 1")
        if mapping.tensor > 1:
            raise _DEEPSPEED.cannot("experts split by tensor parallelism too", "set tensor or expert to 1")
    if mapping.offload_activations and (mapping.recompute is not Recompute.FULL or mapping.tensor > 1):
        raise _DEEPSPEED.cannot(
            "activations in host memory but for the kept inputs of whole layers on one tensor rank",
            "recompute in full with tensor 1, or keep them on the chip",
        )


def _precision(step: TrainingStep) -> dict[str, object]:
    if step.element not in ("fp32", "bf16", "fp16"):
        raise _DEEPSPEED.cannot(f"the element type {step.element}", "it has fp32, bf16 and fp16")
    if step.gradient_element not in ("fp32", "bf16", "fp16"):
        raise _DEEPSPEED.cannot(f"gradients in {step.gradient_element}", "it has fp32, bf16 and fp16")
    half = {} if step.element == "fp32" else {step.element: {"enabled": True}}
    return {
        **half,
        "data_types": {"grad_accum_dtype": step.gradient_element},
        "communication_data_type": step.gradient_element,
    }


def _zero(mapping: ParallelMapping) -> dict[str, object]:
    zero: dict[str, object] = {"stage": mapping.zero, "overlap_comm": mapping.overlap}
    groups = _DEEPSPEED.hybrid_groups(mapping)
    if groups > 1:
        if mapping.zero != 3:
            raise _DEEPSPEED.cannot(
                f"hybrid sharding at ZeRO stage {mapping.zero}", "set zero to 3, or shard over all (0)"
            )
        zero["mics_shard_size"] = mapping.zero_group
    if mapping.zero_secondary:
        if mapping.zero != 3 or groups > 1:
            where = "beside hybrid sharding" if groups > 1 else f"at ZeRO stage {mapping.zero}"
            raise _DEEPSPEED.cannot(f"a second copy of the weights {where}", "set zero to 3 and zero_group to 0")
        zero["zero_hpz_partition_size"] = mapping.zero_secondary
    if mapping.offload_optimiser:
        if mapping.zero == 0:
            raise _DEEPSPEED.cannot("off-loaded optimiser state without ZeRO", "set zero to 1 or more")
        zero["offload_optimizer"] = {"device": "cpu", "pin_memory": True}
    if mapping.offload_weights:
        if mapping.zero != 3 or not mapping.offload_optimiser:
            raise _DEEPSPEED.cannot(
                f"off-loaded weights and gradients at ZeRO stage {mapping.zero}"
                + ("" if mapping.offload_optimiser else " with the optimiser on the chip"),
                "set zero to 3 and off-load the optimiser too",
            )
        zero["offload_param"] = {"device": "cpu", "pin_memory": True}
    return zero
