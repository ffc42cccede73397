"""A question declares its options once; surfaces are made from the declaration."""

from typing import Any

import jsonschema
import pytest

from volvelle.base.option_kinds import Number, Switch, Words
from volvelle.base.question import Option, Question, option
from volvelle.domains import SEQUENCES, STEP_TIME
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
