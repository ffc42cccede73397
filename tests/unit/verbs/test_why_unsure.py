"""What brings the doubt of a step, and what measuring it would leave."""

from dataclasses import dataclass
from math import exp, log, sqrt
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

import volvelle
from tests.conftest import ROOT
from tests.own_logs import QUESTION, megatron_log, written
from tests.unit.verbs.own_runs.test_calibrate import MODEL as MODEL_OF_LOGS
from volvelle import ClosedForm
from volvelle.catalogue.benchmarks_to_run import benchmark_for
from volvelle.errors import DescriptionError
from volvelle.estimators.calibration import CONSTANTS, ERRORS, HELD_BYTES, LIST_TIMES, MOVED_BYTES
from volvelle.estimators.sampler import Column, Stratified
from volvelle.estimators.uncertainty import MODEL, sampled
from volvelle.laws.sensitivity import spread_after
from volvelle.mapping.parallelism import MappingTable
from volvelle.spread import model_reach
from volvelle.verbs.likely_best import sampled_times
from volvelle.verbs.own_runs.calibrate import calibrate_from
from volvelle.verbs.question import question_of
from volvelle.verbs.why_unsure import WhyUnsure, levels_of_error, why_unsure


@pytest.fixture(scope="module")
def found() -> WhyUnsure:
    return why_unsure("llama3-405b", on="dgx-h100/2048", batch=2048, tensor=8, pipeline=16, zero=1, samples=1024)


def test_the_error_of_the_model_leads_all_and_matrix_efficiency_the_inputs(found: WhyUnsure) -> None:
    model, first = found.shares[:2]
    assert model.input == MODEL
    assert model.total > 0.5
    assert first.input == "h100-sxm: matrix efficiency"
    assert first.total / (1.0 - model.total) == pytest.approx(0.83, abs=0.06)


def test_measuring_what_brings_more_leaves_a_narrower_range(found: WhyUnsure) -> None:
    inputs = [one for one in found.shares if one.input != MODEL]
    after = [one.half_width_after for one in inputs]
    assert after == sorted(after)
    assert all(one.half_width_after <= found.half_width for one in found.shares)
    assert sum(one.first_order for one in found.shares) == pytest.approx(1.0, abs=0.05)


def test_between_two_layouts_their_own_errors_lead_and_the_chance_follows_the_lead() -> None:
    asked = {"on": "dgx-h100/64", "batch": 128, "zero": 3, "samples": 256}
    found = why_unsure("llama3-8b", against="tp2 zero3", **asked)  # type: ignore[arg-type]
    assert found.shares[0].input == "errors of the two layouts"
    assert found.ratio is not None
    assert found.chance is not None
    assert (found.ratio > 1.0) == (found.chance > 0.5)
    other = why_unsure("llama3-8b", against="zero3", **{**asked, "tensor": 2})  # type: ignore[arg-type]
    assert other.chance == pytest.approx(1.0 - found.chance, abs=0.02)


def test_sobol_points_are_asked_for_in_powers_of_two() -> None:
    with pytest.raises(DescriptionError, match="powers of two"):
        why_unsure("llama3-8b", on="dgx-h100/8", batch=64, zero=3, samples=1000)


def test_every_constant_that_is_fitted_has_a_benchmark_that_tells_it() -> None:
    unmeasured = {"sustained_clock", "memory_margin", *HELD_BYTES, *MOVED_BYTES, *LIST_TIMES, *ERRORS}
    missing = [name for name in CONSTANTS if benchmark_for(f"chip: {name.replace('_', ' ')} (bf16)") is None]
    assert set(missing) == unmeasured


@dataclass(frozen=True)
class _OneKnown:
    """Samples in which one input is what a benchmark said."""

    sampler: Stratified
    name: str
    value: float

    @property
    def samples(self) -> int:
        return self.sampler.samples

    def column(self, name: str) -> Column:
        found = self.sampler.column(name)
        return np.full_like(found, self.value) if name == self.name else found


def test_the_benchmark_named_for_an_input_narrows_the_range_as_promised(found: WhyUnsure) -> None:
    """On machines whose matrix efficiency was measured, the rest of the doubt is what was promised."""
    asked = question_of("llama3-405b", on="dgx-h100/2048", batch=2048, tensor=8, pipeline=16, zero=1)
    share = next(one for one in found.shares if one.input == "h100-sxm: matrix efficiency")
    model = next(one for one in found.shares if one.input == MODEL)
    table = MappingTable.of([asked.mapping])

    def variance(value: float) -> float:
        variants, _ = sampled(asked.cluster, sampler=_OneKnown(Stratified(64, seed=3), share.input, value))
        return float(np.var(np.log(ClosedForm().table(asked.step, variants, table).time)))

    measured = np.mean([variance((place + 0.5) / 16) for place in range(16)])
    whole = (found.half_width / model_reach(0.8)) ** 2
    left = (share.half_width_after / model_reach(0.8)) ** 2
    assert left == pytest.approx(float(measured) + model.total * whole, rel=0.02)
    assert share.benchmark is not None


