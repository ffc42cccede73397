"""What a measured row ran: an instance of a model and the load that was put on it, or why that is not known."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from volvelle.applications.serving.instance import Instance, Settings, instance
from volvelle.applications.serving.measurements import ServingMeasurement
from volvelle.applications.serving.offline_bench import bench_settings
from volvelle.applications.serving.told_settings import as_laid_out, engine_settings, source_of
from volvelle.catalogue import Catalogue
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.served_model import ServedModel
from volvelle.workload.serving.lengths import AbstractLengths, AbstractShape, FixedLength, Independent, UniformBelow
from volvelle.workload.serving.loads import AbstractLoad

_WEIGHTS = {name: name for name in ("bf16", "fp8", "nvfp4", "mxfp4", "int8", "int4")} | {"fp16": "bf16"}
"""Formats by what sources call them."""
_BLOCKS = frozenset({"deepseek-v3", "minimax-m2.5", "qwen3.5-397b-a17b", "glm-5", "qwen3-235b-a22b"})
"""Models whose checkpoints in 8 bits have a scale for every block of weights."""
_ENGINES = {
    ("static_latency", "vllm"): "vllm-2024",
    ("static_latency", "trtllm"): "trtllm-2024",
    ("static_phases", "vllm-2023 (Splitwise)"): "vllm-2023",
    ("iterations", "vllm 0.20.1"): "vllm",
}
"""Engines of the catalogue by the kind of table and what it calls them."""
SHORTEST = {
    "inferencex": {"isl": 0.8, "osl": 0.8},
    "aic-gap-analysis vllm": {"osl": 0.9},
    "aic-gap-analysis trtllm": {"osl": 0.9},
}
"""How far lengths vary, by source, or by source and engine: as the scripts of the one source say; of the other, which
states one length, as first tokens of two engines tell. Were all their answers of one length, clients that start
together would send together for ever; those runs show no such waves."""
_ONE_WAITS = {("aic-gap-analysis", "trtllm", "llama3-8b")}
"""Sources, engines and models whose first tokens are later by what one answer takes, over the clients: an engine has
one place fewer than clients, and one of them always waits. First tokens of the same source's Qwen3-32B do not hang on
how long answers are, so it is no rule of the engine."""
_SEEN_CLIENTS = 8
"""From which on that was seen."""
_UNTOLD = 40_960
"""Tokens of the longest request where single steps were timed, and nothing told vLLM of fewer than the checkpoint of
Qwen3-32B allows (its ``max_position_embeddings``); that of the hybrid model allows more, and has few pairs."""
LARGEST_SHARE = 0.96
"""Of memory that any engine takes."""
_WIDE = 16
"""Tensor parallelism beyond which nobody splits attention: such rows mean data parallelism with experts spread out."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServingRun:
    """An instance and what was asked of it, as plain numbers."""

    instance: Instance
    prefill: Instance | None = None
    """What computes prompts, where that stands apart: then the other one decodes."""
    kind: str
    shortest: Mapping[str, float] = field(default_factory=dict)
    """Of `isl` and `osl` that were drawn evenly below what is stated: the least, as a share of it."""
    sizes: Mapping[str, float]
    assumed: tuple[str, ...] = ()
    load: AbstractLoad | None = None
    """Of a replayed load, where sizes do not say it."""
    shape: AbstractShape | None = None
    """Lengths of its prompts and answers; None: the load's own."""

    @property
    def stated_lengths(self) -> Independent:
        """Of prompts and answers, as sizes say and as they vary."""
        return Independent(input=self._lengths("isl"), output=self._lengths("osl"))

    def _lengths(self, name: str) -> AbstractLengths:
        tokens = int(self.sizes[name])
        if name in self.shortest:
            return UniformBelow(tokens=tokens, range_ratio=self.shortest[name])
        return FixedLength(tokens=tokens)


def serving_run(row: ServingMeasurement, catalogue: Catalogue) -> ServingRun | str:
    """What a row ran, or why it cannot be asked."""
    return _run(row.kind, row.cells, catalogue)


