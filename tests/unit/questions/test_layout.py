"""Questions of `job`, `compare` and `explore`: layouts that are stated in part, and arguments by position."""

import inspect
from typing import Any

import pytest
from click.testing import CliRunner

import volvelle
from volvelle.cli.output import Json
from volvelle.cli.question_command import command
from volvelle.errors import DescriptionError
from volvelle.questions.compare import CompareQuestion
from volvelle.questions.estimate import EstimateQuestion
from volvelle.questions.explore import ExploreQuestion
from volvelle.questions.job import JobQuestion
from volvelle.questions.plan import PlanQuestion


def job(**stated: Any) -> JobQuestion:
    return JobQuestion("llama3-8b", on="dgx-h100/64", tokens="1T", batch=512, **stated)


def test_fields_of_a_layout_that_are_not_stated_are_no_fields_of_it() -> None:
    assert job().layout == {}
    assert job(tp=8, overlap=False, offload_weights=False).layout == {
        "tensor": 8,
        "overlap": False,
        "offload_weights": False,
    }
    assert job(overlap=False).command.endswith("--no-overlap")


def test_a_stated_layout_becomes_a_whole_layout_and_none_leaves_all_layouts_open() -> None:
    asked = {"on": "dgx-h100/64", "batch": 512}
    assert job(tp=8).as_question(EstimateQuestion, tokens=None) == EstimateQuestion("llama3-8b", tensor=8, **asked)
    assert job().as_question(PlanQuestion, tokens=None) == PlanQuestion("llama3-8b", **asked)


def test_another_layout_keeps_no_field_of_the_first() -> None:
    assert job(tp=8, zero=1, overlap=False).with_layout(pp=2).layout == {"pipeline": 2}
    whole = EstimateQuestion("llama3-8b", on="dgx-h100/64", tp=8, zero=1)
    assert whole.with_layout(pp=2) == EstimateQuestion("llama3-8b", on="dgx-h100/64", pp=2)


def test_alternatives_are_compared_by_position_and_all_else_by_name() -> None:
    first, *others = inspect.signature(volvelle.compare).parameters.values()
    assert (first.name, first.kind) == ("alternatives", inspect.Parameter.VAR_POSITIONAL)
    assert {part.kind for part in others} == {inspect.Parameter.KEYWORD_ONLY}
    assert {"model", "on", "tensor", "lora", "seed"} <= {part.name for part in others}
    with pytest.raises(DescriptionError, match="alternatives is 3; it must be text"):
        volvelle.compare("dgx-h100/8", 3)  # type: ignore[arg-type]


def test_a_comparison_is_typed_with_its_alternatives_first() -> None:
    question = CompareQuestion(("tp8 pp4", "tp4 pp8"), model="llama3-8b", on="dgx-h100/64", batch=64)
    assert question.command == "volvelle compare 'tp8 pp4' 'tp4 pp8' --batch 64 --model llama3-8b --on dgx-h100/64"


@pytest.mark.parametrize(("typed", "ray"), [((), None), (("--ray",), ""), (("--ray", "head:6379"), "head:6379")])
def test_an_option_may_be_given_without_its_value(typed: tuple[str, ...], ray: str | None) -> None:
    found: list[ExploreQuestion] = []
    explore = command(ExploreQuestion, Json, lambda question, output: found.append(question))
    assert CliRunner().invoke(explore, ["study.yaml", "--compiled", *typed]).exit_code == 0
    assert found[0].ray == ray
    assert found[0].typed() == ["volvelle", "explore", "study.yaml", *typed, "--compiled"]
