"""torchtitan: a job configuration in TOML.

torchtitan keeps the sizes of models in its code, as flavors by name; a shape that is none of those it has is written
without ``[model]``, its sizes as comments, for the flavor the caller registers. Its data parallelism is FSDP2, whose
stage is told by when weights are let go: after each use (ZeRO 3) or not before the step ends (ZeRO 2); or plain
replicas (ZeRO 0) where nothing else is parallel.
"""

from volvelle.interchange.launch.expressible import Framework, check_model, one_line, sequence_length
from volvelle.mapping.parallelism import ParallelMapping, Recompute, Schedule
from volvelle.workload.families.shape import Transformer
from volvelle.workload.training import TrainingStep

_TITAN = Framework("torchtitan", alternates=True)
_Table = dict[str, str | int | bool | list[str]]
_RECOMPUTATION: dict[Recompute, _Table] = {
    Recompute.FULL: {"mode": "full"},
    Recompute.ALTERNATE: {"mode": "selective"},
}

_FLAVORS = {
    # layers, hidden, heads, key-value heads, ffn, experts, vocabulary
    (32, 4096, 32, 8, 14336, 0, 128256): ("llama3", "8B"),
    (80, 8192, 64, 8, 28672, 0, 128256): ("llama3", "70B"),
    (126, 16384, 128, 8, 53248, 0, 128256): ("llama3", "405B"),
    (27, 2048, 16, 16, 10944, 64, 102400): ("deepseek_v3", "16B"),
    (60, 5120, 128, 128, 12288, 160, 102400): ("deepseek_v3", "236B"),
    (61, 7168, 128, 128, 18432, 256, 129280): ("deepseek_v3", "671B"),
}


