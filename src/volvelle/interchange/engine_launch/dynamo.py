"""Dynamo: a DynamoGraphDeployment for Kubernetes, its workers with the options of their engine."""

import json
from collections.abc import Mapping
from typing import Any

from volvelle.interchange.engine_launch import sglang, trtllm, vllm
from volvelle.interchange.engine_launch.benchmark import benchmark
from volvelle.interchange.engine_launch.deployment import Deployment, LaunchFile, Value
from volvelle.interchange.engine_launch.recorded import RecordedOptions, as_arguments, recorded_options
from volvelle.interchange.engine_launch.scripts import yaml_file

_IMAGES = {"vllm": "vllm-runtime", "sglang": "sglang-runtime", "trtllm": "tensorrtllm-runtime"}
_WORKERS = {"vllm": "VllmDecodeWorker", "sglang": "decode", "trtllm": "TRTLLMWorker"}
_SECRET = "hf-token-secret"


def emit(deployment: Deployment, version: str = "") -> tuple[LaunchFile, ...]:
    """The resource and the benchmark."""
    options = recorded_options("dynamo", version)
    rules = deployment.rules
    image = f"nvcr.io/nvidia/ai-dynamo/{_IMAGES[rules]}:{options.version}"
    worker: dict[str, Any] = {
        "envFromSecret": _SECRET,
        "componentType": "worker",
        "replicas": deployment.replicas,
        "resources": {"limits": {"gpu": f"{deployment.layout.chips // deployment.nodes}"}},
        "extraPodSpec": {
            "mainContainer": {
                "image": image,
                "command": ["python3", "-m", f"dynamo.{rules}"],
                "args": as_arguments(_worker_settings(deployment, options)),
            }
        },
    }
    if deployment.nodes > 1:
        worker["multinode"] = {"nodeCount": deployment.nodes}
    resource = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": _plain_name(deployment.model)},
        "spec": {
            "services": {
                "Frontend": {
                    "componentType": "frontend",
                    "replicas": 1,
                    "extraPodSpec": {"mainContainer": {"image": image}},
                },
                _WORKERS[rules]: worker,
            }
        },
    }
    options.checked(_written(resource), "fields")
    return yaml_file("dynamo.yaml", resource, deployment, options), benchmark(deployment)


def _worker_settings(deployment: Deployment, options: RecordedOptions) -> Mapping[str, Value]:
    """Options of the worker, by the release of the engine that this version is built with."""
    release = recorded_options(deployment.rules, options.built_with[deployment.rules])
    if deployment.rules == "vllm":
        return release.checked({"--model": deployment.checkpoint, **vllm.server_settings(deployment, release)})
    if deployment.rules == "sglang":
        named = {"--model-path": deployment.checkpoint, "--served-model-name": deployment.checkpoint}
        return release.checked({**named, **sglang.server_settings(deployment, release)})
    trtllm.check_layout(deployment, options.named)
    told = release.checked(trtllm.server_settings(deployment, release))
    extra = trtllm.nested(release.checked(trtllm.extra_settings(deployment), "extra"))
    words: dict[str, Value] = {
        "--model": deployment.checkpoint,
        "--served-model-name": deployment.checkpoint,
        "--tensor-parallel-size": told["--tp_size"],
        "--pipeline-parallel-size": told["--pp_size"],
    }
    if "--ep_size" in told:
        words["--expert-parallel-size"] = told["--ep_size"]
    words["--max-batch-size"] = told["--max_batch_size"]
    words["--max-num-tokens"] = told["--max_num_tokens"]
    if "--max_seq_len" in told:
        words["--max-seq-len"] = told["--max_seq_len"]
    words["--override-engine-args"] = json.dumps(extra)
    return options.checked(words, "trtllm")


def _written(resource: Mapping[str, Any]) -> Mapping[str, Value]:
    """Fields of a resource by their place, those of a service under one name."""
    found: dict[str, Value] = {"apiVersion": resource["apiVersion"], "kind": resource["kind"]}
    found["metadata.name"] = resource["metadata"]["name"]
    for service in resource["spec"]["services"].values():
        found |= dict(_leaves(service, "service"))
    return found


def _leaves(fields: Mapping[str, Any], before: str) -> list[tuple[str, Value]]:
    found: list[tuple[str, Value]] = []
    for name, value in fields.items():
        place = f"{before}.{name}"
        if isinstance(value, dict):
            found += _leaves(value, place)
        else:
            found.append((place, " ".join(value) if isinstance(value, list) else value))
    return found


def _plain_name(model: str) -> str:
    """A name as Kubernetes allows it."""
    return "".join(sign if sign.isalnum() else "-" for sign in model.lower()).strip("-")[:63] or "model"
