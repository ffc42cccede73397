"""Ranges of a mapping: those of `estimate` where kernels run one by one, the rates that bind where they are fused."""

from dataclasses import replace

import pytest

import volvelle
from tests.conftest import ROOT
from volvelle import ClosedForm
from volvelle.estimators.uncertainty import UnderUncertainty
from volvelle.studies.mapped.mapping_range import mapping_range
from volvelle.verbs.map import MapAnswer

GRAPH = ROOT / "examples" / "graphs" / "unet.yaml"


@pytest.fixture(scope="module")
def fused() -> MapAnswer:
    return volvelle.map(GRAPH, on="sn30-node/8", execution="dataflow", micro_batches=64)


def test_kernels_one_by_one_have_the_ranges_that_an_estimate_of_their_layout_has() -> None:
    answer = volvelle.map("gpt2", on="dgx-h100/8", sharding="megatron", tensor=(1,), pipeline=(1,))
    plan = answer.mapping.plan
    assert plan is not None
    assert plan.mapping is not None
    assert answer.sure is not None
    timed = UnderUncertainty(estimator=ClosedForm()).estimate(plan.workload, answer.cluster, plan.mapping)  # type: ignore[arg-type]

    assert answer.sure.ranges == timed.ranges
    assert answer.sure.fits == timed.fits
    assert answer.sure.ranges["time"].low < plan.time < answer.sure.ranges["time"].high
    told = answer.sure.basis.model_error
    assert told is not None
    assert told == volvelle.estimate("gpt2", on="dgx-h100/8", batch=64).basis.model_error


def test_fused_kernels_rest_on_no_measured_run_and_say_so(fused: MapAnswer) -> None:
    plan = fused.mapping.plan
    assert plan is not None
    assert fused.sure is not None
    assert fused.sure.basis.model_error is None
    assert not fused.sure.basis.calibrated
    span = fused.sure.ranges["time"]
    assert span.low < plan.time < span.high
    assert span.high / span.low > 1.35**2  # the model alone is taken to be off by a third


def test_a_wider_spread_of_what_binds_widens_the_range_of_fused_kernels(fused: MapAnswer) -> None:
    plan, chip = fused.mapping.plan, fused.cluster.chip
    assert plan is not None
    assert fused.sure is not None
    rates = {name: figure for name, figure in chip.figures.items() if name in ("memories.0.rate", "matrix_rates.bf16")}
    wide = {
        name: replace(figure, spread=volvelle.Interval(0.5 * figure.value, 1.5 * figure.value))
        for name, figure in rates.items()
    }
    doubtful = replace(fused.cluster, chip=replace(chip, figures={**chip.figures, **wide}))

    before, after = fused.sure.ranges["time"], mapping_range(plan, doubtful, "bf16").ranges["time"]
    assert after.high / after.low > 1.05 * before.high / before.low


def test_what_hides_behind_arithmetic_shows_where_it_may_be_longer(fused: MapAnswer) -> None:
    plan, chip = fused.mapping.plan, fused.cluster.chip
    assert plan is not None
    assert {part.resource for part in plan.contributions if part.exposed} == {"compute"}
    assert any(part.resource == "memory" and part.time > 0 for part in plan.contributions)
    rate = chip.figures["memories.0.rate"]
    slow = replace(rate, spread=volvelle.Interval(0.001 * rate.value, rate.value))
    doubtful = replace(fused.cluster, chip=replace(chip, figures={**chip.figures, "memories.0.rate": slow}))

    sure = mapping_range(plan, fused.cluster, "bf16").ranges["time"]
    assert mapping_range(plan, doubtful, "bf16").ranges["time"].high > 2.0 * sure.high


def test_no_mapping_has_no_range() -> None:
    nothing = volvelle.map("llama3-405b", on="dgx-h100/8", sharding="megatron", limit=5)
    assert nothing.mapping.plan is None
    assert nothing.sure is None
