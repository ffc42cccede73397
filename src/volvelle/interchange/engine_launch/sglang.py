"""SGLang: ``python -m sglang.launch_server --config sglang.yaml``."""

from collections.abc import Mapping

from volvelle.interchange.engine_launch.benchmark import benchmark
from volvelle.interchange.engine_launch.deployment import Deployment, LaunchFile, Value, cannot
from volvelle.interchange.engine_launch.drafting import sglang_drafts
from volvelle.interchange.engine_launch.recorded import RecordedOptions, recorded_options
from volvelle.interchange.engine_launch.scripts import launch_script, settings_file
from volvelle.interchange.engine_launch.vllm import quantization

_QUANTIZED = {"fp8": "fp8"}
"""Formats that it makes of a checkpoint in 16 bits, by the word that asks for it."""


def emit(deployment: Deployment, version: str = "") -> tuple[LaunchFile, ...]:
    """The script, its settings and the benchmark."""
    options = recorded_options("sglang", version)
    settings = options.checked({"--model-path": deployment.checkpoint, **server_settings(deployment, options)})
    file = settings_file("sglang.yaml", settings, deployment, options)
    words = ["python", "-m", "sglang.launch_server", "--config", "sglang.yaml", "--port"]
    options.checked({"--config": "sglang.yaml", "--port": 8000})
    return launch_script(words, deployment, options), file, benchmark(deployment)


def server_settings(deployment: Deployment, options: RecordedOptions) -> Mapping[str, Value]:
    """What the server is told; its tensor parallelism counts the ranks of attention that are repeated too."""
    layout, title = deployment.layout, options.named
    if layout.data > 1 and not deployment.mixture:
        raise cannot(
            title,
            f"attention repeated on {layout.data} ranks of a model without experts as it was timed",
            "take --dp 1, and let the machine hold replicas",
        )
    settings: dict[str, Value] = {"--tp-size": deployment.ranks}
    if layout.pipeline > 1:
        settings["--pp-size"] = layout.pipeline
    if layout.data > 1:
        settings["--dp-size"] = layout.data
        settings["--enable-dp-attention"] = True
    if layout.expert > 1:
        settings["--ep-size"] = layout.expert
    # It reads both as figures of all ranks together where attention is repeated.
    settings["--max-running-requests"] = deployment.max_sequences * layout.data
    settings["--chunked-prefill-size"] = (deployment.chunk if deployment.chunks else -1) * (
        layout.data if deployment.chunks else 1
    )
    settings["--max-prefill-tokens"] = deployment.token_budget
    settings["--mem-fraction-static"] = deployment.memory_share
    if deployment.longest is not None:
        settings["--context-length"] = deployment.longest
    settings["--kv-cache-dtype"] = "fp8_e4m3" if deployment.cache == "fp8" else "auto"
    settings |= quantization(deployment, _QUANTIZED, title)
    settings |= sglang_drafts(deployment, title)
    if not deployment.prefix_caching:
        settings["--disable-radix-cache"] = True
    if deployment.receive_interval > 1:
        settings["--scheduler-recv-interval"] = deployment.receive_interval
    if deployment.stream_interval > 1:
        settings["--stream-interval"] = deployment.stream_interval
    return settings