def test_one_own_run_leaves_what_was_promised_on_a_thousand_drawn_machines(found: WhyUnsure) -> None:
    """A machine is off on a layout and runs each by themselves; one run of it then corrects another."""
    model = next(one for one in found.shares if one.input == MODEL)
    asked = question_of("llama3-405b", on="dgx-h100/2048", batch=2048, tensor=8, pipeline=16, zero=1)
    between, within, wider = levels_of_error(asked)
    rng = np.random.default_rng(5)
    machine = sqrt(between) * rng.standard_normal(1000)
    first, other = (machine + sqrt(within) * rng.standard_normal(1000) for _ in range(2))
    left = wider * float(np.std(other - between / (between + within) * first))
    assert model.half_width_after == pytest.approx(model_reach(0.8) * left, rel=0.08)
    assert model.half_width_after < 0.7 * found.half_width


def test_a_calibration_by_that_run_leaves_about_what_was_promised(tmp_path: Path) -> None:
    """Thirty steps of the very layout, faster or slower by as much as machines are; less if as fast as predicted."""
    question = {"on": "dgx-h100/8", **QUESTION}
    promised = next(one for one in why_unsure(MODEL_OF_LOGS, **question).shares if one.input == MODEL)
    shipped = volvelle.estimate(MODEL_OF_LOGS, **question).estimate.time
    off = sqrt(levels_of_error(question_of(MODEL_OF_LOGS, **question))[0])
    for slower in (exp(-off), 1.0, exp(off)):
        files = written(tmp_path, megatron_log(slower * shipped))
        calibrate_from(files, on="dgx-h100", save=tmp_path / "mine.yaml")
        span = volvelle.estimate(MODEL_OF_LOGS, **{**question, "stack": str(tmp_path / "mine.yaml")}).ranges["time"]
        left = log(span.high / span.low) / 2.0 / promised.half_width_after
        assert 0.75 < left < 1.25 if slower != 1.0 else 0.6 < left < 0.75


def test_a_log_of_three_steps_leaves_more_than_twenty_and_less_than_none(tmp_path: Path) -> None:
    question = {"on": "dgx-h100/8", "batch": 128, "context": 2, "zero": 2}
    unsure = why_unsure("llama3-8b", **question)
    promised = next(one for one in unsure.shares if one.input == MODEL)
    file = ROOT / "examples" / "logs" / "nemo-llama3-8b.log"
    calibrate_from([file], on="dgx-h100/8", model="llama3-8b", context=2, zero=2, save=tmp_path / "mine.yaml")
    span = volvelle.estimate("llama3-8b", **question, stack=str(tmp_path / "mine.yaml")).ranges["time"]
    assert promised.half_width_after < log(span.high / span.low) / 2.0 < 0.8 * unsure.half_width


@pytest.mark.parametrize(
    ("model", "on", "batch"), [("llama3-405b", "dgx-h100/2048", 2048), ("llama3-8b", "dgx-h100/64", 128)]
)
def test_runs_of_the_two_likeliest_settle_it_as_often_as_promised_on_a_thousand_drawn_machines(
    model: str, on: str, batch: int
) -> None:
    plan = volvelle.plan(model, on=on, batch=batch, top=64)
    told = plan.settling
    assert told is not None
    pair = [next(one for one in (*plan.layouts, *plan.kinds) if one.mapping == m) for m in told.layouts]
    assert max(one.p_best or 0.0 for one in pair) < 0.6
    times, *_ = sampled_times(plan.step, plan.cluster, pair, ClosedForm(), Stratified(1000, seed=11))
    truth = np.log(times[1] / times[0])

    asked = why_unsure(model, on=on, batch=batch, mapping=told.layouts[0], against=told.layouts[1], samples=256)
    first = asked.shares[0]
    run = benchmark_for(first.input)
    assert run is not None
    assert asked.ratio is not None
    assert first.benchmark == told.benchmark == run.benchmark
    spread, lead = asked.half_width / model_reach(0.8), log(asked.ratio)
    scatter = sqrt(2.0) * run.scatter
    measured = truth + scatter * np.random.default_rng(2).standard_normal(1000)
    left = float(spread_after(spread, scatter=scatter))
    believed = left**2 * (lead / spread**2 + measured / scatter**2)
    settled = np.abs(believed) / left > NormalDist().inv_cdf(0.9)

    assert first.half_width_after == pytest.approx(model_reach(0.8) * left)
    assert float(settled.mean()) >= 0.7
    assert first.settles == pytest.approx(float(settled.mean()), abs=0.04)
    assert told.settles == pytest.approx(first.settles, abs=0.02)
    assert float(np.mean((believed > 0) == (truth > 0), where=settled)) > 0.9
    assert float(np.std(truth - believed)) == pytest.approx(left, rel=0.1)
