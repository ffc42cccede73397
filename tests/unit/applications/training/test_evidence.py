"""What a range rests on is said once for all verbs: the weakest number, and the rows behind the model's error."""

import json
from pathlib import Path

import pytest

import volvelle
from volvelle import Catalogue, DescriptionError, TrainingStep, transformer
from volvelle.applications.training.evidence import step_basis, training_inputs
from volvelle.estimators.question_error import step_error
from volvelle.estimators.step_errors import StepError
from volvelle.report.documents.document import json_text
from volvelle.report.range_words import range_words
from volvelle.spread import Evidence

GPT2 = TrainingStep(model=transformer(Catalogue().model("gpt2")), batch=64)
WORDS = [grade.word for grade in Evidence]


def test_estimate_plan_and_explore_rest_on_the_same_rows_of_the_same_layout(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    plan = volvelle.plan("gpt2", on="dgx-h100/8", batch=64, top=1)
    estimate = volvelle.estimate("gpt2", on="dgx-h100/8", batch=64, mapping=plan.layouts[0].mapping)
    study = {
        "name": "one",
        "system": "dgx-h100/8",
        "workloads": [{"train": "gpt2", "batch": 64}],
        "axes": {"scale_up.rate": ["225 GB/s", "450 GB/s"]},
    }
    explored = volvelle.explore(study, out=tmp_path / "one", workers=1)
    found = [json.loads(json_text(verb, one)) for verb, one in (("estimate", estimate), ("plan", plan))]
    (told,) = json.loads(json_text("explore", explored))["around_best"]["range_basis"]

    assert found[0]["model_error"] == found[1]["model_error"] == told["model_error"]
    assert found[0]["weakest_evidence"] == found[1]["weakest_evidence"] == told["weakest_evidence"]
    assert told["workload"] == "gpt2"
    assert told["model_error"]["rows"] >= 30


def test_a_family_without_runs_has_no_rows_behind_it_and_its_sentence_says_so() -> None:
    catalogue = volvelle.Catalogue()
    basis = step_basis(catalogue.cluster("sn30-node/8"), GPT2)
    assert basis.model_error is None
    assert not basis.calibrated
    assert basis.weakest_evidence in WORDS
    assert "no run on this family" in range_words(basis)
    known = step_basis(catalogue.cluster("dgx-h100/8"), GPT2)
    assert known.model_error is not None
    assert f"{known.model_error.rows:,} calibration runs" in range_words(known)


@pytest.mark.parametrize("system", ["dgx-h100/8", "dgx-h200/8", "dgx-h100/32768", "mi300x-cluster/8", "l40s-cluster/8"])
def test_the_error_of_a_step_that_is_listed_is_the_one_that_ranges_take(system: str) -> None:
    machine = Catalogue().cluster(system)
    taken = step_error(machine, GPT2)
    listed = [
        used for used in training_inputs(machine, "bf16", taken) if used.name.startswith("model: error of a step")
    ]
    assert [used.figure.value for used in listed] == ([] if taken.factor is None else [taken.factor])


def test_the_error_of_a_step_is_that_of_own_runs_where_there_are_some() -> None:
    machine = Catalogue().cluster("dgx-h100/8")
    (listed,) = (
        used.figure
        for used in training_inputs(machine, "bf16", StepError(factor=1.04))
        if used.name.startswith("model: error of a step")
    )
    assert (listed.value, listed.source) == (1.04, "own runs")


def test_a_cost_names_its_weakest_price_and_takes_both_ends_of_a_step() -> None:
    asked = {"on": "dgx-h100/64", "step": "10 s", "tokens_per_step": 1e6, "tokens": 1e12}
    plain, ranged = volvelle.cost(**asked), volvelle.cost(**asked, step_range=("8 s", "12 s"))
    assert plain.low.training_days == plain.high.training_days == plain.typical.training_days
    assert ranged.typical.training_days == plain.typical.training_days
    assert ranged.low.training_days == pytest.approx(0.8 * plain.typical.training_days)
    assert ranged.high.training_days == pytest.approx(1.2 * plain.typical.training_days)
    assert plain.low.training_usd is not None
    assert ranged.low.training_usd == pytest.approx(0.8 * plain.low.training_usd)
    grades = [figure.evidence.word for figure in plain.rests_on.values()]
    assert plain.weakest_evidence == max(grades, key=WORDS.index)


@pytest.mark.parametrize("ends", [("12 s", "8 s"), ("11 s", "12 s"), ("8 s",), ("8 s", "9 s")])
def test_a_range_that_does_not_hold_the_step_is_refused(ends: tuple[str, ...]) -> None:
    with pytest.raises(DescriptionError, match="step_range"):
        volvelle.cost(on="dgx-h100/64", step="10 s", step_range=ends)


def test_ends_without_a_step_are_refused() -> None:
    with pytest.raises(DescriptionError, match="give step"):
        volvelle.cost(on="dgx-h100/64", step_range=("8 s", "12 s"))
