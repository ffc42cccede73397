"""Questions about applications: one class per application and command, made from options that it declares."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from tests.everyday.asking import ask
from volvelle.applications.hpl.application import HPL
from volvelle.applications.registry import APPLICATIONS, application
from volvelle.base.question import Question
from volvelle.cli.plan_application import plan_command
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.questions import QUESTIONS, question_of_command
from volvelle.verbs.validate import validate

OF_APPLICATIONS = [question for word in APPLICATIONS for question in application(word).questions.values()]


@pytest.mark.parametrize("question", OF_APPLICATIONS, ids=lambda question: question.subcommand)
def test_a_question_about_an_application_has_helps_a_summary_and_two_examples(question: type[Question]) -> None:
    assert question.summary.endswith(".")
    assert len(question.examples) == 2
    for part in question.options():
        assert re.match(r"[A-Za-z0-9]", part.help), part.name
        assert part.help.endswith("."), part.name


def test_each_application_has_its_own_question() -> None:
    names = [question.subcommand for question in OF_APPLICATIONS]
    assert len(set(names)) == len(names)
    assert {"plan hpl", "validate hpl", "calibrate hpl", "validate memory"} <= set(names)
    assert "plan memory" not in names


@pytest.mark.parametrize(
    "question",
    [*OF_APPLICATIONS, *map(question_of_command, QUESTIONS)],
    ids=lambda question: f"{question.__name__} {question.subcommand}",
)
def test_the_schema_of_every_question_is_one(question: type[Question]) -> None:
    schema = question.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) == {part.name for part in question.options() if part.in_command}


def test_an_option_of_an_application_is_in_its_command_in_python_and_in_the_schema() -> None:
    command = plan_command(HPL)
    assert command is not None
    assert "--host-memory" in {flag for option in command.params for flag in option.opts}
    question = HPL.plan_question(on="summit/27648", host_memory="80 GB", nb=512)
    assert question.si("host_memory") == 80e9
    assert question.command == "volvelle plan hpl --on summit/27648 --host-memory '80 GB' --nb 512"
    asked = {"on": "summit/27648", "host_memory": "80 GB", "nb": [512]}
    jsonschema.validate(asked, HPL.plan_question.schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**asked, "host_storage": 1}, HPL.plan_question.schema())


def test_an_option_of_another_application_is_rejected_by_its_name() -> None:
    with pytest.raises(UnknownNameError, match=r"validate hpl.*all_sizes"):
        validate("hpl", all_sizes=True)
    with pytest.raises(DescriptionError, match="method is 'fast'; it must be 'panels'"):
        HPL.plan_question(on="dgx-h100/8", method="fast")


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        (("plan", "hpl"), {"--nb", "--on"}),
        (("validate", "serving"), {"--kind", "--data"}),
        (("calibrate", "training"), {"--family", "--data"}),
        (("calibrate", "from"), {"LOG", "--tp"}),
        (("estimate",), {"MODEL", "--tp"}),
        (("plan --serve",), {"MODEL", "--slo"}),
    ],
)
def test_the_schema_of_a_question_is_printed(words: tuple[str, ...], flags: set[str], tmp_path: Path) -> None:
    reply = ask(tmp_path, "schema", *words, "--question")
    assert reply.status == 0
    assert flags <= {field["x-flag"] for field in json.loads(reply.out)["properties"].values()}


@pytest.mark.parametrize(
    ("words", "last"),
    [
        (("plan", "memory", "--question"), "did you mean"),
        (("validate", "--question"), "did you mean 'validate"),
        (("plan", "hpl"), "document of a command 'plan hpl'"),
    ],
)
def test_a_command_without_such_a_schema_is_rejected(words: tuple[str, ...], last: str, tmp_path: Path) -> None:
    reply = ask(tmp_path, "schema", *words)
    assert reply.status == 2
    assert last in reply.last
