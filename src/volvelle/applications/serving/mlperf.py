"""Results of MLPerf Inference: what LoadGen sent, to instances laid out as submitters committed.

Offline sends everything at once; Server and Interactive send at random at a rate that the submitter chose. Logs state
how many tokens came out and not how many went in: lengths of prompts are those of the data set, drawn with a spread
(``data/measurements/serving_data_sets.csv``).
"""

import csv
from collections.abc import Mapping
from functools import cache, lru_cache
from math import ceil, exp, log, sqrt
from statistics import NormalDist

import numpy as np

from volvelle.applications.measured_table import shipped_table
from volvelle.applications.serving.chance import LEVEL, likely_between, slow_downs
from volvelle.applications.serving.goodput import slowed
from volvelle.applications.serving.held_memory import held_memory
from volvelle.applications.serving.instance import Instance, Settings, instance
from volvelle.applications.serving.measurements import states_layout
from volvelle.applications.serving.runs import ServingRun
from volvelle.applications.table_cells import table_text
from volvelle.catalogue import Catalogue
from volvelle.estimators.result import Range
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.simulation.batching.metrics import Metrics, measure
from volvelle.simulation.batching.serving import serve
from volvelle.simulation.batching.stability import answer
from volvelle.workload.served_model import ServedModel
from volvelle.workload.serving.lengths import AbstractLengths, FixedLength, Independent, LogNormalLengths
from volvelle.workload.serving.loads import AbstractLoad, AbstractSteadyRate, AtOnce, Poisson

UNSTATED = "it states no tensor parallelism, or no batch, of its engine"
_WEIGHTS = {"fp8": "fp8", "fp4": "nvfp4", "fp16": "bf16", "bf16": "bf16"}
_LIKE = {"h200-nvl": "h200-sxm"}
"""Chips that stand for one that the catalogue lacks."""
_SECONDS = 660.0
"""Of queries at the stated rate that LoadGen sends at least."""
_WAVES, _WAVES_AT_ONCE = 3, 6
"""Requests that are followed at most, in times those that run at once; of all at once more, as the last end alone."""
_FEWEST, _MOST = 500, 6000
_SEED = 1
_TUNED = 1.8
"""Times as wide, in logarithms, an error is of engines that were tuned for one benchmark: four in five figures of
calibration results lie in ranges then."""
_SLOW_DOWNS = 5
"""By how much slower steps are taken to be, where a figure lies is asked at so many of them."""


def mlperf_run(stated: Mapping[str, str], catalogue: Catalogue) -> ServingRun | str:
    """What a result ran on one instance, or why that is not known."""
    if not states_layout(stated):
        return UNSTATED
    if not stated["framework"].startswith("TensorRT"):
        return f"of {stated['framework'].partition(',')[0]} no settings are known"
    if not stated.get("mean_osl_derived"):
        return "it states no output length"
    lengths = _data_sets().get(stated["model"])
    if lengths is None:
        return f"of {stated['model']} no data set of the benchmark is known"
    weights = _WEIGHTS.get(stated.get("engine_precision") or stated.get("declared_weights") or "")
    if weights is None:
        return f"weights in {stated.get('engine_precision')} have no kernels here"
    chip = _LIKE.get(stated["chip"], stated["chip"])
    shape = catalogue.model(stated["model"])
    served = ServedModel(shape=shape, weights=weights, cache="bf16" if weights == "bf16" else "fp8")
    tensor, pipeline = _whole(stated, "tp"), _whole(stated, "pp")
    expert = _whole(stated, "ep") if shape.experts is not None else 1
    apart = shape.latent is not None and expert == tensor > 1
    layout = ServingLayout(tensor=1 if apart else tensor, data=tensor if apart else 1, pipeline=pipeline, expert=expert)
    told = Settings(max_sequences=_whole(stated, "max_batch_per_engine"), prefix_caching=False, chunks=True)
    one = instance(catalogue, served, chip, layout, "trtllm", told)
    replicas = _whole(stated, "chips") // layout.chips
    if replicas < 1:
        return f"an instance of {layout.chips} chips does not fit on {stated['chips']}"
    made = float(stated["mean_osl_derived"])
    given = float(lengths["input_mean"])
    if not one.fits(given + made):
        return one.why_not(given + made)
    load: AbstractLoad = AtOnce()
    rate = float(stated.get("target_qps") or 0.0)
    if stated["scenario"] != "Offline":
        if rate <= 0.0:
            return "it states no rate of queries"
        load = Poisson(rate=rate / (replicas * layout.data))
    drawn = Independent(
        input=_law(given, lengths["input_factor"], lengths["input_longest"]),
        output=_law(made, lengths["output_factor"], lengths["output_longest"]),
    )
    assumed = [f"prompts of {lengths['data_set']}: {given:.0f} tokens in the mean, with a spread"]
    assumed += [f"{chip} for {stated['chip']}"] if chip != stated["chip"] else []
    assumed += ["latents are not split: attention is data-parallel where experts are spread"] if apart else []
    shares = replicas * layout.data
    sizes = {"shares": float(shares), "samples": max(float(lengths["samples"]), _SECONDS * rate) / shares}
    sizes |= {"isl": given, "osl": made}
    return ServingRun(instance=one, kind="mlperf", sizes=sizes, assumed=tuple(assumed), load=load, shape=drawn)


