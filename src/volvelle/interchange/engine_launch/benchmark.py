"""The benchmark that measures what was predicted: the same load, by ``vllm bench serve`` or SGLang's."""

import shlex

from volvelle.interchange.engine_launch.deployment import BenchedLoad, Deployment, LaunchFile, Value
from volvelle.interchange.engine_launch.recorded import as_arguments, recorded_options
from volvelle.interchange.engine_launch.scripts import PORT, head_lines

_AFTER_WARM_UP = """\
# The prediction leaves the first request of each client out: all of them are sent at once. Its figures compare with
# these, and those above count every request.
python3 - <<'END'
import json
from statistics import fmean, quantiles

with open("{file}", encoding="utf-8") as file:
    run = json.loads(file.read().splitlines()[-1])
clients = {clients}
rows = list(zip(run["ttfts"], run["itls"], run["output_lens"]))[clients:]
whole = [ttft + sum(itls) for ttft, itls, _ in rows]
ttfts = [ttft for ttft, _, _ in rows]
tpots = [sum(itls) / (tokens - 1) for _, itls, tokens in rows if tokens > 1]
print("after the first request of each client:")
print("  output tokens/s", round(clients * sum(tokens for *_, tokens in rows) / sum(whole)))
for name, seconds in (("TTFT", ttfts), ("TPOT", tpots)):
    if len(seconds) > 1:
        parts = quantiles(seconds, n=100, method="inclusive")
        print("  " + name, *(f"{{word}} {{1e3 * value:.1f}} ms" for word, value in
              (("mean", fmean(seconds)), ("median", parts[49]), ("p99", parts[98]))))
END
"""
"""Figures of a closed loop by the rule of the prediction, from what the benchmark saved of each request."""
_SPREAD = "Requests of several instances come to one address: put yours, of what spreads them, in place of it."


def benchmark(deployment: Deployment) -> LaunchFile:
    """A script with the command; SGLang's own benchmark for SGLang, that of vLLM for all others."""
    own = deployment.rules == "sglang" and deployment.load.burstiness == 1.0
    own &= deployment.load.end_rate is None
    options = recorded_options("sglang" if own else "vllm")
    lines = ["#!/bin/sh", *head_lines(deployment, options)]
    if deployment.replicas > 1:
        lines.append(f"# {_SPREAD}")
    if deployment.load.recorded:
        lines += [
            f"# The load is recorded in {deployment.load.recorded}, and this benchmark does not send requests when a",
            "# file says so: replay it with one that does (aiperf profile --fixed-schedule takes that of Mooncake).",
            "exit 1",
        ]
        return LaunchFile(name="benchmark.sh", text="\n".join(lines) + "\n", runs=True)
    settings = options.checked(_of_sglang(deployment) if own else _of_vllm(deployment), "benchmark")
    words = ["python", "-m", "sglang.bench_serving"] if own else ["vllm", "bench", "serve"]
    command = shlex.join([*words, *as_arguments(settings), *([] if own else _metadata(deployment))])
    clients = deployment.load.clients
    if clients is None or deployment.load.requests <= clients:
        lines.append(f"exec {command}")
        return LaunchFile(name="benchmark.sh", text="\n".join(lines) + "\n", runs=True)
    file = settings["--output-file" if own else "--result-filename"]
    after = _AFTER_WARM_UP.format(file=file, clients=clients)
    return LaunchFile(name="benchmark.sh", text="\n".join([*lines, "set -e", command, after]), runs=True)


def _metadata(deployment: Deployment) -> list[str]:
    """What was run, for whoever reads the result: ``volvelle calibrate serving --bench`` does."""
    layout = deployment.layout
    told = {"engine": deployment.rules, "chip": deployment.chip, "tp": layout.tensor, "pp": layout.pipeline}
    told |= {"dp": layout.data, "ep": layout.expert, "weights": deployment.weights, "kv": deployment.cache}
    told |= {"max_batched_tokens": deployment.token_budget, "max_seqs": deployment.max_sequences}
    told |= {"memory_share": deployment.memory_share}
    recorded_options("vllm").checked({"--metadata": ""}, "benchmark")
    return ["--metadata", *(f"{name}={value}" for name, value in told.items())]


def _of_vllm(deployment: Deployment) -> dict[str, Value]:
    load = deployment.load
    prompts, answers, ratio = _around(load)
    settings: dict[str, Value] = {
        "--backend": "openai",
        "--base-url": f"http://localhost:{PORT}",
        "--model": deployment.checkpoint,
        "--dataset-name": "random",
        "--random-input-len": prompts,
        "--random-output-len": answers,
        "--random-range-ratio": ratio,
        "--num-prompts": load.requests,
        "--seed": load.seed,
        "--ignore-eos": True,
    }
    if load.clients is not None:
        settings["--max-concurrency"] = load.clients
    if load.end_rate is not None and load.rate is not None:
        settings["--ramp-up-strategy"] = "linear"
        settings["--ramp-up-start-rps"] = round(load.rate)
        settings["--ramp-up-end-rps"] = round(load.end_rate)
    elif load.rate is not None:
        settings["--request-rate"] = load.rate
        settings["--burstiness"] = load.burstiness
    settings["--percentile-metrics"] = "ttft,tpot,itl,e2el"
    settings["--metric-percentiles"] = "50,90,95,99"
    return settings | {"--save-result": True, "--save-detailed": True, "--result-filename": "bench.json"}


def _of_sglang(deployment: Deployment) -> dict[str, Value]:
    load = deployment.load
    prompts, answers, ratio = _below(load)
    settings: dict[str, Value] = {
        "--backend": "sglang",
        "--base-url": f"http://localhost:{PORT}",
        "--model": deployment.checkpoint,
        "--dataset-name": "random",
        "--random-input-len": prompts,
        "--random-output-len": answers,
        "--random-range-ratio": ratio,
        "--num-prompts": load.requests,
        "--seed": load.seed,
    }
    if load.clients is not None:
        settings["--max-concurrency"] = load.clients
    if load.rate is not None:
        settings["--request-rate"] = load.rate
    return settings | {"--output-details": True, "--output-file": "bench.jsonl"}


def _below(load: BenchedLoad) -> tuple[int, int, float]:
    """Return the longest lengths and their ratio as SGLang draws them: evenly on L·r … L."""
    if load.lengths != "around":
        return load.input_tokens, load.output_tokens, 1.0 if load.lengths == "fixed" else load.ratio
    most = 1.0 + load.ratio
    return round(load.input_tokens * most), round(load.output_tokens * most), (1.0 - load.ratio) / most


def _around(load: BenchedLoad) -> tuple[int, int, float]:
    """Lengths as vLLM draws them: evenly on L·(1 - r) … L·(1 + r), whose middle is not their upper end."""
    if load.lengths != "uniform":
        return load.input_tokens, load.output_tokens, load.ratio
    middle = 0.5 * (1.0 + load.ratio)
    ratio = (1.0 - load.ratio) / (1.0 + load.ratio)
    return max(1, round(load.input_tokens * middle)), max(1, round(load.output_tokens * middle)), ratio
