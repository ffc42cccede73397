"""A question declares its options once; surfaces are made from the declaration."""

from pathlib import Path
from types import MappingProxyType
from typing import Any

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner

from volvelle.base.option_kinds import InputFile, Instance, Joined, Number, OutputFile, Switch, Words
from volvelle.base.question import Option, Question, option
from volvelle.cli.question_command import command
from volvelle.domains import LIMIT, SEQUENCES, STEP_TIME
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.mapping.parallelism import Schedule


class Asked(Question):
    """Ask for an example."""

    subcommand = "ask"
    model: str = option(Option("MODEL", "Model."), kw_only=False)
    batch: int | None = option(Option("--batch", "Sequences.", kind=Number(SEQUENCES)), default=None)
    sequence: int | None = option(Option("--seq", "Tokens.", kind=Number(SEQUENCES)), default=None)
    step: str | float | None = option(Option("--step", "Step time.", kind=Number(STEP_TIME)), default=None)
    spot: bool = option(Option("--spot", "Spot price.", kind=Switch()), default=False)
    schedule: Any = option(
        Option("--schedule", "Schedule.", kind=Words.of(Schedule)), default=Schedule.ONE_FORWARD_ONE_BACKWARD
    )
    zero: Any = option(Option("--zero", "Stage.", kind=Number(SEQUENCES), several=True), default=())


def test_a_field_has_the_name_of_its_flag_too() -> None:
    assert Asked("m", seq=8) == Asked("m", sequence=8)
    with pytest.raises(DescriptionError, match="sequence is given twice, as seq too"):
        Asked("m", sequence=8, seq=8)


def test_an_unknown_name_is_rejected_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'schedule'"):
        Asked("m", shedule="1f1b")


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("batch", 8.0, 8),
        ("step", "6.3 s", "6.3 s"),
        ("schedule", "gpipe", Schedule.GPIPE),
        ("schedule", 1, Schedule.GPIPE),
        ("spot", 1, True),
        ("spot", 1.0, True),
        ("zero", 2, (2,)),
        ("zero", {2, 1}, (1, 2)),
        ("zero", range(1, 3), (1, 2)),
    ],
)
def test_a_value_that_plainly_means_one_of_the_kind_is_kept_as_that(name: str, value: Any, kept: Any) -> None:
    assert getattr(Asked("m", **{name: value}), name) == kept


@pytest.mark.parametrize(
    ("name", "value"),
    [("batch", True), ("batch", "8"), ("batch", 0), ("step", "6 GB"), ("schedule", True), ("spot", "no"), ("model", 3)],
)
def test_a_value_of_another_kind_is_rejected_by_its_name(name: str, value: Any) -> None:
    with pytest.raises(DescriptionError, match=rf"\b{name}\b"):
        Asked(**{"model": "m", name: value})


def test_the_typed_command_has_arguments_first_and_only_what_is_off_its_default() -> None:
    question = Asked("llama3-8b", step="6.3 s", zero=(1, 2), spot=True, schedule="1f1b")
    assert question.command == "volvelle ask llama3-8b --step '6.3 s' --spot --zero 1 --zero 2"


@pytest.mark.parametrize(
    ("domain", "value", "typed"),
    [(LIMIT, 10.0, "10"), (LIMIT, 0.5, "0.5"), (LIMIT, 7, "7"), (SEQUENCES, 8, "8"), (STEP_TIME, "2 min", "2 min")],
)
def test_a_number_is_typed_as_people_type_it(domain: Any, value: Any, typed: str) -> None:
    kind = Number(domain)
    assert kind.text(value) == typed
    assert kind.from_text(typed) == value


def test_a_number_with_its_unit_is_known_in_si_units() -> None:
    assert Asked("m", step="2 min").si("step") == 120.0
    assert Asked("m").si("step") is None