def mlperf_answers(run: ServingRun, *, slower: float = 1.0) -> Mapping[str, float]:
    """Tokens a second of all instances; of queries that come at a rate also TTFT and TPOT, where it is sustained.

    Where steps are taken to be `slower`, latencies are those that a run of its length shows, sustained or not.
    """
    assert run.load is not None, "a result has a load"
    assert isinstance(run.shape, Independent), "a result has lengths of a data set"
    return _answers(run.instance, tuple(run.sizes.items()), run.load, run.shape, slower)


def mlperf_range(run: ServingRun, measure: str, value: float, errors: Mapping[str, float]) -> Range:
    """Where a latency of queries that come at a rate is to be expected: near the edge a queue makes much of little."""
    own, of_steps = (_TUNED * log(errors[name]) for name in (measure.removesuffix("_p99"), "tpot"))
    tried = [mlperf_answers(run, slower=slower).get(measure) for slower in slow_downs(exp(of_steps), _SLOW_DOWNS)]
    low, high = likely_between(tried, value, sqrt(max(own**2 - of_steps**2, 0.0)))
    assert high is not None, "a run of finite length shows some latency"
    return Range(low=low, high=high, level=LEVEL, varied=("the model's error, through the queue",))


@lru_cache(maxsize=4096)
def _answers(
    one: Instance, given: tuple[tuple[str, float], ...], asked: AbstractLoad, shape: Independent, slower: float
) -> Mapping[str, float]:
    """Results of 99 and 99.9 % accuracy are often of the same run."""
    sizes = dict(given)
    stages, shares = one.layout.pipeline, sizes["shares"]
    held = held_memory(one, sequences=1, context=int(sizes["isl"] + sizes["osl"])).most_sequences
    # As many micro-batches as stages are in flight, and share the cache and the queries.
    most = max(1, min(one.rules().max_sequences, held) // stages)
    rules = one.rules(concurrency=most)
    waves = _WAVES if isinstance(asked, AbstractSteadyRate) else _WAVES_AT_ONCE
    count = int(min(max(ceil(sizes["samples"] / stages), _FEWEST), max(waves * most, _FEWEST), _MOST))
    load = Poisson(rate=asked.rate / stages) if isinstance(asked, AbstractSteadyRate) else asked
    served = serve(load.requests(shape, count=count, seed=_SEED), slowed(one.costs(rules), slower), rules)
    if not isinstance(load, AbstractSteadyRate):
        return {"throughput": measure(served).output_throughput * stages * shares}
    found = answer(served) if slower == 1.0 else measure(served)
    if not isinstance(found, Metrics):
        return {"throughput": found.sustained * sizes["osl"] * stages * shares}
    return {
        "throughput": load.rate * float(np.mean(served.output_tokens)) * stages * shares,
        "ttft": found.ttft.mean,
        "tpot": found.tpot.mean,
        "ttft_p99": found.ttft.percentiles[99.0],
        "tpot_p99": found.tpot.percentiles[99.0],
    }


def _law(mean: float, factor: str, longest: str) -> AbstractLengths:
    """Lengths with that mean, also where those beyond the longest are cut."""
    spread, limit = float(factor), float(longest)
    if spread <= 1.0:
        return FixedLength(tokens=round(mean))
    normal = np.array([NormalDist().inv_cdf((place + 0.5) / 999) for place in range(999)])
    low, high = 1.0, 2.0 * mean
    for _ in range(40):
        median = 0.5 * (low + high)
        found = float(np.mean(np.minimum(median * spread**normal, limit)))
        low, high = (median, high) if found < mean else (low, median)
    return LogNormalLengths(median=max(1, round(low)), factor=spread, longest=int(limit))


def _whole(stated: Mapping[str, str], column: str) -> int:
    return max(1, int(float(stated.get(column) or 1)))


@cache
def _data_sets() -> Mapping[str, Mapping[str, str]]:
    text = table_text(shipped_table("serving_data_sets"))
    return {row["model"]: row for row in csv.DictReader(text.splitlines())}
