"""What the model says of a run: time to the first token, time a token, latency, throughput."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from volvelle.applications.serving.held_memory import held_memory
from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.mlperf import mlperf_answers
from volvelle.applications.serving.offline_bench import bench_requests
from volvelle.applications.serving.replays import replay_answers
from volvelle.applications.serving.runs import ServingRun
from volvelle.applications.serving.split.measured import KIND, split_answers
from volvelle.estimators.serving.iteration import Batch
from volvelle.estimators.serving.static_batch import static_times
from volvelle.estimators.serving.step_tables import captured_sizes
from volvelle.simulation.batching.metrics import Metrics, measure
from volvelle.simulation.batching.serving import serve
from volvelle.workload.serving.loads import AbstractLoad, AtOnce, Closed

_TIMES = 10
"""Requests of a closed loop, in times the clients."""
_WAVES = 3
"""Requests of a saturated engine, in times those that run at once."""
_SEED = 1


def answers(run: ServingRun) -> Mapping[str, float]:
    """Every figure that the kind of run has, in seconds or tokens a second."""
    return _KINDS[run.kind](run)


def _loaded(one: Instance, load: AbstractLoad, run: ServingRun, *, count: int, most: int | None) -> Metrics:
    rules = one.rules(concurrency=most)
    return measure(serve(load.requests(run.stated_lengths, count=count, seed=_SEED), one.costs(rules), rules))


def _closed_loop(run: ServingRun) -> Mapping[str, float]:
    clients = int(run.sizes["concurrency"])
    found = _loaded(run.instance, Closed(clients=clients), run, count=_TIMES * clients, most=clients)
    return {"ttft": found.ttft.mean, "tpot": found.tpot.mean}


def _saturated(run: ServingRun) -> Mapping[str, float]:
    one, ranks = run.instance, run.instance.layout.pipeline * run.instance.layout.data
    # As many micro-batches as stages are in flight, and share the cache; no server stands before the engine.
    told = one.settings.max_sequences or int(one.engine.defaults["max_sequences"])
    most = max(1, min(told, _at_once(run)) // one.layout.pipeline)
    sent = bench_requests(int(run.sizes["isl"]), int(run.sizes["osl"])) or _WAVES * most * ranks
    alone = one.filled.with_constants(replace(one.engine.constants, per_admission=0.0, per_sequence=0.0))
    found = _loaded(alone, AtOnce(), run, count=max(1, sent // ranks), most=most)
    return {"throughput": found.output_throughput * ranks}


def _at_once(run: ServingRun) -> int:
    """Requests of the run that the cache holds."""
    context = int(run.sizes["isl"] + run.sizes["osl"])
    return held_memory(run.instance, sequences=1, context=context).most_sequences


def _static(run: ServingRun) -> Mapping[str, float]:
    one, (prompt, answer) = run.instance, (run.sizes["isl"], run.sizes["osl"])
    waves = np.ceil(run.sizes["batch"] / max(1, _at_once(run)))
    together = np.ceil(run.sizes["batch"] / waves)
    budget = float(one.rules().token_budget)
    times = static_times(one.iteration, np.array([together]), np.array([prompt]), np.array([answer]), budget=budget)
    return {
        "ttft": float(times.prompts[0]),
        "tpot": float(times.token[0]),
        "latency": float(waves * times.total[0]),
    }


def _iteration(run: ServingRun) -> Mapping[str, float]:
    sizes, one = run.sizes, run.instance
    decodes, prompts = sizes.get("decode_requests", 0.0), sizes.get("prefill_tokens", 0.0)
    if not prompts and decodes <= one.engine.constants.captured_tokens:
        graphs = captured_sizes(int(one.engine.constants.captured_tokens))
        decodes = float(graphs[np.searchsorted(graphs, decodes)])
    batch = Batch(
        prompt_tokens=np.array([prompts]),
        prompts=np.array([sizes.get("prefill_requests", 0.0)]),
        past=np.array([sizes.get("prefill_past_tokens", 0.0)]),
        decodes=np.array([decodes]),
        context=np.array([sizes.get("decode_context_tokens", 0.0)]),
    )
    return {"latency": float(one.iteration.steps(batch)[0])}


_KINDS = {
    "closed_loop": _closed_loop,
    "static_latency": _static,
    "static_phases": _static,
    "saturated_throughput": _saturated,
    "iterations": _iteration,
    "mlperf": mlperf_answers,
    "request_logs": replay_answers,
    KIND: split_answers,
}
