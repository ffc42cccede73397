"""TensorRT-LLM: ``trtllm-serve CHECKPOINT … --extra_llm_api_options extra-llm-api-options.yaml``."""

from collections.abc import Mapping
from typing import Any

from volvelle.interchange.engine_launch.benchmark import benchmark
from volvelle.interchange.engine_launch.deployment import Deployment, LaunchFile, Value, cannot
from volvelle.interchange.engine_launch.drafting import no_drafts
from volvelle.interchange.engine_launch.recorded import RecordedOptions, as_arguments, recorded_options
from volvelle.interchange.engine_launch.scripts import launch_script, yaml_file
from volvelle.interchange.engine_launch.vllm import quantization

EXTRA = "extra-llm-api-options.yaml"


def emit(deployment: Deployment, version: str = "") -> tuple[LaunchFile, ...]:
    """The script, the file of settings that it has no options for, and the benchmark."""
    options = recorded_options("trtllm", version)
    settings = options.checked(server_settings(deployment, options))
    extra = nested(options.checked(extra_settings(deployment), "extra"))
    options.checked({"--extra_llm_api_options": EXTRA, "--port": 8000})
    words = ["trtllm-serve", deployment.checkpoint, *as_arguments(settings)]
    words += ["--extra_llm_api_options", EXTRA, "--port"]
    return (
        launch_script(words, deployment, options),
        yaml_file(EXTRA, extra, deployment, options),
        benchmark(deployment),
    )


def server_settings(deployment: Deployment, options: RecordedOptions) -> Mapping[str, Value]:
    """What its command is told; where attention is repeated, its tensor parallelism counts the ranks that do."""
    layout, title = deployment.layout, options.named
    check_layout(deployment, title)
    settings: dict[str, Value] = {"--tp_size": deployment.ranks, "--pp_size": layout.pipeline}
    if deployment.mixture:
        settings["--ep_size"] = layout.expert
    settings["--max_batch_size"] = deployment.max_sequences
    settings["--max_num_tokens"] = deployment.token_budget
    if deployment.longest is not None:
        settings["--max_seq_len"] = deployment.longest
    return settings


def check_layout(deployment: Deployment, title: str) -> None:
    """Refuse what it has no settings for."""
    layout = deployment.layout
    if layout.data > 1 and layout.tensor > 1:
        raise cannot(
            title,
            f"attention split over {layout.tensor} chips and repeated {layout.data} times",
            "its data-parallel attention takes every chip of a stage: take --tp 1 or --dp 1",
        )
    if layout.data > 1 and not deployment.mixture:
        raise cannot(title, "attention repeated in a model without experts as it was timed", "take --dp 1")
    no_drafts(deployment, title)
    quantization(deployment, {}, title)  # it takes a checkpoint as it is


def extra_settings(deployment: Deployment) -> Mapping[str, Value]:
    """What stands in its file."""
    settings: dict[str, Value] = {
        "kv_cache_config.dtype": "fp8" if deployment.cache == "fp8" else "auto",
        "kv_cache_config.free_gpu_memory_fraction": deployment.memory_share,
        "kv_cache_config.enable_block_reuse": deployment.prefix_caching,
        "kv_cache_config.tokens_per_block": deployment.block,
        "enable_chunked_prefill": deployment.chunks,
    }
    if deployment.layout.data > 1:
        settings["enable_attention_dp"] = True
    if deployment.batch_wait_steps:
        settings["batch_wait_timeout_iters"] = deployment.batch_wait_steps
    if deployment.batch_wait_ratio:
        settings["batch_wait_max_tokens_ratio"] = deployment.batch_wait_ratio
    if deployment.stream_interval > 1:
        settings["stream_interval"] = deployment.stream_interval
    return settings


def nested(settings: Mapping[str, Value]) -> Mapping[str, Any]:
    """Names with dots as fields in fields."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        *outer, last = name.split(".")
        inner = found
        for word in outer:
            inner = inner.setdefault(word, {})
        inner[last] = value
    return found
