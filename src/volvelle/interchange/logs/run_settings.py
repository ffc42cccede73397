"""What a log says of its run, by the words of this package: chips, batch, layout, element type, shape of the model."""

import ast
from collections.abc import Callable, Mapping

from volvelle.interchange.logs.logged import SAMPLE, STEP, LoggedRun
from volvelle.interchange.logs.runs import RESERVED, clock_seconds, known

_MEGATRON = {
    "chips": ("world_size",),
    "batch": ("global_batch_size",),
    "sequence": ("seq_length",),
    "tensor": ("tensor_model_parallel_size", "model_parallel_size"),
    "pipeline": ("pipeline_model_parallel_size", "pipe_parallel_size"),
    "interleave": ("virtual_pipeline_model_parallel_size",),
    "context": ("context_parallel_size",),
    "expert": ("expert_model_parallel_size",),
    "micro_batch": ("micro_batch_size",),
}
_SHAPE = {
    "layers": ("num_layers",),
    "hidden": ("hidden_size",),
    "heads": ("num_attention_heads",),
    "kv_heads": ("num_query_groups",),
    "ffn": ("ffn_hidden_size",),
    "vocabulary": ("padded_vocab_size", "vocab_size"),
    "experts": ("num_experts",),
    "chosen_experts": ("moe_router_topk",),
    "expert_ffn": ("moe_ffn_hidden_size",),
}
_MESH = {"tp": "tensor", "pp": "pipeline", "cp": "context", "ep": "expert", "dp_replicate": "data", "dp_shard": "shard"}
_STACKS = {"torchtitan": "torchtitan", "nemo": "nemo", "mlperf": "nemo", "deepspeed": "deepspeed"}
_MEGA = 2**20


def run_settings(run: LoggedRun) -> dict[str, object]:
    """Settings that the log states, those of the layout by the names of its fields."""
    said = run.arguments
    found = {name: known(said, *names) for name, names in _MEGATRON.items()}
    found["batch"] = run.batch or found["batch"] or known(said, "batch", "train_batch_size")
    settings: dict[str, object] = {name: value for name, value in found.items() if value is not None}
    for name, read in _READ.items():
        value = read(said)
        if value is not None:
            settings[name] = value
    settings |= _torchtitan(run)
    sequence = known(said, "sequence_length", "max_sequence_length")
    if sequence is not None:
        settings["sequence"] = sequence
    stack = _stack(run)
    return settings | ({"stack": stack} if stack else {})


def _stack(run: LoggedRun) -> str:
    if run.tool == "megatron":
        modern = run.arguments.get("transformer_impl") == "transformer_engine"
        return "megatron-core" if modern else "" if not run.arguments else "megatron-lm"
    return _STACKS.get(run.tool, "")


def _flag(said: Mapping[str, str], name: str) -> bool | None:
    return {"True": True, "true": True, "False": False, "false": False}.get(said.get(name, ""))


def _element(said: Mapping[str, str]) -> str | None:
    if said.get("fp8", "None") not in ("None", "False", ""):
        return "fp8"
    return next((name for name in ("bf16", "fp16") if _flag(said, name)), None)


def _recompute(said: Mapping[str, str]) -> str | None:
    word = said.get("recompute_granularity")
    return {"None": "none", "full": "full", "selective": "selective"}.get(word or "")


def _zero(said: Mapping[str, str]) -> int | None:
    stage = said.get("zero_stage")
    if stage is not None and stage.isdigit():
        return int(stage)
    sharded = _flag(said, "use_distributed_optimizer")
    return None if sharded is None else int(sharded)


_READ: Mapping[str, Callable[[Mapping[str, str]], object]] = {
    "element": _element,
    "recompute": _recompute,
    "zero": _zero,
    "sequence_parallel": lambda said: _flag(said, "sequence_parallel"),
}


def _torchtitan(run: LoggedRun) -> dict[str, object]:
    """Degrees of the mesh: what is sharded over is a group of ZeRO 3."""
    said = run.arguments
    try:
        names, sizes = ast.literal_eval(said.get("mesh", "[], []"))
        mesh = {str(name): int(size) for name, size in zip(names, sizes, strict=True)}
    except (ValueError, SyntaxError, TypeError):
        return {}
    found: dict[str, object] = {_MESH[name]: size for name, size in mesh.items() if name in _MESH}
    shard = int(str(found.pop("shard", 0)))
    if shard > 1:
        replicas = int(str(found.get("data", 1)))
        found |= {"zero": 3, "data": replicas * shard}
        if replicas > 1:
            found["zero_group"] = shard
    if mesh:
        found["chips"] = _product(mesh)
    local = known(said, "local_batch_size")
    return found | ({"micro_batch": local} if local else {})


def _product(mesh: Mapping[str, int]) -> int:
    found = 1
    for name, size in mesh.items():
        found *= size if name != "ep" else 1  # experts are dealt out over ranks of the others
    return found


def shape_settings(run: LoggedRun) -> dict[str, int]:
    """Numbers of the model that the log states."""
    found = {name: known(run.arguments, *names) for name, names in _SHAPE.items()}
    return {name: value for name, value in found.items() if value is not None}


def gated(run: LoggedRun) -> bool:
    """Whether the log says that the feed-forward has a gate."""
    return _flag(run.arguments, "swiglu") is True


def step_seconds(run: LoggedRun, *, batch: int, sequence: int, chips: int) -> float | None:
    """Seconds a step, whatever the log's times are of; None: no step of it is steady."""
    if run.steady is None:
        return None
    if run.per == STEP:
        return run.steady.seconds
    return run.steady.seconds * (batch if run.per == SAMPLE else batch * sequence / chips)


def step_by_clock(run: LoggedRun) -> float | None:
    """Seconds a step by the times of day of lines, to hold against what rates say."""
    return None if run.steady is None else clock_seconds(run.steps, run.steady.lines)


def reserved_memory(run: LoggedRun) -> float | None:
    """Most bytes that a chip reserved; what was allocated alone does not count."""
    said = run.arguments.get(RESERVED)
    if said is not None:
        return float(said) * _MEGA
    return run.memory if run.tool in ("torchtitan", "nemo") else None
