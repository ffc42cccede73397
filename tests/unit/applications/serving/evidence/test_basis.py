"""What ranges of serving rest on: the runs of the very engine and chips, and in what a question is unlike them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import volvelle
from volvelle.applications.serving.evidence.basis import (
    BATCHES,
    CLOSED_LOOPS,
    OPEN_LOADS,
    bases_of_pools,
    basis_words,
    serving_bases,
)
from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.split.split_answer import errors_of_pools
from volvelle.applications.serving.static_answer import UNFITTED, prediction_errors
from volvelle.catalogue.engines import split_error_rows
from volvelle.report.documents.document import json_text


def served(model: str = "llama3-70b", on: str = "dgx-h100/8", weights: str = "fp8", engine: str = "vllm") -> Instance:
    return volvelle.serve(model, on=on, weights=weights, engine=engine, input=512, output=64).instance


def test_a_question_like_the_runs_is_inside_and_another_load_is_not() -> None:
    instance = served()
    inside = serving_bases(instance, CLOSED_LOOPS)["tpot"]
    assert inside.calibrated
    assert inside.outside == ()
    assert inside.model_error is not None
    assert inside.model_error.families == ("hopper",)
    assert serving_bases(instance, OPEN_LOADS)["tpot"].outside == ("kind of load",)
    assert serving_bases(instance, BATCHES)["tpot"].outside == ("kind of load",)


@pytest.mark.parametrize(
    ("asked", "way"),
    [
        ({"on": "dgx-a100/8", "weights": "bf16"}, "chip"),
        ({"weights": "int8"}, "precision"),
        ({"model": "mixtral-8x7b", "weights": "bf16"}, "precision"),
    ],
)
def test_what_no_run_had_is_named(asked: dict[str, str], way: str) -> None:
    assert way in serving_bases(served(**asked), CLOSED_LOOPS)["tpot"].outside


def test_a_figure_that_no_run_tells_of_is_not_calibrated_and_says_what_is_taken() -> None:
    basis = serving_bases(served(), CLOSED_LOOPS)["throughput"]
    assert not basis.calibrated
    assert basis.model_error is None
    (words, grade) = basis_words([basis])
    assert f"a factor of {UNFITTED:.3g}" in words
    assert "no run of vLLM" in words
    assert grade.endswith(basis.weakest_evidence)


def test_the_factor_is_the_one_that_ranges_are_made_of() -> None:
    for instance in (served(), served(engine="trtllm")):
        errors = prediction_errors(instance)
        assert {name: basis.factor for name, basis in serving_bases(instance, CLOSED_LOOPS).items()} == errors


def test_runs_of_ones_own_stand_in_place_of_the_catalogues() -> None:
    instance = served()
    rows = {name: told for name, told in instance.engine.error_rows.items() if not name.startswith("tpot")}
    own = replace(instance, engine=replace(instance.engine, error_rows=rows, fitted_to="3 runs of one's own"))
    basis = serving_bases(own, OPEN_LOADS)["tpot"]
    assert basis.calibrated
    assert basis.model_error is None
    assert basis.outside == ()
    assert "3 runs of one's own" in next(basis_words([basis]))


def test_a_range_of_split_pools_rests_on_runs_of_split_pools_where_these_are_less_sure() -> None:
    instance = served()
    found = bases_of_pools(instance, instance, CLOSED_LOOPS)
    assert {name: basis.factor for name, basis in found.items()} == errors_of_pools(instance, instance)
    assert found["ttft"].model_error == split_error_rows("ttft")
    assert found["throughput"].model_error is None


def test_serve_names_the_runs_behind_every_range_in_text_and_json() -> None:
    answer = volvelle.serve("llama3-70b", on="dgx-h100/8", weights="fp8", batch=8, input=512, output=64)
    told = {entry["figure"]: entry for entry in json.loads(json_text("serve", answer))["range_basis"]}
    assert set(told) == set(answer.ranges)
    rows, sources = (told["tpot"]["serving_error"][name] for name in ("rows", "sources"))
    assert any(f"{rows} runs of vLLM V1 on hopper chips ({sources} publications" in note for note in answer.notes)


def test_what_cannot_be_served_has_neither_ranges_nor_a_basis() -> None:
    answer = volvelle.serve("llama3-405b", on="dgx-a100/1", batch=1)
    assert not answer.feasible
    assert answer.bases == ()


def test_an_engine_file_without_errors_keeps_the_runs_of_the_catalogue(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("engine: vllm\nfamily: hopper\nfitted_to: 3 runs\nconstants: {reading: 0.9}\nerror: {tpot: 1.05}\n")
    found = serving_bases(served(engine=str(file)), CLOSED_LOOPS)
    assert found["tpot"].own_runs == "3 runs"
    assert found["ttft"].model_error == serving_bases(served(), CLOSED_LOOPS)["ttft"].model_error
