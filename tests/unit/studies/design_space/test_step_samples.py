"""Quantiles of steps at points of a study: those of `estimate` and `map`, asked for or not drawn at all."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("duckdb")

import volvelle
from tests.conftest import ROOT
from volvelle.errors import DescriptionError
from volvelle.studies.answers.invert import requirement_of
from volvelle.studies.answers.price_range import figure_ranges
from volvelle.studies.design_space import mapped_work, step_samples
from volvelle.studies.design_space.design_study import read_study
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.measures import MEASURES, PRICED, SURE
from volvelle.system.cluster import Cluster

GRAPH = ROOT / "examples" / "graphs" / "unet.yaml"
FUSED: dict[str, Any] = {"map": str(GRAPH), "name": "unet", "micro_batches": 64, "execution": "dataflow"}
KERNELS: dict[str, Any] = {"map": "gpt2", "sharding": "megatron", "tensor": 1, "pipeline": 1, "execution": "kernels"}
TRAINED: dict[str, Any] = {"train": "llama3-8b", "batch": 64}
PACED: dict[str, Any] = {"pace": {"tokens_per_s": 400, "error_factor": 1.2}, "batch": 64, "sequence": 4096}


def evaluator(work: dict[str, Any], *measures: str, system: str, **changes: object) -> Evaluator:
    fields = {
        "name": "sure",
        "workloads": [work],
        "system": system,
        "axes": {"accelerators": [8]},
        "objectives": ["time"],
        "measures": list(measures),
        "mapping": {"policy": "fixed", "tensor": 2},
    }
    return Evaluator(study=read_study({**fields, **changes}))


def test_a_point_of_fused_kernels_is_as_sure_as_the_verb_says() -> None:
    asked = volvelle.map(GRAPH, on="sn30-node/8", execution="dataflow", micro_batches=64).sure
    points = evaluator(FUSED, "time.p10", "time.p90", system="sn30-node")
    found, explained = points.rows(0, 1).columns, points.explain(0)

    assert asked is not None
    assert explained.estimates[0] is not None
    assert explained.estimates[0].ranges == asked.ranges
    assert explained.bases == (("unet", asked.basis),)
    assert found["time.p10"][0] == pytest.approx(asked.ranges["time"].low, rel=1e-12)
    assert found["time.p90"][0] == pytest.approx(asked.ranges["time"].high, rel=1e-12)


def test_a_point_of_kernels_one_by_one_is_as_sure_as_the_verb_says_of_memory_too() -> None:
    asked = volvelle.map("gpt2", on="dgx-h100/8", sharding="megatron", tensor=(1,), pipeline=(1,), execution="kernels")
    points = evaluator(KERNELS, "time.p10", "time.p90", "memory.p90", "fits_probability", system="dgx-h100")
    found, explained = points.rows(0, 1).columns, points.explain(0)

    assert asked.sure is not None
    assert explained.estimates[0] is not None
    assert explained.estimates[0].ranges == asked.sure.ranges
    assert explained.bases == (("gpt2", asked.sure.basis),)
    assert found["time.p10"][0] == pytest.approx(asked.sure.ranges["time"].low, rel=1e-12)
    assert found["time.p90"][0] == pytest.approx(asked.sure.ranges["time"].high, rel=1e-12)
    assert found["memory.p90"][0] == pytest.approx(asked.sure.ranges["memory"].high, rel=1e-12)
    assert found["fits_probability"][0] == asked.sure.fits


def test_a_limit_on_memory_has_the_range_of_memory() -> None:
    points = evaluator(KERNELS, "memory", system="dgx-h100")
    explained = points.explain(0)
    (found,) = figure_ranges(points, explained, ["memory"])
    assert explained.estimates[0] is not None
    stated = explained.estimates[0].ranges["memory"]

    assert (found.low, found.high) == (stated.low, stated.high)
    assert found.low < found.value < found.high


def test_a_point_of_training_is_as_sure_as_its_estimate() -> None:
    asked = volvelle.estimate("llama3-8b", on="dgx-h100/8", batch=64, tensor=2).estimate
    found = evaluator(TRAINED, "time.p10", "time.p90", "fits_probability", system="dgx-h100").rows(0, 1).columns

    assert found["time.p10"][0] == pytest.approx(asked.ranges["time"].low, rel=1e-9)
    assert found["time.p90"][0] == pytest.approx(asked.ranges["time"].high, rel=1e-9)
    assert found["fits_probability"][0] == asked.fits


@pytest.mark.parametrize("run", [{"run": "hpl"}, {"run": "hpcg"}, {"run": "fft", "size": 1024}])
def test_a_point_of_a_benchmark_is_as_sure_as_its_plan(run: dict[str, Any]) -> None:
    points = evaluator(run, "time.p10", "time.p50", "time.p90", system="dgx-h100")
    found, (stated,) = points.rows(0, 1).columns, points.explain(0).ranges()

    assert stated is not None
    assert stated.low < found["time"][0] < stated.high
    assert found["time.p10"][0] == pytest.approx(stated.low, rel=0.01)
    assert found["time.p50"][0] == pytest.approx(found["time"][0], rel=0.01)
    assert found["time.p90"][0] == pytest.approx(stated.high, rel=0.01)


@pytest.mark.parametrize(
    ("work", "system"), [(FUSED, "sn30-node"), (KERNELS, "dgx-h100"), (TRAINED, "dgx-h100"), (PACED, "dgx-h100")]
)
def test_quantiles_rise_and_what_falls_with_time_mirrors_them(work: dict[str, Any], system: str) -> None:
    places = (5, 10, 20, 50, 80, 90, 95, 99)
    names = [f"{name}.p{place}" for name in ("time", "samples_per_s") for place in places]
    found = evaluator(work, *names, "samples_per_s", system=system).rows(0, 1).columns
    times, rates = ([found[f"{name}.p{place}"][0] for place in places] for name in ("time", "samples_per_s"))

    assert times == sorted(times)
    assert rates == sorted(rates)
    assert times[1] < found["time"][0] < times[5]
    assert rates[1] * times[5] == pytest.approx(found["samples_per_s"][0] * found["time"][0])


@pytest.mark.parametrize(("work", "system"), [(FUSED, "sn30-node"), (KERNELS, "dgx-h100"), (TRAINED, "dgx-h100")])
def test_a_probability_lies_between_nought_and_one_and_never_falls_with_the_bound(
    work: dict[str, Any], system: str
) -> None:
    outcome = evaluator(work, system=system).explain(0).outcome
    central = float(outcome.worked[0].time[0])
    chances = [
        requirement_of(f"P(time <= {factor * central!r} s) >= 0.9 and time minimal").chances[0].of(outcome)
        for factor in (0.01, 0.5, 0.8, 1.0, 1.2, 2.0, 100.0)
    ]

    assert chances == sorted(chances)  # type: ignore[type-var]
    assert (chances[0], chances[-1]) == (0.0, 1.0)
    assert 0.2 < chances[3] < 0.8  # type: ignore[operator]


def test_a_wider_spread_of_what_binds_never_narrows_a_point() -> None:
    points = evaluator(FUSED, system="sn30-node")
    form, machine = points.study.form.workloads[0], points.study.machine({"accelerators": 8})
    figures = machine.chip.figures

    def doubtful(width: float) -> Cluster:
        wide = {
            name: replace(figures[name], spread=volvelle.Interval((1 - width) * value, (1 + width) * value))
            for name, value in ((name, figures[name].value) for name in ("matrix_rates.bf16", "memories.0.rate"))
        }
        return replace(machine, chip=replace(machine.chip, figures={**figures, **wide}))

    spans = []
    for width in (0.01, 0.2, 0.5, 0.8):
        low, high = np.quantile(points.mapper.work(form, doubtful(width), 1).drawn().time[0], [0.1, 0.9])
        spans.append(high / low)
    assert spans == sorted(spans)
    assert spans[-1] > 1.2 * spans[0]


def test_a_mix_is_as_long_on_every_sample_as_its_workloads_together() -> None:
    two = [{**FUSED, "name": "once"}, {**FUSED, "name": "twice", "weight": 2.0}]
    mixed = evaluator(FUSED, "time.p90", system="sn30-node", workloads=two).rows(0, 1).columns
    alone = evaluator(FUSED, "time.p90", system="sn30-node").rows(0, 1).columns

    assert mixed["time.p90"][0] == pytest.approx(3.0 * alone["time.p90"][0])


def test_nothing_is_sampled_where_no_quantile_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(mapped_work, "mapping_range", refuse)
    monkeypatch.setattr(step_samples, "UnderUncertainty", lambda **_: None)
    assert np.isfinite(evaluator(FUSED, "mfu", system="sn30-node").rows(0, 1).columns["time"][0])
    assert np.isfinite(evaluator(TRAINED, "mfu", system="dgx-h100").rows(0, 1).columns["time"][0])
    with pytest.raises(AssertionError):
        evaluator(FUSED, "time.p90", system="sn30-node").rows(0, 1)


def test_points_that_cannot_run_have_no_quantiles() -> None:
    points = evaluator(FUSED, "time.p90", system="sn30-node", axes={"chip.buffer": ["10 kB", "640 MB"]}).rows(0, 2)

    assert points.feasible.tolist() == [False, True]
    assert np.isfinite(points.columns["time.p90"]).tolist() == [False, True]


@pytest.mark.parametrize(
    ("work", "measure", "said"),
    [
        ({"run": "hpl"}, "memory.p90", "workload 'hpl' is planned"),
        (FUSED, "fits_probability", "workload 'unet' runs kernels together"),
        (FUSED, "memory.p90", "no measured run tells how far its memory is off"),
        (PACED, "memory.p90", "is a pace alone"),
        (FUSED, "time.p77", "time.p77"),
    ],
)
def test_what_nothing_is_known_of_is_refused_before_it_runs(work: dict[str, Any], measure: str, said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        evaluator(work, measure, system="sn30-node")


def test_memory_of_fused_kernels_is_refused_where_the_chip_chose_to_fuse_them() -> None:
    work = {name: value for name, value in FUSED.items() if name != "execution"}
    with pytest.raises(DescriptionError, match="workload 'unet' is was asked for, but no measured run"):
        evaluator(work, "fits_probability", system="sn30-node").rows(0, 1)


def test_a_workload_of_a_mix_is_not_called_as_a_quantile_is() -> None:
    two = [{**FUSED, "name": "p90"}, FUSED]
    with pytest.raises(DescriptionError, match="workload 'p90' is called as a quantile is"):
        evaluator(FUSED, "time.p90", system="sn30-node", workloads=two)


def test_quantiles_of_steps_need_no_prices() -> None:
    assert set(MEASURES) >= SURE
    assert not SURE & PRICED
