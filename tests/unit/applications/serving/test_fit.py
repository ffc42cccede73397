"""How constants of engines are fitted."""

from dataclasses import replace

import numpy as np
import pytest

from volvelle.applications.serving.asking import run_of
from volvelle.applications.serving.fit import FITTED, fit_engines, started, too_soon
from volvelle.applications.serving.instance import Settings, instance
from volvelle.applications.serving.measurements import serving_measurements
from volvelle.applications.serving.nearest import nearest_constants
from volvelle.applications.serving.runs import ServingRun
from volvelle.catalogue import Catalogue
from volvelle.catalogue.engines import serving_engine
from volvelle.estimators.serving.engine_constants import EngineConstants
from volvelle.estimators.serving.iteration import LAUNCHES, Batch
from volvelle.mapping.serving_layout import ServingLayout
from volvelle.workload.served_model import ServedModel


def test_constants_are_found_that_made_the_figures() -> None:
    true = np.log([2e-3, 0.8])

    def off(constants: EngineConstants) -> np.ndarray:
        here = np.log([constants.host, constants.reading])
        return np.array([[1.0, 0.5], [0.2, 1.0], [0.7, 0.7]]) @ (here - true)

    found = nearest_constants(off, started(), ("host", "reading"), weights=np.ones(3), hold=1e-6, rounds=6)
    assert found.host == pytest.approx(2e-3, rel=1e-3)
    assert found.reading == pytest.approx(0.8, rel=1e-3)


def test_constants_as_they_are_stay_and_their_errors_are_told(catalogue: Catalogue) -> None:
    rows = [row for row in serving_measurements(kind="static_latency").rows if row.head.split == "calibration"]
    (found,) = fit_engines(rows, catalogue, engine="deepspeed-gaudi", as_they_are=True)
    known = serving_engine("deepspeed-gaudi")
    assert all(getattr(found.constants, name) == getattr(known.constants, name) for name in FITTED)
    assert found.error["latency"] == pytest.approx(known.error["latency"], rel=1e-3)


def test_launches_of_recurrent_layers_may_take_longer_and_never_less(catalogue: Catalogue) -> None:
    served = ServedModel(shape=catalogue.model("qwen3.6-35b-a3b"), weights="bf16")
    one = instance(catalogue, served, "b200", ServingLayout(tensor=1), "vllm")
    constants = replace(one.engine.constants, eager_launch=1e-5)
    tokens = np.array([4096.0])

    def launching(heavy: float) -> float:
        iteration = one.with_constants(replace(constants, eager_heavy=heavy)).iteration
        return float(iteration.launching(tokens)[0])

    assert launching(0.0) == launching(1e-5) < launching(1e-4)


def test_latent_attention_is_launched_in_more_pieces(catalogue: Catalogue) -> None:
    shape = catalogue.model("deepseek-v3")
    layout = ServingLayout(tensor=8)
    tokens = np.array([4096.0])
    one = instance(catalogue, ServedModel(shape=shape, weights="fp8"), "b200", layout, "trtllm")
    slower = one.with_constants(replace(one.engine.constants, eager_heavy=2.0 * one.engine.constants.eager_launch))
    launches = sum(1 for kind in shape.kinds if kind.attends) * LAUNCHES["latent attention"]
    more = slower.iteration.launching(tokens) - one.with_constants(
        replace(one.engine.constants, eager_heavy=0.0)
    ).iteration.launching(tokens)
    assert more[0] == pytest.approx(launches * one.engine.constants.eager_launch)


def test_steps_that_are_not_scheduled_ahead_take_longer(catalogue: Catalogue) -> None:
    served = ServedModel(shape=catalogue.model("llama3-8b"), weights="bf16")
    batch = Batch(decodes=np.array([8.0]), context=np.array([8e3]))
    steps = [
        instance(catalogue, served, "h100-sxm", ServingLayout(), "vllm", Settings(ahead=ahead))
        for ahead in (True, False)
    ]
    ahead, behind = (float(one.iteration.steps(batch)[0]) for one in steps)
    assert behind - ahead == pytest.approx(steps[1].iteration.host)


def test_which_runs_were_scheduled_ahead_follows_from_version_and_source(catalogue: Catalogue) -> None:
    asked = [(row, run_of(row, catalogue)) for row in serving_measurements(kind="closed_loop").rows]
    behind = {
        (row.stated["source_family"], row.stated["engine"], row.stated["engine_version"])
        for row, run in asked
        if isinstance(run, ServingRun) and not run.instance.settings.ahead
    }
    assert behind == {("aic-gap-analysis", "vllm", "0.12.0")}


@pytest.mark.parametrize(
    ("version", "ahead"),
    [("0.12.0", False), ("v0.13.1", False), ("0.14.0rc1", True), ("0.dev", True), ("", True), ("nightly-5b8c", True)],
)
def test_a_version_of_any_form_says_whether_steps_were_scheduled_ahead(
    catalogue: Catalogue, version: str, ahead: bool
) -> None:
    rows = serving_measurements(kind="closed_loop").rows
    row = next(row for row in rows if row.stated["engine_version"] == "0.12.0")
    cells = {**dict(row.cells), "engine_version": version}
    run = run_of(replace(row, cells=tuple(cells.items())), catalogue)
    assert isinstance(run, ServingRun)
    assert run.instance.settings.ahead is ahead


def test_ranks_that_share_experts_launch_more(catalogue: Catalogue) -> None:
    served = ServedModel(shape=catalogue.model("gpt-oss-120b"), weights="mxfp4")

    def launching(layout: ServingLayout) -> float:
        return float(instance(catalogue, served, "b200", layout, "vllm").iteration.launching(np.array([4096.0]))[0])

    layouts = (ServingLayout(tensor=2), ServingLayout(data=2, expert=2), ServingLayout(tensor=2, data=2, expert=4))
    alone, ranks, groups = map(launching, layouts)
    assert alone < ranks < groups


def test_steps_whose_time_was_booked_elsewhere_are_not_fitted_to(catalogue: Catalogue) -> None:
    rows = [row for row in serving_measurements(kind="iterations").rows if row.head.split == "calibration"]
    asked = [(row, run_of(row, catalogue)) for row in rows if row.stated["model"] == "qwen3.6-35b-a3b"]
    left_out = [row for row, run in asked if isinstance(run, ServingRun) and too_soon(row, run)]
    assert 0 < len(left_out) < 0.05 * len(asked)
    assert {(row.stated["tp"], row.stated["dp"]) for row in left_out} == {("1", "1")}