@lru_cache(maxsize=16384)
def _run(kind: str, cells: tuple[tuple[str, str], ...], catalogue: Catalogue) -> ServingRun | str:
    stated = dict(cells)
    if kind == "closed_loop":
        stated["source_family"] = source_of(stated)
    if kind == "static_latency" and stated.get("kv_cache") == "fp8" and stated["chip"].startswith("a100"):
        return "the chip has no arithmetic in 8-bit floating point to read such a cache with"
    if kind == "static_phases" and stated.get("power_cap_w"):
        return "the chip's power was capped below what it is sold with"
    engine = _ENGINES.get((kind, stated["engine"]), stated["engine"])
    told = engine_settings(stated) if kind == "closed_loop" else {}
    stated = as_laid_out(stated, told)
    served = served_model(kind, stated, told, catalogue)
    if isinstance(served, str):
        return served
    layout, assumed = layout_of(kind, stated, served)
    names = (
        *("isl", "osl", "batch", "concurrency", "prefill_tokens", "prefill_requests", "prefill_past_tokens"),
        *("decode_requests", "decode_context_tokens"),
    )
    sizes = {name: float(stated[name]) for name in names if stated.get(name)}
    if _benched(kind, stated):
        settings = bench_settings(served, layout, float(catalogue.chip(stated["chip"]).capacity), sizes)
    else:
        settings = _settings(kind, stated, told)
    one = instance(catalogue, served, stated["chip"], layout, engine, settings)
    if "concurrency" in sizes:
        sizes["concurrency"] = max(1.0, round(sizes["concurrency"] / layout.data))
    needed = sizes.get("isl", 0.0) + sizes.get("osl", 0.0)
    if needed and not one.fits(needed):  # scripts of today may tell less than a run of last year took
        one = replace(one, settings=replace(one.settings, memory_share=LARGEST_SHARE))
        if not one.fits(needed):
            return one.why_not(needed)
    return ServingRun(
        instance=one,
        kind=kind,
        shortest=shortest(stated),
        sizes=sizes,
        assumed=assumed,
    )


def shortest(stated: Mapping[str, str]) -> Mapping[str, float]:
    """How far lengths of a row vary."""
    family = stated.get("source_family", "")
    return SHORTEST.get(family) or SHORTEST.get(f"{family} {stated['engine']}", {})


def served_model(
    kind: str, stated: Mapping[str, str], told: Mapping[str, str], catalogue: Catalogue
) -> ServedModel | str:
    """The model of a row in the formats that it states, or why that cannot be timed."""
    weights = _WEIGHTS.get(stated.get("weights") or "bf16")
    if weights is None:
        return f"weights in {stated['weights']} have no kernels here"
    if weights == "fp8" and stated["model"] in _BLOCKS:
        weights = "fp8-block"
    return ServedModel(shape=catalogue.model(stated["model"]), weights=weights, cache=_cache(kind, stated, told))


def _cache(kind: str, stated: Mapping[str, str], told: Mapping[str, str]) -> str:
    said = stated.get("kv_cache") or told.get("kv_cache") or ""
    if said.startswith("fp8"):
        return "fp8"
    narrow = stated.get("weights") in ("fp8", "nvfp4")
    return "fp8" if narrow and stated["engine"].startswith("trtllm") and kind != "static_latency" else "bf16"


