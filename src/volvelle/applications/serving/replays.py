"""Logs replayed: the same requests at the same times through the rules of the engine that was logged."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from volvelle.applications.serving.instance import Settings, instance
from volvelle.applications.serving.request_logs import RequestLog
from volvelle.applications.serving.runs import ServingRun
from volvelle.catalogue import Catalogue
from volvelle.errors import OutsideDomainError
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.simulation.batching.metrics import Latency
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.serving import serve
from volvelle.workload.served_model import ServedModel
from volvelle.workload.serving.loads import Trace
from volvelle.workload.serving.requests import Requests

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
    return ServingRun(instance=one, kind="request_logs", sizes={}, assumed=assumed, load=Trace(recorded=log.requests))


def replayed(run: ServingRun) -> Sequence[Served]:
    """The log through the rules, one run for each rank; ranks get requests in turn."""
    one = run.instance
    if not isinstance(run.load, Trace):
        raise OutsideDomainError("there is no log to replay")
    # The log's clock is the engine's: what clients and front ends take is not in it.
    rules = replace(one.rules(), api_seconds=0.0)
    ranks = one.layout.data
    return [serve(_part(run.load.recorded, rank, ranks), one.costs(rules), rules) for rank in range(ranks)]


def replay_answers(run: ServingRun) -> Mapping[str, float]:
    """Means and 99th percentiles over all requests, as a log states them."""
    runs = replayed(run)
    ttft = Latency.of(np.concatenate([served.first_token - served.sent for served in runs]))
    tpot = Latency.of(np.concatenate([_tpot(served) for served in runs]))
    return {
        "ttft": ttft.mean,
        "tpot": tpot.mean,
        "ttft_p99": ttft.percentiles[99.0],
        "tpot_p99": tpot.percentiles[99.0],
    }


def _tpot(served: Served) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    more = served.output_tokens > 1
    return (served.end - served.first_token)[more] / (served.output_tokens[more] - 1)


def _part(requests: Requests, rank: int, ranks: int) -> Requests:
    """Those that a rank gets, in turn."""
    return Requests(
        arrival=requests.arrival[rank::ranks],
        input_tokens=requests.input_tokens[rank::ranks],
        output_tokens=requests.output_tokens[rank::ranks],
    )


def _whole(stated: Mapping[str, str], column: str) -> int | None:
    text = stated.get(column)
    return int(float(text)) if text else None
