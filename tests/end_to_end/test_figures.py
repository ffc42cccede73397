"""Headline figures of answers: one kind of value with the range of the answer, and an error where there is none."""

import copy
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import volvelle
from tests.conftest import ROOT
from volvelle import (
    Closed,
    LatencyFigure,
    LatencyLimit,
    LoadedServing,
    MissingFigureError,
    Poisson,
    Range,
    RangedFigure,
    StaticServing,
)
from volvelle.estimators.result import AbstractFigure
from volvelle.simulation.compiler import INSTALLED

NODE = "dgx-h100/8"
SHORT: dict[str, Any] = {"input": 128, "output": 16}


def loaded(**changes: Any) -> LoadedServing:
    answer = volvelle.serve("llama3-8b", on=NODE, tensor=1, **{"load": Poisson(4), "requests": 200, **SHORT, **changes})
    assert isinstance(answer, LoadedServing)
    return answer


def batch(model: str = "llama3-8b", on: str = NODE) -> StaticServing:
    answer = volvelle.serve(model, on=on, batch=8)
    assert isinstance(answer, StaticServing)
    return answer


def planned() -> volvelle.ServingPlan:
    few: dict[str, Any] = {"tensor": 1, "pipeline": 1, "weights": "bf16", "kv": "bf16", "max_seqs": 64, "requests": 200}
    limit = LatencyLimit("ttft", 1.0, percentile=99)
    return volvelle.plan_serving(
        "llama3-8b", on=NODE, load=Poisson(4), slo=limit, max_batched_tokens=2048, **few, **SHORT
    )


def sized() -> volvelle.Fleet:
    limit = LatencyLimit("tpot", 0.03, percentile=95)
    return volvelle.fleet("llama3-8b", on="dgx-h100", tensor=1, load=Poisson(30), slo=limit, check="none")


LOAD = ("ttft", "tpot", "itl", "e2el", "request_throughput", "output_throughput", "total_token_throughput")
TOKENS = ("owned_token_cost", "rented_token_cost")
STEP = ("time", "throughput", "utilisation", "memory")
ANSWERS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "estimate": (
        lambda: volvelle.estimate("llama3-8b", on=NODE, batch=64, tensor=2),
        (*STEP, "power", "energy", "cost"),
    ),
    "plan": (lambda: volvelle.plan("llama3-8b", on=NODE, batch=64, tensor=(1, 2), zero=1), STEP),
    "job": (
        lambda: volvelle.job("llama3-8b", on="dgx-h100/64", tokens="100B", batch=512),
        ("days", "ettr", "interruptions", "cost", "energy", "carbon"),
    ),
    "point of scale": (
        lambda: volvelle.scale("llama3-8b", on="dgx-h100", first=8, last=8).points[0],
        ("time", "throughput", "utilisation"),
    ),
    "collective": (
        lambda: volvelle.collective("all-reduce", "1 GB", on="dgx-h100/64"),
        ("duration", "bus_bandwidth", "algorithm_bandwidth"),
    ),
    "static serving": (
        batch,
        ("ttft", "tpot", "latency", "output_throughput", "total_token_throughput", "memory", *TOKENS),
    ),
    "loaded serving": (loaded, (*LOAD, "memory", *TOKENS)),
    "split serving": (
        lambda: volvelle.serve_split(
            "llama3-8b", on=NODE, prefill="1x tp1", decode="1x tp1", load=Poisson(2), requests=60, **SHORT
        ),
        (*LOAD, *TOKENS),
    ),
    "fleet": (sized, ("peak_chips", "chip_hours", "cost")),
}
if INSTALLED:  # a search follows some hundred runs, which needs the compiler
    ANSWERS["serving plan"] = (planned, (*LOAD, "goodput", *TOKENS))
WITHOUT_A_RANGE = {"itl", "goodput"}
"""Figures that no measured run says the error of."""


@cache
def answer(name: str) -> Any:
    return ANSWERS[name][0]()


@pytest.mark.parametrize(("name", "figure"), [(name, figure) for name in ANSWERS for figure in ANSWERS[name][1]])
def test_a_headline_figure_is_a_number_with_its_unit_inside_its_range(name: str, figure: str) -> None:
    found = getattr(answer(name), figure)
    assert isinstance(found, AbstractFigure)
    assert float(found) == found.value > 0.0
    assert found.unit
    in_range = figure not in WITHOUT_A_RANGE and not (figure == "memory" and "serving" in name)
    assert (found.range is not None) is in_range
    if in_range:
        assert found.low is not None
        assert found.high is not None
        assert found.low <= found.value * (1 + 1e-12)
        assert found.value <= found.high * (1 + 1e-12)
        assert f"{found}".endswith("80 %)")
    assert f"{found:.3e}" == f"{found.value:.3e}"


def test_figures_of_a_step_are_those_of_its_estimate() -> None:
    step = answer("estimate")
    assert (step.time.value, step.time.range) == (step.estimate.time, step.ranges["time"])
    assert (step.memory.value, step.memory.range) == (step.estimate.memory_bytes, step.ranges["memory"])
    assert (step.cost.value, step.cost.range) == (step.costs.dollars, step.ranges["dollars"])
    assert (step.energy.value, step.power.value) == (step.costs.energy, step.costs.power)
    assert step.throughput.low == pytest.approx(step.step.tokens / step.time.high)
    assert step.utilisation.high == pytest.approx(step.estimate.utilisation * step.time.value / step.time.low)


def test_figures_of_a_plan_are_those_of_its_first_layout() -> None:
    plan = answer("plan")
    assert plan.time.value == pytest.approx(plan.layouts[0].time)
    assert plan.memory.value == pytest.approx(plan.layouts[0].memory_bytes)


