"""vLLM: ``vllm serve CHECKPOINT --config vllm.yaml``."""

from collections.abc import Mapping

from volvelle.interchange.engine_launch.benchmark import benchmark
from volvelle.interchange.engine_launch.deployment import Deployment, LaunchFile, Value, cannot
from volvelle.interchange.engine_launch.drafting import vllm_drafts
from volvelle.interchange.engine_launch.recorded import RecordedOptions, recorded_options
from volvelle.interchange.engine_launch.scripts import launch_script, settings_file

QUANTIZED = {"fp8": "fp8"}
"""Formats that it makes of a checkpoint in 16 bits, by the word that asks for it."""
WIDE = {"bf16", "fp16"}


def emit(deployment: Deployment, version: str = "") -> tuple[LaunchFile, ...]:
    """The script, its settings and the benchmark."""
    options = recorded_options("vllm", version)
    settings = options.checked(server_settings(deployment, options))
    file = settings_file("vllm.yaml", settings, deployment, options)
    words = ["vllm", "serve", deployment.checkpoint, "--config", "vllm.yaml", "--port"]
    options.checked({"--config": "vllm.yaml", "--port": 8000})
    return launch_script(words, deployment, options), file, benchmark(deployment)


def server_settings(deployment: Deployment, options: RecordedOptions) -> Mapping[str, Value]:
    """What the server is told."""
    layout, title = deployment.layout, options.named
    settings: dict[str, Value] = {"--tensor-parallel-size": layout.tensor}
    if layout.pipeline > 1:
        settings["--pipeline-parallel-size"] = layout.pipeline
    if layout.data > 1:
        settings["--data-parallel-size"] = layout.data
    if layout.expert > 1:
        if layout.expert != deployment.ranks:
            raise cannot(
                title,
                f"experts in {layout.expert} groups on {deployment.ranks} chips of a stage",
                f"it spreads whole experts over all or splits every one: take --ep {deployment.ranks} or --ep 1",
            )
        settings["--enable-expert-parallel"] = True
    settings["--max-num-seqs"] = deployment.max_sequences
    settings["--max-num-batched-tokens"] = deployment.token_budget
    settings["--gpu-memory-utilization"] = deployment.memory_share
    settings["--block-size"] = deployment.block
    if deployment.longest is not None:
        settings["--max-model-len"] = deployment.longest
    settings["--kv-cache-dtype"] = "fp8" if deployment.cache == "fp8" else "auto"
    settings |= quantization(deployment, QUANTIZED, title)
    settings["--enable-prefix-caching" if deployment.prefix_caching else "--no-enable-prefix-caching"] = True
    if deployment.stream_interval > 1:
        settings["--stream-interval"] = deployment.stream_interval
    settings |= vllm_drafts(deployment, title)
    return settings


def quantization(deployment: Deployment, made: Mapping[str, str], title: str) -> Mapping[str, Value]:
    """What makes the format of weights of the checkpoint; refuses what only another checkpoint has."""
    has, wanted = deployment.checkpoint_weights, deployment.weights
    if wanted == has or {wanted, has} <= WIDE:
        return {}
    if has in WIDE and wanted in made:
        return {"--quantization": made[wanted]}
    raise cannot(
        title,
        f"weights in {wanted} from {deployment.checkpoint}, whose weights are in {has}",
        f"name a checkpoint that has them with --checkpoint, or take --weights {has}",
    )
