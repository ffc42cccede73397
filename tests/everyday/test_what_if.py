"""What if a number of the machine were another: on every verb, with the machine as it is beside."""

import json

import pytest

import volvelle
from volvelle import Catalogue
from volvelle.cli import run
from volvelle.estimators.question_error import step_error
from volvelle.questions.machine import read_changes

ASKED = {"on": "dgx-h100/64", "batch": 1024, "tensor": 4, "pipeline": 8}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue()


@pytest.mark.parametrize(
    ("written", "same"),
    [("2x", "900 GB/s"), ("×2", "900GB/s"), ("x 2", "0.9 TB/s"), ("+100%", "900 GB/s"), ("-50 %", "225 GB/s")],
)
def test_a_change_is_written_relative_or_whole(catalogue: Catalogue, written: str, same: str) -> None:
    times = [
        volvelle.estimate("llama3-70b", set={"scale_up.rate": value}, catalogue=catalogue, **ASKED).estimate.time  # type: ignore[arg-type]
        for value in (written, same)
    ]
    assert times[0] == pytest.approx(times[1], rel=1e-12)


def test_the_machine_as_it_is_stands_beside_and_parts_add_up(catalogue: Catalogue) -> None:
    answer = volvelle.estimate("llama3-70b", set={"scale_up.rate": "2x"}, catalogue=catalogue, **ASKED)  # type: ignore[arg-type]
    plain = volvelle.estimate("llama3-70b", catalogue=catalogue, **ASKED)  # type: ignore[arg-type]
    assert answer.baseline is not None
    assert answer.baseline.estimate.time == plain.estimate.time
    told = answer.difference
    assert told is not None
    assert told.ratio == pytest.approx(answer.estimate.time / plain.estimate.time)
    assert sum(told.parts.values()) == pytest.approx(answer.estimate.time - plain.estimate.time)
    assert told.range.low <= told.ratio <= told.range.high < 1
    assert told.verdict == "real"


def test_inputs_are_shown_as_they_are_set_and_in_doubt_by_as_much(catalogue: Catalogue) -> None:
    changes = {"scale_up.rate": "2x", "chip.memory.rate": "5 TB/s", "calibration.memory_efficiency": "50 %"}
    changed = volvelle.estimate("llama3-70b", set=changes, catalogue=catalogue, **ASKED)  # type: ignore[arg-type]
    assert changed.baseline is not None
    before = {used.name: used.figure for used in changed.baseline.inputs}
    after = {used.name: used.figure for used in changed.inputs}
    moved = {name: figure for name, figure in after.items() if figure.value != before[name].value}
    off = moved.pop("model: error of a step, as a factor")  # nobody set it: the step feels other constants now
    assert {name: figure.value for name, figure in moved.items()} == {
        "NVSwitch: link rate": 900e9,
        "chip: memory rate": 5e12,
        "chip: sustained share of that": 0.5,
    }
    for name, figure in moved.items():
        assert (figure.evidence.word, figure.source) == ("assumed", "as set")
        ratios = [end / one.value for one in (figure, before[name]) for end in one.bounds(0.8)]
        assert ratios[:2] == pytest.approx(ratios[2:])
    assert (off.evidence.word, off.source) == ("derived", "volvelle-training-fit")
    for answer, figure in ((changed, off), (changed.baseline, before["model: error of a step, as a factor"])):
        error = step_error(answer.cluster, answer.step, answer.estimate.mapping)
        assert error.by_constants
        assert figure.value == error.factor


def test_what_a_step_does_not_feel_leaves_its_error_and_every_other_input_as_they_are(catalogue: Catalogue) -> None:
    changed = volvelle.estimate("llama3-70b", set={"chip.price": "2x"}, catalogue=catalogue, **ASKED)  # type: ignore[arg-type]
    assert changed.baseline is not None
    assert changed.inputs == changed.baseline.inputs


def test_scaling_has_the_machine_as_it_is_beside(catalogue: Catalogue) -> None:
    asked = {"on": "dgx-h100", "first": 8, "last": 32, "batch": 64, "catalogue": catalogue}
    plain = volvelle.scale("llama3-8b", **asked)  # type: ignore[arg-type]
    faster = volvelle.scale("llama3-8b", set={"scale_out.rate": "2x"}, **asked)  # type: ignore[arg-type]
    assert plain.baseline_seconds is None
    assert faster.baseline_seconds == tuple(point.step and point.step.time for point in plain.points)
    assert faster.points[-1].step.time < plain.points[-1].step.time  # type: ignore[union-attr]


