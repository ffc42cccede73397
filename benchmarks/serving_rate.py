"""Requests a second that the batching machine serves on one core, over the Azure conversation trace.

The trace is a CSV of arrival_s,input_tokens,output_tokens; without one, that of benchmarks/traces is taken. It runs as
it is and ten times over, by the rules of each engine, with steps of made-up but ordinary times. Compiling is timed
apart. Static batches are timed one by one, with all that an answer has, and as columns of a table. Seconds are those of
the processor, so that others who share the machine do not count.
"""

import argparse
import json
import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from volvelle.applications.serving.instance import instance
from volvelle.applications.serving.static_answer import static_answer
from volvelle.catalogue import Catalogue
from volvelle.estimators.serving.static_batch import static_times
from volvelle.interchange.request_trace import read_trace
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.simulation.batching.costs import StepCosts
from volvelle.simulation.batching.metrics import measure
from volvelle.simulation.batching.rules import Rules, sglang, tensorrt_llm, vllm
from volvelle.simulation.batching.serving import serve
from volvelle.workload.served_model import ServedModel
from volvelle.workload.serving.requests import Requests

TRACE = Path(__file__).parent / "traces" / "azure_2023_conv.csv"
TOKENS, SEQUENCES = 16_384, 256
ROWS = 200_000
"""Of the table of static batches."""
ENGINES: dict[str, Rules] = {
    "vllm": vllm(kv_blocks=40_000, max_sequences=SEQUENCES),
    "sglang": sglang(kv_blocks=640_000, max_sequences=SEQUENCES),
    "tensorrt_llm": tensorrt_llm(kv_blocks=20_000, token_budget=TOKENS, max_sequences=SEQUENCES),
}


def ordinary_costs() -> StepCosts:
    """Steps of some milliseconds, captured up to 512 tokens, with attention that grows with context."""
    sizes = np.arange(TOKENS + 1, dtype=np.float64)
    batch = np.arange(SEQUENCES + 1, dtype=np.float64)
    chunks, pasts = np.array([0.0, 512.0, 2048.0, 8192.0]), np.array([0.0, 1024.0, 8192.0, 65_536.0])
    contexts = np.array([0.0, 256.0, 1024.0, 4096.0, 16_384.0, 65_536.0])
    return StepCosts(
        tokens=5e-3 + 2e-5 * sizes,
        captured=np.where(sizes <= 512, 3e-3 + 2e-5 * (-(-sizes // 8) * 8), np.inf),
        launches=np.array([8e-3]),
        head=1e-6 * batch,
        chunk_nodes=chunks,
        past_nodes=pasts,
        chunk=1e-9 * chunks[:, None] * (pasts + chunks[:, None] / 2),
        context_nodes=contexts,
        decode=1e-6 + 2e-9 * batch[:, None] * contexts**1.02,
        host=1e-3,
        host_overlapped=True,
        per_sequence=5e-6,
        per_admission=1e-3,
    )


def repeated(requests: Requests, times: int) -> Requests:
    """The same requests again and again."""
    period = float(requests.arrival[-1]) + 0.1
    return Requests(
        arrival=np.concatenate([requests.arrival + period * turn for turn in range(times)]),
        input_tokens=np.tile(requests.input_tokens, times),
        output_tokens=np.tile(requests.output_tokens, times),
    )


def fastest(requests: Requests, costs: StepCosts, rules: Rules, repeat: int) -> float:
    """Seconds of the fastest of several runs."""
    found = []
    for _ in range(repeat):
        start = time.process_time()
        serve(requests, costs, rules)
        found.append(time.process_time() - start)
    return min(found)


def static_figures(repeat: int) -> dict[str, float]:
    """Seconds of one static answer when all is warm, and points a second of a table."""
    catalogue = Catalogue()
    served = ServedModel(shape=catalogue.model("llama3-70b"), weights="fp8")
    one = instance(catalogue, served, "h100-sxm", ServingLayout(tensor=4), "vllm")
    draw = np.random.default_rng(1)
    columns = [draw.integers(1, most, ROWS).astype(float) for most in (256, 8192, 2048)]
    alone, table = [], []
    for turn in range(20 * repeat):
        start = time.process_time()
        static_answer(one, batch=16 + turn, input_tokens=1024, output_tokens=256, replicas=1)
        alone.append(time.process_time() - start)
    for _ in range(repeat):
        start = time.process_time()
        static_times(one.iteration, *columns, budget=8192.0)
        table.append(time.process_time() - start)
    return {"static_point_ms": round(1e3 * min(alone), 3), "static_table_points_per_s": round(ROWS / min(table))}


def main() -> None:
    """Serve the trace by every engine and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path, nargs="?", default=TRACE)
    parser.add_argument("--json", action="store_true", help="figures as JSON on the last line")
    parser.add_argument("--repeat", type=int, default=9)
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    costs, once = ordinary_costs(), read_trace(given.trace).requests
    many = repeated(once, 10)
    start = time.process_time()
    serve(once, costs, ENGINES["vllm"])
    figures: dict[str, float] = {"requests": len(once), "first_run_s": round(time.process_time() - start, 3)}
    for name, rules in ENGINES.items():
        figures[f"{name}_requests_per_s"] = round(len(once) / fastest(once, costs, rules, given.repeat))
        seconds = fastest(many, costs, rules, given.repeat)
        figures[f"{name}_ten_times_s"] = round(seconds, 4)
        figures[f"{name}_ten_times_requests_per_s"] = round(len(many) / seconds)
    figures |= static_figures(given.repeat)
    served = serve(many, costs, ENGINES["vllm"])
    start = time.process_time()
    measure(served)
    figures["metrics_ten_times_s"] = round(time.process_time() - start, 4)
    if given.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:36} {value}")


if __name__ == "__main__":
    main()
