"""Logs replayed: the same requests at the same times through the rules of the engine that was logged."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from volvelle.applications.serving.instance import Settings, instance
from volvelle.applications.serving.request_logs import RequestLog
from volvelle.applications.serving.runs import ServingRun
from volvelle.catalogue import Catalogue
from volvelle.errors import OutsideDomainError
from volvelle.estimators.serving.iteration import Iteration
from volvelle.estimators.serving.step_tables import lock_step_costs
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.simulation.batching.metrics import Latency
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.serving import serve
from volvelle.workload.served_model import ServedModel
from volvelle.workload.serving.loads import Recorded
from volvelle.workload.serving.requests import Real

_WEIGHTS = {"bfloat16": "bf16", "float16": "bf16", "fp16": "bf16", "": "bf16"}
_TRUE = ("1", "true", "yes")


def log_run(stated: Mapping[str, str], log: RequestLog, catalogue: Catalogue) -> ServingRun | str:
    """What a log ran."""
    engine = stated["engine"]
    if engine != "vllm":
        return f"logs of {engine} are not replayed: only rules of vLLM were ever held against a log"
    weights = stated.get("weights", "")
    served = ServedModel(shape=catalogue.model(stated["model"]), weights=_WEIGHTS.get(weights, weights))
    tensor, data = _whole(stated, "tp") or 1, _whole(stated, "dp") or 1
    if data > 1 and served.shape.experts is None:
        return "replicas of a dense model share nothing: give the requests of each as a log of its own"
    spread = served.shape.experts is not None and stated.get("expert_parallel", "").lower() in _TRUE
    layout = ServingLayout(tensor=tensor, data=data, expert=tensor * data if spread else 1)
    share = stated.get("gpu_memory_utilization")
    settings = Settings(
        token_budget=_whole(stated, "max_num_batched_tokens"),
        max_sequences=_whole(stated, "max_num_seqs"),
        memory_share=float(share) if share else None,
        kv_tokens=_whole(stated, "kv_tokens"),
    )
    one = instance(catalogue, served, stated["chip"], layout, "vllm-0.19", settings)
    longest = float(np.max(log.requests.input_tokens + log.requests.output_tokens))
    if settings.kv_tokens is None and not one.fits(longest):
        return one.why_not(longest)
    assumed = () if settings.kv_tokens else ("blocks of the KV cache: what memory leaves",)
    return ServingRun(
        instance=one, kind="request_logs", sizes={}, assumed=assumed, load=Recorded(recorded=log.requests)
    )


def replayed(run: ServingRun) -> Served:
    """The log through the rules; data-parallel ranks that wait for each other are followed as one engine."""
    one = run.instance
    if not isinstance(run.load, Recorded):
        raise OutsideDomainError("there is no log to replay")
    # The log's clock is the engine's: what clients and front ends take is not in it.
    rules = one.rules().behind_front_end
    ranks = one.layout.data
    if ranks == 1:
        return serve(run.load.recorded, one.costs(rules), rules)
    assert isinstance(one.iteration, Iteration), "logged runs did not draft"
    costs = lock_step_costs(one.iteration, most_tokens=rules.most_tokens, most_sequences=rules.max_sequences)
    together = replace(
        rules,
        token_budget=ranks * rules.token_budget,
        max_sequences=ranks * rules.max_sequences,
        kv_blocks=ranks * rules.kv_blocks,
    )
    return serve(run.load.recorded, costs, together)


def replay_answers(run: ServingRun) -> Mapping[str, float]:
    """Means and 99th percentiles over all requests, as a log states them."""
    served = replayed(run)
    ttft, tpot = Latency.of(served.first_token - served.sent), Latency.of(_tpot(served))
    return {
        "ttft": ttft.mean,
        "tpot": tpot.mean,
        "ttft_p99": ttft.percentiles[99.0],
        "tpot_p99": tpot.percentiles[99.0],
    }


def _tpot(served: Served) -> Real:
    more = served.output_tokens > 1
    return (served.end - served.first_token)[more] / (served.output_tokens[more] - 1)


def _whole(stated: Mapping[str, str], column: str) -> int | None:
    text = stated.get(column)
    return int(float(text)) if text else None
