"""Logs as Megatron-LM prints them, of runs that take a chosen time."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

SETTINGS = {
    "world_size": 8,
    "tensor_model_parallel_size": 2,
    "pipeline_model_parallel_size": 1,
    "context_parallel_size": 1,
    "micro_batch_size": 1,
    "global_batch_size": 64,
    "seq_length": 4096,
    "num_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "ffn_hidden_size": 11008,
    "padded_vocab_size": 32000,
    "swiglu": True,
    "sequence_parallel": True,
    "use_distributed_optimizer": True,
    "recompute_granularity": "None",
    "bf16": True,
    "transformer_impl": "transformer_engine",
}
QUESTION = {"batch": 64, "tensor": 2, "micro_batch": 1, "sequence_parallel": True, "zero": 1, "stack": "megatron-core"}


def megatron_log(
    seconds: float,
    *,
    steps: int = 30,
    watts: float | None = None,
    reserved: float | None = None,
    tflops: float | None = None,
    **settings: object,
) -> str:
    """Warm-up steps take thrice as long, and steps at a checkpoint half as long again."""
    said = {**SETTINGS, **settings}
    if tflops is None:
        tflops = _printed_tflops(said, seconds)
    lines = [f"  {name} {'.' * (48 - len(name))} {value}" for name, value in said.items()]
    lines.append("-------------------- end of arguments ---------------------")
    clock = datetime(2026, 1, 1)  # noqa: DTZ001 - as logs print it
    for step in range(1, steps + 1):
        took = seconds * (3.0 if step <= 2 else 1.5 if step == 20 else 1.0 + 1e-3 * (step % 3 - 1))
        clock += timedelta(seconds=took)
        if step == 20:
            lines.append("saving checkpoint at iteration      19 to /checkpoints in torch_dist format")
        power = "" if watts is None else f" power per GPU (W/GPU): {watts} |"
        lines.append(
            f" [{clock.isoformat(' ')}] iteration {step:8d}/{steps:8d} | consumed samples: "
            f"{64 * step:12d} | elapsed time per iteration (ms): {1e3 * took:.1f} | throughput per GPU (TFLOP/s/GPU): "
            f"{tflops:.1f} |{power} learning rate: 1.500000E-06 | global batch size: {said['global_batch_size']:5} | "
            f"lm loss: 1.192634E+01 | number of skipped iterations:   0 | number of nan iterations:   0 |"
        )
        if step == 1 and reserved is not None:
            lines.append(
                f"[Rank 0] (after 1 iterations) memory (MB) | allocated: 1.0 | max allocated: 2.0 | reserved: "
                f"{reserved / 2**20} | max reserved: {reserved / 2**20}"
            )
    return "\n".join([*lines, ""])


def _printed_tflops(said: Mapping[str, Any], seconds: float) -> float:
    """Return TFLOP/s per GPU as Megatron-LM counts them for such a step: six per parameter and token, and attention."""
    layers, hidden = said["num_layers"], said["hidden_size"]
    weights = layers * (4 * hidden**2 + 3 * hidden * said["ffn_hidden_size"]) + said["padded_vocab_size"] * hidden
    per_token = 6.0 * weights + 12.0 * layers * hidden * said["seq_length"]
    tokens = said["global_batch_size"] * said["seq_length"]
    return 1e-12 * float(per_token * tokens / (seconds * said["world_size"]))


def written(folder: Path, *texts: str) -> list[Path]:
    """As files."""
    files = []
    for place, text in enumerate(texts):
        file = folder / f"run{place}.log"
        file.write_text(text, "utf-8")
        files.append(file)
    return files