def test_the_schema_has_limits_units_and_required_fields() -> None:
    schema = Asked.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({"model": "m", "batch": 8, "step": "6.3 s", "schedule": "gpipe"}, schema)
    for wrong in ({"model": "m", "batch": 0}, {"batch": 8}, {"model": "m", "schedule": "x"}, {"model": "m", "x": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)
    assert schema["properties"]["step"]["anyOf"][0]["x-unit"] == "s"


@pytest.mark.parametrize(
    ("value", "kept", "typed"),
    [
        (64, 64, "64"),
        ("64", 64, "64"),
        (np.int64(64), 64, "64"),
        ("8x64", (8, 64), "8x64"),
        ("8 × 1,024", (8, 1024), "8x1024"),
        ([8, 64], (8, 64), "8x64"),
        (np.array([8, 64]), (8, 64), "8x64"),
        ((8,), (8,), "8"),
    ],
)
def test_one_number_and_several_are_kept_apart(value: Any, kept: Any, typed: str) -> None:
    kind = Joined(Number(SEQUENCES))
    assert kind.read(value, "group") == kept
    assert kind.text(kept) == typed


@pytest.mark.parametrize("value", ["", "x", "8x", "0x8", "8y64", True, (8, True), (), None, {1: 1}])
def test_numbers_that_are_none_are_rejected_by_the_name_of_the_option(value: Any) -> None:
    with pytest.raises(DescriptionError, match=r"\bgroup is\b"):
        Joined(Number(SEQUENCES)).read(value, "group")


def test_text_is_no_value_of_a_class_that_has_none() -> None:
    kind = Instance("a Path", ("Path",))
    assert kind.read(Path("x"), "place") == Path("x")
    for wrong in ("x", 3, None):
        with pytest.raises(DescriptionError, match=r"place is .*; it must be a Path"):
            kind.read(wrong, "place")
    with pytest.raises(DescriptionError, match="it must be a function"):
        Instance("a function", ("callable",)).read("x", "progress")
    assert Instance("a mapping", ("Mapping",)).read(MappingProxyType({1: 2}), "table") == {1: 2}


def test_an_ending_of_a_file_may_have_two_parts() -> None:
    kind = OutputFile(endings=(".csv", ".csv.gz"))
    assert kind.read("out.csv.gz", "out") == Path("out.csv.gz")
    for wrong in ("out.gz", "out.csv.zip", "csv"):
        with pytest.raises(DescriptionError, match=r"its name must end in \.csv or \.csv\.gz"):
            kind.read(wrong, "out")


class Switched(Question):
    """Ask for a switch and for files."""

    subcommand = "switch"
    files: Any = option(Option("FILE", "Files.", kind=InputFile(), several=True), kw_only=False)
    whole: bool = option(Option("--whole", "Whole.", kind=Switch(), opposite="--parts"), default=True)


class Noted(Question):
    """Ask for a file that may be left out."""

    subcommand = "note"
    note: str | None = option(Option("NOTE", "Note.", kind=InputFile()), default=None, kw_only=False)


class Shown(Question):
    """Show the answer in one way."""


def test_a_switch_may_have_a_flag_of_another_name_that_turns_it_off() -> None:
    assert Switched("a", whole=False).command == "volvelle switch a --parts"
    typed = command(Switched, Shown, lambda question, _: print(question.whole))
    for words, whole in (("a", True), ("a --whole", True), ("a --parts", False)):
        assert CliRunner().invoke(typed, words.split()).output == f"{whole}\n"


def test_several_files_are_an_argument_that_cannot_be_left_out() -> None:
    assert Switched(["a", Path("b")]).command == "volvelle switch a b"
    with pytest.raises(DescriptionError, match="files is None; it must be a path"):
        Switched(None)


def test_the_usage_shows_arguments_that_may_be_left_out_and_those_that_may_be_repeated() -> None:
    for question, usage in ((Switched, "[OPTIONS] FILE..."), (Noted, "[OPTIONS] [NOTE]")):
        assert usage in CliRunner().invoke(command(question, Shown, lambda *_: None), ["--help"]).output
