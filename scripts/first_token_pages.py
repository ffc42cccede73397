"""Pictures and tables of the page on the time to the first token: measured, replayed, and a prompt alone.

    python scripts/first_token_pages.py

prints the tables. Measured rows are those that constants were fitted to; none that is held out is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from statistics import median
from typing import Any

import numpy as np

from volvelle.applications.serving.answers import answers
from volvelle.applications.serving.asking import run_of
from volvelle.applications.serving.instance import Instance, Settings, instance
from volvelle.applications.serving.measurements import ServingMeasurement, serving_measurements
from volvelle.applications.serving.runs import ServingRun
from volvelle.catalogue import Catalogue
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.quantities import SECONDS, show
from volvelle.report.figures.lines import line_chart
from volvelle.report.figures.rendering import svg
from volvelle.report.figures.theme import WIDE
from volvelle.simulation.batching.metrics import Latency, measure
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.serving import serve
from volvelle.workload.served_model import ServedModel
from volvelle.workload.serving.lengths import AbstractLengths, FixedLength, Independent, UniformBelow
from volvelle.workload.serving.loads import Closed, Poisson
from volvelle.workload.serving.requests import Requests

__all__ = ["first_token_pages"]

# -- measured curves ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Measured runs of one source, engine, model and chip, and the curve among them that is drawn."""

    source: str
    engine: str
    model: str
    chip: str
    drawn: Mapping[str, str]
    """Columns that tell it."""
    title: str
    one_waits: bool = False
    """Whether the engine is taken to have one place fewer than there are clients."""

    def has(self, stated: Mapping[str, str]) -> bool:
        """Whether a row is one of them."""
        own = {"source_family": self.source, "engine": self.engine, "model": self.model, "chip": self.chip}
        return all(stated.get(name) == value for name, value in own.items())