def emit(shape: Transformer, step: TrainingStep, mapping: ParallelMapping) -> str:
    """The job configuration for one layout."""
    check_model(shape, step)
    _TITAN.check_axes(mapping)
    _TITAN.check_trains_all(step)
    _TITAN.check_adam(step)
    rounds = _TITAN.accumulation(step, mapping)
    _check_run(mapping)
    tables: dict[str, _Table] = {
        "training": _training(shape, step, mapping, rounds),
        "parallelism": _parallelism(shape, mapping),
        "activation_checkpoint": _RECOMPUTATION.get(mapping.recompute, {"mode": "none"}),
    }
    lines = [f"# {one_line(shape.name)}: {mapping.chips} ranks"]
    model = _model(shape, step)
    if "name" in model:
        tables = {"model": model, **tables}
    else:
        lines.append(
            f"# [model]: register a flavor of {shape.layers} layers, hidden {shape.hidden}, {shape.heads} heads, "
            f"{shape.kv_heads} key-value heads, ffn {shape.ffn}, vocabulary {shape.vocabulary}"
        )
        tables |= {"model": model} if model else {}
    for name, table in tables.items():
        lines += ["", f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _toml(value: str | int | bool | list[str]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _check_run(mapping: ParallelMapping) -> None:
    """What its trainer always does, or never."""
    if not mapping.fused_attention:
        raise _TITAN.cannot("attention that is not one kernel", "set fused_attention")
    if mapping.tensor > 1 and not mapping.sequence_parallel:
        raise _TITAN.cannot("tensor parallelism without sequence parallelism", "set sequence_parallel")
    _TITAN.check_fully_sharded(mapping)
    if mapping.offload_weights and mapping.zero < 2:
        raise _TITAN.cannot("off-loading without FSDP", "set zero to 2 or 3")


def _model(shape: Transformer, step: TrainingStep) -> _Table:
    key = (
        shape.layers,
        shape.hidden,
        shape.heads,
        shape.kv_heads,
        shape.ffn,
        shape.experts.count if shape.experts else 0,
        shape.vocabulary,
    )
    table: _Table = {}
    if key in _FLAVORS:
        table["name"], table["flavor"] = _FLAVORS[key]
    if step.element == "fp8":
        table["converters"] = ["float8"]
    return table


def _training(shape: Transformer, step: TrainingStep, mapping: ParallelMapping, rounds: int) -> _Table:
    elements = {"bf16": "bfloat16", "fp8": "bfloat16", "fp32": "float32"}
    if step.element not in elements:
        raise _TITAN.cannot(f"the element type {step.element}", "it has bf16, fp32 and fp8")
    if step.gradient_element != "fp32":
        raise _TITAN.cannot(f"gradients exchanged in {step.gradient_element}", "it exchanges them in fp32")
    # A pipeline takes all its micro-batches in one local batch; without one, the trainer accumulates local batches.
    local = mapping.micro_batch * (rounds if mapping.pipeline > 1 else 1)
    return {
        "local_batch_size": local,
        "global_batch_size": step.batch,
        "seq_len": sequence_length(shape, step),
        "mixed_precision_param": elements[step.element],
        "mixed_precision_reduce": "float32",
        "enable_cpu_offload": mapping.offload_weights,
    }


def _parallelism(shape: Transformer, mapping: ParallelMapping) -> _Table:
    replicate, shard = _replicas(mapping)
    table: _Table = {"data_parallel_replicate_degree": replicate, "data_parallel_shard_degree": shard}
    if mapping.zero >= 2:
        table["fsdp_reshard_after_forward"] = "always" if mapping.zero == 3 else "never"
    table["tensor_parallel_degree"] = mapping.tensor
    _TITAN.plainly_routed(mapping)
    table["context_parallel_degree"] = mapping.context
    if mapping.expert > 1:
        if mapping.tensor > 1 and not mapping.expert_tensor_parallel:
            raise _TITAN.cannot("whole experts on tensor ranks", "turn expert_tensor_parallel on, or use Megatron-LM")
        among = shard * mapping.context
        if shape.experts is None:
            raise _TITAN.cannot(f"expert parallelism of {mapping.expert} without experts", "set expert to 1")
        if mapping.expert % mapping.context or among % mapping.expert:
            raise _TITAN.cannot(
                f"experts over {mapping.expert} ranks where {among} share out and {mapping.context} split sequences",
                "make it a multiple of context and a divisor of the ranks that share out",
            )
        table["expert_parallel_degree"] = mapping.expert
    return {**table, **_pipeline(shape, mapping)}


def _replicas(mapping: ParallelMapping) -> tuple[int, int]:
    """Degrees of plain and of sharing replicas."""
    copies = mapping.data * mapping.context
    if copies == 1:
        return 1, 1
    if mapping.zero == 1:
        raise _TITAN.cannot("sharing out optimiser state alone (ZeRO 1)", "set zero to 0, 2 or 3")
    if mapping.zero == 0:
        if mapping.chips != mapping.data:
            raise _TITAN.cannot("plain replicas (ZeRO 0) beside other parallelism", "set zero to 2 or 3")
        return mapping.data, 1
    groups = _TITAN.replica_groups(mapping)
    return groups, mapping.data // groups


def _pipeline(shape: Transformer, mapping: ParallelMapping) -> _Table:
    if mapping.pipeline == 1:
        if mapping.interleave > 1:
            raise _TITAN.cannot(f"{mapping.interleave} pieces of a single stage", "set interleave to 1")
        return {"pipeline_parallel_degree": 1}
    match mapping.schedule:
        case Schedule.ONE_FORWARD_ONE_BACKWARD:
            schedule = "1F1B" if mapping.interleave == 1 else "Interleaved1F1B"
        case Schedule.GPIPE if mapping.interleave == 1:
            schedule = "GPipe"
        case _:
            raise _TITAN.cannot(
                f"the schedule {mapping.schedule.word} with {mapping.interleave} pieces a stage",
                "it has 1F1B, Interleaved1F1B and GPipe (its zero-bubble schedules need several stages a rank)",
            )
    stages = mapping.pipeline * mapping.interleave
    each = -(-shape.layers // stages)
    if -(-shape.layers // each) != stages:
        raise _TITAN.cannot(f"{shape.layers} layers over {stages} stages", "make the stages a divisor of the layers")
    return {
        "pipeline_parallel_degree": mapping.pipeline,
        "pipeline_parallel_schedule": schedule,
        "pipeline_parallel_microbatch_size": mapping.micro_batch,
        "pipeline_parallel_layers_per_stage": each,
        # By default embedding and head count as a layer each; the priced layout deals out layers evenly.
        "pipeline_parallel_first_stage_less_layers": 0,
        "pipeline_parallel_last_stage_less_layers": 0,
    }
