"""Results of benchmarks as vLLM, SGLang and AIPerf write them, made by the model with known constants.

``python -m tests.bench_files FOLDER`` writes those of examples/benchmarks.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from volvelle import Catalogue
from volvelle.applications.serving.bench_fit import BenchRun, bench_run
from volvelle.applications.serving.instance import Instance
from volvelle.estimators.serving.engine_constants import EngineConstants
from volvelle.interchange.bench_results.result import BenchResult
from volvelle.simulation.batching.metrics import measure
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.serving import serve
from volvelle.verbs.serving.question import ServingQuestion

CHECKPOINT = "meta-llama/Meta-Llama-3-8B"
LOADS = ((1, 512, 64), (16, 1024, 96), (64, 2048, 96))
"""Clients, and the longest prompts and answers, of three runs."""


def served_by(engine: str = "vllm") -> Instance:
    """Llama 3 8B on one H100."""
    known = Catalogue()
    question = ServingQuestion(model="llama3-8b", on="dgx-h100/1", engine=engine, tensor=1)
    return question.instance(known, known.model("llama3-8b"), known.cluster("dgx-h100/1"))


def other_constants(one: Instance) -> EngineConstants:
    """Of a machine that reads and multiplies more slowly than those of the catalogue, behind a slower front end."""
    held = one.engine.constants
    return replace(
        held,
        reading=0.85 * held.reading,
        multiplying=0.8 * held.multiplying,
        first_token=2.0 * held.first_token,
    )


def run_of(one: Instance, clients: int, longest_prompt: int, longest_answer: int) -> BenchRun:
    """Some requests of each client, half as long to as long."""
    draw = np.random.default_rng(clients)
    count = max(20, 3 * clients)
    asked = BenchResult(
        place="",
        tool="",
        model=CHECKPOINT,
        requests=count,
        clients=clients,
        rate=float("inf"),
        input_tokens=draw.integers(longest_prompt // 2, longest_prompt + 1, count),
        output_tokens=draw.integers(longest_answer // 2, longest_answer + 1, count),
        detailed=True,
        figures={},
    )
    return bench_run(asked, one)


def measured(run: BenchRun, constants: EngineConstants) -> Served:
    """The run with such constants."""
    one = run.instance
    changed = replace(
        one, iteration=replace(one.iteration, engine=constants), engine=replace(one.engine, constants=constants)
    )
    rules = changed.rules(concurrency=run.requests.clients)
    return serve(run.requests, changed.costs(rules), rules)


def _milliseconds(served: Served, end_to_end: str) -> dict[str, float]:
    found = measure(served)
    named = {"ttft": found.ttft, "tpot": found.tpot, "itl": found.itl, end_to_end: found.e2el}
    fields = {}
    for name, latency in named.items():
        fields[f"mean_{name}_ms"] = 1e3 * latency.mean
        fields[f"median_{name}_ms"] = 1e3 * latency.median
        fields[f"std_{name}_ms"] = 1e3 * latency.std
        fields[f"p99_{name}_ms"] = 1e3 * latency.percentiles[99.0]
    return fields


def _shared(served: Served) -> dict[str, Any]:
    found = measure(served)
    return {
        "duration": found.duration,
        "completed": found.completed,
        "total_input_tokens": found.total_input_tokens,
        "total_output_tokens": found.total_output_tokens,
        "request_throughput": found.request_throughput,
        "output_throughput": found.output_throughput,
        "max_output_tokens_per_s": found.max_output_tokens_per_s,
        "max_concurrent_requests": found.max_concurrent_requests,
    }


def _detailed(served: Served) -> dict[str, Any]:
    between = (served.end - served.first_token) / np.maximum(served.output_tokens - 1, 1)
    gaps = [[round(float(gap), 6)] * int(tokens - 1) for gap, tokens in zip(between, served.output_tokens, strict=True)]
    return {
        "input_lens": served.input_tokens.tolist(),
        "output_lens": served.output_tokens.tolist(),
        "ttfts": [round(float(one), 6) for one in served.first_token - served.sent],
        "itls": gaps,
        "generated_texts": [""] * served.sent.size,
        "errors": [""] * served.sent.size,
    }


def vllm_result(served: Served, clients: int, *, detailed: bool = True, **more: Any) -> dict[str, Any]:
    """As ``vllm bench serve --save-result`` of 0.19 writes it."""
    return {
        "date": "20260901-120000",
        "endpoint_type": "openai",
        "backend": "openai",
        "label": None,
        "model_id": CHECKPOINT,
        "tokenizer_id": CHECKPOINT,
        "num_prompts": int(served.sent.size),
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": clients,
        "failed": 0,
        "request_goodput": None,
        "total_token_throughput": measure(served).total_token_throughput,
        **_shared(served),
        **(_detailed(served) | {"start_times": (served.sent + 1000.0).tolist()} if detailed else {}),
        **_milliseconds(served, "e2el"),
        **more,
    }


def sglang_result(served: Served, clients: int, *, detailed: bool = True, **more: Any) -> dict[str, Any]:
    """A line as ``sglang.bench_serving --output-file`` of 0.5.10 writes it."""
    return {
        "tag": None,
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": float("inf"),
        "max_concurrency": clients,
        "random_input_len": int(served.input_tokens.max()),
        "random_output_len": int(served.output_tokens.max()),
        "random_range_ratio": 0.5,
        "server_info": {"model_path": CHECKPOINT, "tp_size": 1, "dp_size": 1, "ep_size": 1, "version": "0.5.10"},
        **_shared(served),
        **_milliseconds(served, "e2e_latency"),
        "accept_length": None,
        **(_detailed(served) if detailed else {}),
        **more,
    }


def aiperf_result(served: Served, clients: int, **more: Any) -> dict[str, Any]:
    """As AIPerf 0.13 writes profile_export_aiperf.json."""
    found = measure(served)

    def metric(unit: str, average: float) -> Mapping[str, object]:
        return {"unit": unit, "avg": average}

    return {
        "schema_version": "1.4",
        "aiperf_version": "0.13.0",
        "count_of": metric("requests", found.completed),
        "time_to_first_token": metric("ms", 1e3 * found.ttft.mean),
        "inter_token_latency": metric("ms", 1e3 * found.tpot.mean),
        "request_latency": metric("ms", 1e3 * found.e2el.mean),
        "output_token_throughput": metric("tokens/sec", found.output_throughput),
        "input_sequence_length": metric("tokens", float(served.input_tokens.mean())),
        "output_sequence_length": metric("tokens", float(served.output_tokens.mean())),
        "input_config": {"models": [CHECKPOINT], "phases": [{"type": "concurrency", "concurrency": clients}]},
        "was_cancelled": False,
        **more,
    }


def main(folder: Path) -> None:
    """Three runs of a vLLM that is unlike the catalogue's."""
    folder.mkdir(parents=True, exist_ok=True)
    one = served_by("vllm")
    for clients, prompt, answer in LOADS:
        served = measured(run_of(one, clients, prompt, answer), other_constants(one))
        metadata = {"engine": "vllm", "version": "0.19.0", "chip": "h100-sxm", "tp": "1"}
        text = json.dumps(vllm_result(served, clients, **metadata))
        (folder / f"clients-{clients}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