CURVES = {
    "h200": Curves(
        source="inferencex",
        engine="vllm",
        model="llama3-70b",
        chip="h200-sxm",
        drawn={"weights": "fp8", "tp": "4", "isl": "1024", "osl": "1024"},
        title="Llama 3 70B, vLLM on 4 H200, 1,024 tokens in and out",
    ),
    "b200": Curves(
        source="inferencex",
        engine="trtllm",
        model="llama3-70b",
        chip="b200",
        drawn={"weights": "fp8", "tp": "4", "isl": "1024", "osl": "1024"},
        title="Llama 3 70B, TensorRT-LLM on 4 B200, 1,024 tokens in and out",
    ),
    "llama3-8b": Curves(
        source="aic-gap-analysis",
        engine="trtllm",
        model="llama3-8b",
        chip="h100-sxm",
        drawn={"weights": "bf16", "tp": "1", "isl": "1024", "osl": "512"},
        title="Llama 3 8B, TensorRT-LLM on H100, 1,024 tokens in, 512 out",
        one_waits=True,
    ),
    "qwen3-32b": Curves(
        source="aic-gap-analysis",
        engine="trtllm",
        model="qwen3-32b",
        chip="h100-sxm",
        drawn={"weights": "fp8", "tp": "4", "isl": "1024", "osl": "512"},
        title="Qwen3 32B, TensorRT-LLM on 4 H100, 1,024 tokens in, 512 out",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The first token of one measured run, in seconds."""

    row: ServingMeasurement
    clients: int
    replayed: float
    alone: float
    """The prompt read alone, with what the client and the front end take."""
    all_placed: float | None
    """Replayed with a place for every client, where the replay has one fewer."""

    @property
    def measured(self) -> float:
        """By the source."""
        return self.row.value


@cache
def _points(name: str) -> tuple[Point, ...]:
    """Every calibration row of some curves."""
    curves, catalogue, found = CURVES[name], Catalogue(), []
    for row in serving_measurements(kind="closed_loop").rows:
        if row.measure != "ttft" or row.head.split != "calibration" or not curves.has(row.stated):
            continue
        run = run_of(row, catalogue)
        if isinstance(run, str):
            continue
        clients = int(run.sizes["concurrency"])
        found.append(
            Point(
                row=row,
                clients=clients,
                replayed=answers(run)["ttft"],
                alone=_alone(run),
                all_placed=answers(_told(run, max_sequences=clients))["ttft"] if curves.one_waits else None,
            )
        )
    return tuple(sorted(found, key=lambda point: point.clients))


def _told(run: ServingRun, **settings: Any) -> ServingRun:
    one = run.instance
    return replace(run, instance=replace(one, settings=replace(one.settings, **settings)))


def _alone(run: ServingRun) -> float:
    """One client whose prompts wait for nothing."""
    free = _told(run, max_sequences=None, batch_wait_steps=0, batch_wait_ratio=0.0)
    return answers(replace(free, shortest={}, sizes={**run.sizes, "concurrency": 1.0}))["ttft"]


def _picture(name: str) -> str:
    curves = CURVES[name]
    shown = [
        point
        for point in _points(name)
        if all(point.row.stated[column] == value for column, value in curves.drawn.items())
    ]
    lines = {"measured": [1e3 * point.measured for point in shown]}
    lines["replayed"] = [1e3 * point.replayed for point in shown]
    lines["prompt alone"] = [1e3 * point.alone for point in shown]
    if curves.one_waits:
        lines["all have a place"] = [1e3 * (point.all_placed or 0.0) for point in shown]
    drawn = line_chart(
        lines,
        places=[f"{point.clients:,}" for point in shown],
        title=f"Time to the first token: {curves.title}",
        about="; ".join(f"{line}: {values[0]:.0f} to {values[-1]:.0f} ms" for line, values in lines.items()),
        x_title="clients, each of which sends the next request when the last has ended",
        y_title="mean TTFT, ms",
        width=WIDE,
    )
    return svg(drawn)


def _scores() -> str:
    rows = []
    for name, curves in CURVES.items():
        points = _points(name)
        placed = [point.all_placed for point in points if point.all_placed is not None]
        rows.append(
            (
                f"{curves.model}, {curves.engine}, {curves.chip}",
                str(len(points)),
                f"{100 * median(point.alone / point.measured for point in points):.0f} %",
                _error([point.alone for point in points], points),
                _error([point.replayed for point in points], points),
                _error(placed, points) if placed else "the same",
            )
        )
    heads = ("runs", "rows", "prompt alone, of TTFT", "error of that", "error replayed", "with a place for all")
    return _table(heads, rows)


def _error(found: Sequence[float], points: Sequence[Point]) -> str:
    errors = (abs(value / point.measured - 1.0) for value, point in zip(found, points, strict=True))
    return f"{100 * median(errors):.0f} %"


# -- what changes it ------------------------------------------------------------------------------------------

CLIENTS, PROMPT, ANSWER = 64, 1024, 512
SHARED = 512
"""Tokens that all prompts begin with, where they share a beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One load through one engine."""

    engine: str = "vllm"
    model: str = "llama3-70b"
    weights: str = "fp8"
    tensor: int = 4
    settings: Settings = field(default_factory=Settings)
    constants: Mapping[str, float] = field(default_factory=dict)
    """Factors of constants of the engine, by what their names begin with."""
    shortest: float | None = 0.8
    """Of lengths that are drawn, as a share of the longest; None: all are alike."""
    clients: int = CLIENTS
    rate: float | None = None
    """Requests a second that come by chance; None: clients send the next when the last has ended."""
    shared: bool = False
    """Whether prompts begin alike."""
    later: bool = False
    """Whether the first request of every client is left out."""

    def served(self) -> Served:
        """The load, followed."""
        one = self._instance()
        rules = one.rules()
        return serve(self._requests(), one.costs(rules), rules)

    def _instance(self) -> Instance:
        catalogue = Catalogue()
        what = ServedModel(shape=catalogue.model(self.model), weights=self.weights)
        one = instance(catalogue, what, "h100-sxm", ServingLayout(tensor=self.tensor), self.engine, self.settings)
        known = one.engine.constants
        changed = {
            one_of.name: factor * getattr(known, one_of.name)
            for start, factor in self.constants.items()
            for one_of in fields(known)
            if one_of.name.startswith(start)
        }
        return one.with_constants(replace(known, **changed))

    def _requests(self) -> Requests:
        load = Closed(clients=self.clients) if self.rate is None else Poisson(rate=self.rate)
        shape = Independent(input=self._length(PROMPT), output=self._length(ANSWER))
        found = load.requests(shape, count=10 * CLIENTS, seed=0)
        if not self.shared:
            return found
        count = len(found)
        return replace(found, hash_ids=np.zeros(count, np.int64), hash_starts=np.arange(count + 1), hash_tokens=SHARED)

    def _length(self, tokens: int) -> AbstractLengths:
        if self.shortest is None:
            return FixedLength(tokens=tokens)
        return UniformBelow(tokens=tokens, range_ratio=self.shortest)

    def figures(self) -> tuple[float, float, float]:
        """Mean and 99th percentile of TTFT, and mean TPOT, in seconds."""
        served = self.served()
        first = (served.first_token - served.sent)[CLIENTS if self.later else 0 :]
        ttft = Latency.of(first)
        return ttft.mean, ttft.percentiles[99.0], measure(served).tpot.mean


def _settings(**told: int | float) -> Settings:
    return Settings(**told)  # type: ignore[arg-type]


def _cases() -> dict[str, list[tuple[str, Case]]]:
    """By what they are compared with, which is the first."""
    base = Case()
    reached = len(base.served().sent) / base.served().duration
    sglang, trtllm = Case(engine="sglang"), Case(engine="trtllm")
    mixture = Case(model="qwen3.6-35b-a3b", weights="bf16", tensor=2)
    room = CLIENTS // 2 * (PROMPT + ANSWER)
    return {
        "vLLM": [
            ("as it is", base),
            ("clients: one, so that a prompt is alone", replace(base, clients=1)),
            ("burst at the start: first requests left out", replace(base, later=True)),
            (f"arrivals: {reached:.1f} requests/s by chance", replace(base, rate=reached)),
            ("length law: all lengths alike", replace(base, shortest=None)),
            ("token budget: 2,048 a step", replace(base, settings=_settings(token_budget=2048))),
            ("token budget: 32,768 a step", replace(base, settings=_settings(token_budget=32768))),
            ("scheduling: each step after the last, not ahead", replace(base, settings=_settings(ahead=False))),
            ("places: 63 for 64 clients", replace(base, settings=_settings(max_sequences=CLIENTS - 1))),
            ("places: 32 for 64 clients", replace(base, settings=_settings(max_sequences=CLIENTS // 2))),
            (f"KV room: {room:,} tokens", replace(base, settings=_settings(kv_tokens=room))),
            (f"prefix cache: {SHARED} tokens shared", replace(base, shared=True)),
            ("stream interval: 32 tokens", replace(base, settings=_settings(stream_interval=32))),
            ("front end: ten times as slow", replace(base, constants={"first_token": 10.0})),
            ("tokeniser: ten times as slow", replace(base, constants={"tokenising": 10.0})),
        ],
        "SGLang": [
            ("as it is", sglang),
            ("receive interval: 10 steps", replace(sglang, settings=_settings(receive_interval=10))),
            ("receive interval: 30 steps", replace(sglang, settings=_settings(receive_interval=30))),
        ],
        "TensorRT-LLM": [
            ("as it is", trtllm),
            (
                "batch wait: 20 steps, or 0.9 of the budget",
                replace(trtllm, settings=_settings(batch_wait_steps=20, batch_wait_ratio=0.9)),
            ),
        ],
        "vLLM, Qwen3.6 35B-A3B": [
            ("as it is", mixture),
            ("eager launches: cost nothing", replace(mixture, constants={"eager_": 0.0})),
            ("eager launches: twice as long", replace(mixture, constants={"eager_": 2.0})),
        ],
    }


def _knobs() -> str:
    rows = []
    for engine, cases in _cases().items():
        of = cases[0][1].figures()
        for name, case in cases:
            mean, late, token = case.figures()
            change = "" if case is cases[0][1] else f"{100 * (mean / of[0] - 1):+.0f} %".replace("-", "−")
            rows.append((engine, name, show(mean, SECONDS), change, show(late, SECONDS), show(token, SECONDS)))
    return _table(("engine", "what is changed", "mean TTFT", "change", "p99 TTFT", "mean TPOT"), rows, words=2)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> str:
    rule = tuple("---" if place < words else "---:" for place in range(len(heads)))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, rule, *rows))


# -- all of it ------------------------------------------------------------------------------------------------


def first_token_pages() -> dict[str, str]:
    """By file: pictures, the scores of all their rows, and what changes the first token."""
    pictures = {f"first-token-{name}.svg": _picture(name) for name in CURVES}
    return {**pictures, "first-token-scores.md": _scores(), "first-token-knobs.md": _knobs()}


if __name__ == "__main__":
    print(_knobs())
    print(_scores(), end="")