def layout_of(kind: str, stated: Mapping[str, str], served: ServedModel) -> tuple[ServingLayout, tuple[str, ...]]:
    """How one instance of a row was laid out, and what was assumed of it."""
    chips = int(float(stated.get("chips") or 1))
    pipeline = int(float(stated.get("pp") or 1))
    tensor = int(float(stated.get("tp") or chips // pipeline))
    data = int(float(stated.get("attention_dp") or stated.get("dp") or 1))
    expert = int(float(stated.get("moe_ep") or stated.get("ep") or 1)) if served.shape.experts else 1
    if kind == "saturated_throughput" and tensor * pipeline < chips:
        data = chips // (tensor * pipeline)
        expert = tensor * data if served.shape.experts else 1
    if _benched(kind, stated) and served.shape.experts and tensor > 1:
        said = ("attention is taken as data-parallel, as NVIDIA told the engine for models with experts",)
        return ServingLayout(data=tensor * data, expert=tensor * data, pipeline=pipeline), said
    if tensor > _WIDE:
        said = (f"tensor parallelism {tensor} is taken as data parallelism with experts on all chips",)
        return ServingLayout(data=tensor, expert=tensor, pipeline=pipeline), said
    if expert == 1 and _too_narrow(served, tensor):
        said = (f"experts lie whole on {tensor} chips: their scales are of {_BLOCK} columns, which would be cut",)
        return ServingLayout(tensor=tensor, data=data, expert=tensor * data, pipeline=pipeline), said
    return ServingLayout(tensor=tensor, data=data, expert=expert, pipeline=pipeline), ()


_BLOCK = 128
"""Columns of weights in 8 bits that share a scale."""


def _too_narrow(served: ServedModel, tensor: int) -> bool:
    """Whether experts in 8 bits cannot be split over so many chips, as engines refuse."""
    experts = served.shape.experts
    return experts is not None and served.weights.startswith("fp8") and experts.ffn % (tensor * _BLOCK) != 0


_OF_LOAD, _FLOOR = "concurrency+isl+64", 8192
_AHEAD_SINCE = 14
"""The minor version of vLLM that schedules the next step while one runs, unless told not to."""


def _benched(kind: str, stated: Mapping[str, str]) -> bool:
    """Whether trtllm-bench ran it, which sets by itself what rows do not say."""
    return kind == "saturated_throughput" and stated["engine"] == "trtllm"


def _settings(kind: str, stated: Mapping[str, str], told: Mapping[str, str]) -> Settings:
    if kind != "closed_loop":
        return Settings(prefix_caching=False, chunks=True, longest=_UNTOLD if kind == "iterations" else None)
    clients, length = int(float(stated["concurrency"])), int(float(stated["isl"]))
    most = {"concurrency": clients, "unset": None}.get(told["max_running"], _first(told["max_running"]))
    if (stated.get("source_family"), stated["engine"], stated["model"]) in _ONE_WAITS and clients >= _SEEN_CLIENTS:
        most = max(1, min(most or clients, clients) - 1)
    budget = told["token_budget"]
    tokens = {"2*isl": 2 * length, "unset": None}.get(budget, _first(budget))
    if _OF_LOAD in budget:  # in whole sixty-fours
        tokens = max(_FLOOR if budget.startswith("max(") else 0, (clients + length + 127) // 64 * 64)
    if stated["engine"] == "trtllm":  # prompts are not cut there
        tokens = max(tokens or 8192, length)
    if tokens is not None:  # a script of another run may tell less than this one had clients
        tokens = max(tokens, min(most or clients, clients))
    return Settings(
        token_budget=tokens,
        chunk=tokens if stated["engine"] == "sglang" else None,
        max_sequences=most,
        memory_share=_share(told["memory_fraction"]),
        receive_interval=max(1, _first(told["receive_interval_steps"]) or 1),
        batch_wait_steps=_first(told["batch_wait_steps"]) or 0,
        batch_wait_ratio=_share(told["batch_wait_token_ratio"]) or 0.0,
        balance_steps=_first(told["balance_timeout_steps"]) or 0,
        balance_wait_steps=_first(told["balance_wait_steps"]) or 0,
        stream_interval=_first(told["stream_interval"]) or 1,
        prefix_caching=False,
        ahead=not _behind(stated),
        longest=_told_longest(stated),
    )


def _told_longest(stated: Mapping[str, str]) -> int | None:
    """Tokens of the longest request: what scripts of InferenceX tell vLLM, and no other source states."""
    if stated["engine"] != "vllm" or stated.get("source_family") != "inferencex":
        return None
    return int(float(stated["isl"])) + int(float(stated["osl"]))


def _behind(stated: Mapping[str, str]) -> bool:
    """Whether steps were scheduled one after the other, as by vLLM before 0.14; InferenceX tells it not to."""
    minor = re.match(r"v?0\.(\d+)", stated.get("engine_version") or "")
    early = minor is not None and int(minor[1]) < _AHEAD_SINCE
    return stated["engine"] == "vllm" and early and stated.get("source_family") != "inferencex"


def _first(text: str) -> int | None:
    """The number that a cell begins with."""
    word = text.split(" ", maxsplit=1)[0].replace(";", "")
    return int(float(word)) if word.replace(".", "", 1).isdigit() else None


def _share(text: str) -> float | None:
    word = text.split("-", maxsplit=1)[0]
    return float(word) if word.replace(".", "", 1).isdigit() else None
