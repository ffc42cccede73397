"""PyTorch FSDP2 through Hugging Face Accelerate: a file for ``accelerate launch --config_file``, in YAML.

The file holds the degrees of replicas, sharding, tensor and context parallelism, precision, recomputation and
off-loading. Sizes of the model and of batches, adapters and the optimiser are arguments of the training script; they
are written as comments, so that nothing of the layout is lost. Pipelines and expert parallelism it cannot hold.
"""

from volvelle.interchange.launch.expressible import Framework, check_model, one_line, sequence_length
from volvelle.interchange.launch.training_script import script_settings
from volvelle.mapping.parallelism import ParallelMapping, Recompute
from volvelle.workload.families.shape import Transformer
from volvelle.workload.training import TrainingStep

_FSDP = Framework("FSDP under Accelerate")


def emit(shape: Transformer, step: TrainingStep, mapping: ParallelMapping) -> str:
    """The launch file for one layout."""
    check_model(shape, step)
    _FSDP.check_axes(mapping)
    script = script_settings(_FSDP, shape, step, mapping)
    rounds = _FSDP.accumulation(step, mapping)
    _check_degrees(mapping)
    if not mapping.fused_attention:
        raise _FSDP.cannot("attention that is not one kernel", "it is the model's; set fused_attention")
    _FSDP.check_fully_sharded(mapping)
    groups = _FSDP.replica_groups(mapping)
    length = sequence_length(shape, step)
    return "\n".join(
        [
            f"# {one_line(shape.name)}: {shape.layers} layers, hidden {shape.hidden}, sequences of {length}",
            f"# for the training script: per_device_train_batch_size {mapping.micro_batch}, "
            f"gradient_accumulation_steps {rounds}, global batch {step.batch}",
            *(f"# for the training script: {setting}" for setting in script),
            "compute_environment: LOCAL_MACHINE",
            "distributed_type: FSDP",
            f"mixed_precision: {_precision(step)}",
            f"num_processes: {mapping.chips}",
            "fsdp_config:",
            "  fsdp_version: 2",
            "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP",
            f"  fsdp_reshard_after_forward: {_yaml(mapping.zero == 3)}",
            f"  fsdp_activation_checkpointing: {_yaml(mapping.recompute is Recompute.FULL)}",
            f"  fsdp_offload_params: {_yaml(mapping.offload_weights)}",
            "  fsdp_state_dict_type: SHARDED_STATE_DICT",
            "parallelism_config:",
            f"  parallelism_config_dp_replicate_size: {groups}",
            f"  parallelism_config_dp_shard_size: {mapping.data // groups}",
            f"  parallelism_config_tp_size: {mapping.tensor}",
            f"  parallelism_config_cp_size: {mapping.context}",
            "",
        ]
    )


def _yaml(truth: bool) -> str:
    return "true" if truth else "false"


def _check_degrees(mapping: ParallelMapping) -> None:
    _FSDP.plainly_routed(mapping)
    if mapping.pipeline > 1 or mapping.interleave > 1:
        raise _FSDP.cannot(
            f"pipeline parallelism ({mapping.pipeline} stages of {mapping.interleave} pieces)",
            "set pipeline and interleave to 1, or use torchtitan or Megatron-LM",
        )
    if mapping.expert > 1:
        raise _FSDP.cannot(f"expert parallelism of {mapping.expert}", "set expert to 1, or use torchtitan")
    if mapping.tensor > 1 and mapping.sequence_parallel:
        raise _FSDP.cannot("sequence parallelism beside tensor parallelism", "turn sequence_parallel off")
    if mapping.zero < 2 and mapping.data * mapping.context > 1:
        raise _FSDP.cannot(f"ZeRO stage {mapping.zero}", "FSDP shares out gradients too; set zero to 2 or 3")


def _precision(step: TrainingStep) -> str:
    words = {"fp32": "no", "bf16": "bf16", "fp16": "fp16"}
    if step.element not in words:
        raise _FSDP.cannot(f"the element type {step.element}", "it has fp32, bf16 and fp16")
    if step.gradient_element != step.element:
        raise _FSDP.cannot(
            f"gradients exchanged in {step.gradient_element} beside weights in {step.element}",
            f"Accelerate exchanges them in the type of mixed_precision; set gradient_element to {step.element}",
        )
    return words[step.element]
