"""Measures of whole runs."""

from dataclasses import replace

import numpy as np
import pytest

import volvelle
from tests.sweeps import QUICK, study
from volvelle.applications.goodput.inputs import prior_hazard
from volvelle.catalogue import Catalogue
from volvelle.errors import DescriptionError
from volvelle.quantities import DAY
from volvelle.studies.answers.invert import requirement_of
from volvelle.studies.answers.price_range import figure_ranges
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.failure_terms import FailureTerms
from volvelle.studies.design_space.job_measures import sampled_runs
from volvelle.studies.design_space.measures import MEASURES, PRICED


def test_more_accelerators_fail_more_often_and_the_same_work_takes_longer() -> None:
    runs = sampled_runs(np.array([30 * DAY, 30 * DAY]), np.array([1024.0, 16384.0]), 1.1, family="hopper")
    days, ettr, running = runs.days, runs.ettr, runs.running
    assert np.all(ettr <= 1.0)
    assert np.all(running <= days * DAY * 1.05)
    assert np.median(days[1]) > np.median(days[0]) > 30.0
    assert np.median(ettr[1]) < np.median(ettr[0])


def test_samples_are_the_same_at_every_point() -> None:
    days = sampled_runs(np.array([30 * DAY, 30 * DAY]), 1024.0, 1.1, family="hopper").days
    assert np.array_equal(days[0], days[1])


@pytest.mark.parametrize("system", ["dgx-h100/1024", "mi300x-cluster/1024"])
def test_a_study_is_as_unsure_of_failures_as_a_job_on_the_same_chips(system: str, catalogue: Catalogue) -> None:
    cluster = catalogue.cluster(system)
    hazard, _ = prior_hazard(cluster)
    low, high = FailureTerms().rates(1024.0, np.array([0.1, 0.9]), cluster.chip.family)  # type: ignore[misc]
    asked = hazard.at(np.array([0.1, 0.9]))
    assert high / low == pytest.approx(asked[1] / asked[0])


def test_runs_of_a_study_are_less_sure_on_chips_that_nobody_watched() -> None:
    fixed = {"policy": "fixed", "tensor": 8, "pipeline": 8, "micro_batch": 1}
    asked = study({**QUICK, "mapping": fixed}, system="mi300x-cluster/1024", axes={"scale_out.rate": ["50 GB/s"]})
    outcome = Evaluator(study=asked).explain(0).outcome
    as_hopper = replace(outcome, family="hopper")
    assert MEASURES["ettr.p10"].of(outcome) < MEASURES["ettr.p10"].of(as_hopper)
    assert MEASURES["ettr.p90"].of(outcome) > MEASURES["ettr.p90"].of(as_hopper)


def test_days_need_no_prices_and_dollars_do() -> None:
    assert "days.p90" in MEASURES
    assert "days.p90" not in PRICED
    assert {"run_usd.p90", "kwh", "tco2e.p90"} <= PRICED


def test_a_probability_is_a_condition_on_a_quantile() -> None:
    wanted = requirement_of("P(days<=30)>=0.9 and run_usd minimal")
    assert [part.text for part in wanted.conditions] == ["days.p90 <= 30"]
    assert [part.text for part in wanted.at_median] == ["days.p50 <= 30"]
    assert [part.text for part in requirement_of("P(ettr >= 0.9) >= 80% and least days").conditions] == [
        "ettr.p20 >= 0.9"
    ]


def test_without_a_probability_there_is_no_median_to_compare_with() -> None:
    assert requirement_of("days <= 30 and usd minimal").at_median == ()


@pytest.mark.parametrize("text", ["P(chips<=30)>=0.9 and usd minimal", "P(days<=30)>=0.87 and usd minimal"])
def test_a_probability_that_is_not_known_is_refused(text: str) -> None:
    with pytest.raises(DescriptionError, match=r"it is known|is not reckoned"):
        requirement_of(text)


@pytest.mark.parametrize("layout", [{"tensor": 1, "zero": 3}, {"tensor": 8, "pipeline": 2, "micro_batch": 1}])
def test_a_study_of_one_point_and_a_job_have_the_same_range_of_days(layout: dict[str, int]) -> None:
    asked = study(
        {
            "name": "one",
            "workloads": [{"train": "llama3-8b", "batch": 1536, "tokens": 3e12}],
            "mapping": {"policy": "fixed", **layout},
        },
        system="dgx-h100/1024",
        axes={"accelerators": [256]},
    )
    outcome = Evaluator(study=asked).explain(0).outcome
    run = volvelle.job("llama3-8b", on="dgx-h100/256", batch=1536, tokens=3e12, **layout).run  # type: ignore[arg-type]
    assert outcome.doubt == pytest.approx(run.plan.phases[0].doubt)
    assert MEASURES["days"].of(outcome) == pytest.approx(run.plan.work / DAY)
    for name in ("p10", "p90"):
        assert MEASURES[f"days.{name}"].of(outcome) == pytest.approx(getattr(run.days, name), rel=1e-3)


def test_quantiles_of_whole_runs_have_no_range_of_steps_around_them() -> None:
    fixed = {"policy": "fixed", "tensor": 8, "pipeline": 2, "micro_batch": 1}
    work = [{"train": "llama3-8b", "batch": 1536, "tokens": 3e12}]
    asked = study(
        {"name": "one", "workloads": work, "mapping": fixed}, system="dgx-h100/1024", axes={"accelerators": [256]}
    )
    evaluator = Evaluator(study=asked)
    explained = evaluator.explain(0)
    found = {one.name: one for one in figure_ranges(evaluator, explained, ["days", "days.p90", "run_usd.p90"])}
    assert set(found) == {"days", "run_usd.p90"}
    assert found["run_usd.p90"].varied == ("prices and powers of parts",)
    (steps,) = explained.ranges()
    assert steps is not None
    time = float(np.max(MEASURES["time"].of(explained.outcome)))
    days = found["days"]
    assert (days.low / days.value, days.high / days.value) == pytest.approx((steps.low / time, steps.high / time))


def test_the_doubt_in_several_workloads_lies_between_those_of_each() -> None:
    fixed = {"policy": "fixed", "tensor": 8, "micro_batch": 1}
    work = [{"train": name, "batch": 1536, "tokens": 1e12} for name in ("llama3-8b", "mixtral-8x7b")]

    def doubt(*workloads: dict[str, object]) -> float:
        asked = study(
            {"name": "one", "workloads": list(workloads), "mapping": fixed},
            system="dgx-h100/256",
            axes={"scale_up.rate": ["450 GB/s"]},
        )
        return float(np.max(Evaluator(study=asked).explain(0).outcome.doubt))

    dense, mixture, both = doubt(work[0]), doubt(work[1]), doubt(*work)
    assert min(dense, mixture) < both < max(dense, mixture)