def test_what_changes_nothing_is_no_difference(catalogue: Catalogue) -> None:
    answer = volvelle.estimate("llama3-70b", set={"chip.price": "2x"}, catalogue=catalogue, **ASKED)  # type: ignore[arg-type]
    told = answer.difference
    assert told is not None
    assert (told.ratio, told.verdict) == (1.0, "no difference")
    assert told.figures["usd"] > 1.5


def test_another_chip_or_count_is_a_change_too(catalogue: Catalogue) -> None:
    other = volvelle.estimate("llama3-70b", set={"chip": "b200"}, catalogue=catalogue, **ASKED)  # type: ignore[arg-type]
    assert other.cluster.chip.name == "b200"
    twice = volvelle.cost(on="dgx-h100/64", set={"accelerators": "128"}, catalogue=catalogue)
    assert twice.baseline is not None
    assert float(twice.inventory.chips) == 2 * float(twice.baseline.inventory.chips)


def test_a_price_that_is_set_is_what_a_machine_costs(catalogue: Catalogue) -> None:
    cheap = volvelle.cost(on="dgx-h100/64", set={"chip.price": "20 kUSD"}, catalogue=catalogue)
    given = volvelle.cost(on="dgx-h100/64", chip_price="20 kUSD", catalogue=catalogue)
    assert cheap.typical.breakdown.tco == given.typical.breakdown.tco


@pytest.mark.long
def test_a_plan_and_a_map_have_the_machine_as_it_is_beside(catalogue: Catalogue) -> None:
    plan = volvelle.plan("llama3-8b", on="dgx-h100/8", batch=64, set={"chip.matrix_rate": "2x"}, catalogue=catalogue)
    assert plan.difference is not None
    assert 0.5 < plan.difference.ratio < 1
    found = volvelle.map("gpt2", on="dgx-h100/2", set={"chip.matrix_rate": "2x"}, limit=5, catalogue=catalogue)
    assert found.baseline is not None
    assert found.mapping.plan is not None
    assert found.baseline.mapping.plan is not None
    assert found.mapping.plan.time < found.baseline.mapping.plan.time


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("scale_up.rate", "FIELD=VALUE"),
        ("=2x", "FIELD=VALUE"),
        ("scale_up.rate=", "FIELD=VALUE"),
        ("scale_up.rat=2x", "scale_up.rate"),
        ("scale_up.rate=-1x", "scale_up.rate"),
        ("scale_up.rate=0x", "data rate"),
        ("chip.memory.rate=-1 TB/s", "data rate"),
        ("chip.memory.rate=3 TB", "chip.memory.rate"),
        ("scale_up.rate=1ex", "scale_up.rate"),
        ("accelerators=many", "accelerators"),
        ("chip=h1000", "chip"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused_by_name(
    written: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["estimate", "llama3-8b", "--on", "dgx-h100/8", "--batch", "64", "--zero", "3", f"--set={written}"]
    assert run(words) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert not shown.out


def test_two_changes_of_one_field_are_refused() -> None:
    with pytest.raises(volvelle.DescriptionError, match="twice"):
        read_changes(("scale_up.rate=2x", "scale_up.rate=3x"))


@pytest.mark.parametrize(
    "words",
    [
        ("estimate", "llama3-8b", "--on", "dgx-h100/8", "--batch", "64", "--zero", "3"),
        ("plan", "llama3-8b", "--on", "dgx-h100/8", "--batch", "64"),
        ("cost", "--on", "dgx-h100/8"),
        ("collective", "all-reduce", "1GB", "--on", "dgx-h100/8"),
    ],
)
def test_every_verb_says_how_it_differs_from_the_machine_as_it_is(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--set", "chip.memory.capacity=192GB"]) == 0
    assert "as it is" in " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert run([*words, "--set", "chip.memory.capacity=192GB", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document.get("difference") or document.get("baseline_tco_usd") or document.get("baseline_seconds")