def test_figures_of_a_load_are_what_clients_measure() -> None:
    found = answer("loaded serving")
    for name, latency in found.load.latencies.items():
        figure = getattr(found, name)
        assert (figure.value, figure.median, figure.std) == (latency.mean, latency.median, latency.std)
        assert (figure.p50, figure.p90, figure.p95, figure.p99) == tuple(latency.percentiles.values())
        assert figure.p99 <= figure.p99_9
    assert found.ttft.range == found.ranges["ttft"]
    assert found.e2el.range == found.ranges["latency"]
    assert found.output_throughput.value == found.throughput
    assert found.output_throughput.range == found.ranges["throughput"]
    assert found.owned_token_cost.value == found.cost.owned
    assert found.memory.value == found.memory.used


def test_the_tail_of_a_load_is_the_percentile_of_its_requests() -> None:
    found = answer("loaded serving")
    served = found.load.served
    assert found.ttft.p99_9 == pytest.approx(np.percentile(served.first_token - served.sent, 99.9))
    assert found.e2el.p99_9 == pytest.approx(np.percentile(served.end - served.sent, 99.9))


def test_a_batch_has_no_figures_of_a_load_and_a_load_none_of_a_batch() -> None:
    assert not hasattr(batch(), "itl")
    assert not hasattr(loaded(), "latency")
    assert (batch().load, loaded().static) == (None, None)
    assert batch().static is not None
    assert loaded().load is not None


def test_figures_of_a_run_and_of_a_fleet_are_those_of_their_totals() -> None:
    job, fleet = answer("job"), answer("fleet")
    assert (job.days.value, job.days.low, job.days.high) == (job.run.days.value, job.run.days.p10, job.run.days.p90)
    assert job.energy.value == pytest.approx(3.6e6 * job.run.kwh.value)
    assert fleet.peak_chips.value == fleet.total.chips == max(fleet.chips)
    assert fleet.cost.value == fleet.total.paid(fleet.pay)


def test_rates_of_a_collective_are_highest_where_it_takes_least() -> None:
    found = answer("collective")
    assert (found.duration.value, found.duration.range) == (found.time, found.range)
    assert found.bus_bandwidth.value == found.bus_rate
    assert found.bus_bandwidth.high == pytest.approx(found.bus_rate * found.time / found.range.low)


@pytest.mark.parametrize(
    ("ask", "figure", "why"),
    [
        (lambda: batch("llama3-405b", "dgx-h100/4"), "ttft", "cannot be served: llama3-405b"),
        (lambda: volvelle.serve("llama3-405b", on="dgx-h100/4", load=Closed(4)), "ttft", "cannot be served"),
        (lambda: loaded(load=Poisson(9000), requests=None), "e2el", "unstable: offered"),
        (lambda: loaded(output=1), "tpot", "no request has a tpot"),
        (lambda: volvelle.plan("llama3-405b", on="dgx-h100/4", batch=4), "time", "no layout fits"),
        (lambda: volvelle.estimate("llama3-8b", on=NODE, batch=3, data=8), "time", "no such layout"),
    ],
)
def test_a_figure_that_is_not_there_says_why(ask: Callable[[], Any], figure: str, why: str) -> None:
    with pytest.raises(MissingFigureError, match=why):
        getattr(ask(), figure)


def test_a_figure_without_a_price_names_what_is_missing() -> None:
    step = answer("estimate")
    without = replace(step, costs=replace(step.costs, dollars=None, missing=("h100-sxm: price",)))
    with pytest.raises(MissingFigureError, match="no dollars: missing is h100-sxm: price"):
        _ = without.cost


def test_memory_of_a_layout_that_does_not_fit_is_a_figure() -> None:
    large = volvelle.estimate("llama3-70b", on=NODE, batch=8)
    assert not large.estimate.feasible
    assert large.memory.value > large.estimate.capacity
    assert batch("llama3-405b", "dgx-h100/4").memory.value > 0.0


def test_a_figure_is_shown_with_the_unit_of_people() -> None:
    around = Range(low=900.0, high=1100.0, level=0.8, varied=())
    assert str(RangedFigure(value=1000.0, range=around, unit="B")) == "1.00 kB (900 B–1.10 kB, 80 %)"
    assert str(RangedFigure(value=1000.0, range=around, unit="tokens/s")) == "1,000 tokens/s (900–1,100 tokens/s, 80 %)"
    assert str(RangedFigure(value=0.423, unit="ratio")) == "42.3 %"
    assert str(RangedFigure(value=1234.5)) == "1,234"
    shown = repr(LatencyFigure(mean=0.02, median=0.019, std=0.01, p90=0.03, p95=0.031, p99=0.04, p99_9=0.05))
    assert shown == "mean 20.0 ms; median 19.0 ms, p99 40.0 ms"


def test_figures_can_be_pickled_and_copied() -> None:
    for figure in (answer("estimate").time, answer("loaded serving").ttft):
        assert pickle.loads(pickle.dumps(figure)) == figure == copy.deepcopy(figure)


ON_THE_PAGE = {
    "`estimate`": "estimate",
    "`plan`": "plan",
    "`scale`": "point of scale",
    "`job`": "job",
    "`collective`": "collective",
    "`serve` with a batch": "static serving",
    "`serve` with a load": "loaded serving",
    "`fleet`": "fleet",
}


def test_the_python_page_names_the_figures_of_each_answer() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (`\w+`[^|]*?) \| ([^|]+) \|$", page.partition("| answer of |")[2], re.MULTILINE))
    for row, name in ON_THE_PAGE.items():
        figures = [figure for figure in re.findall(r"`(\w+)`", rows[row]) if figure != "points"]
        assert sorted(figures) == sorted(ANSWERS[name][1])
