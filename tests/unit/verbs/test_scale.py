"""How training scales: what plan finds at every count, relative to the fewest that run."""

import json
from typing import Any

import pytest

import volvelle
from volvelle import Catalogue, DescriptionError
from volvelle.cli import run

QUESTION: dict[str, Any] = {"on": "dgx-h100", "batch": 256, "tensor": (1, 8), "pipeline": 1, "context": 1}


def test_every_count_has_the_layout_that_plan_finds_there(catalogue: Catalogue) -> None:
    found = volvelle.scale("llama3-8b", first=8, last=24, **{**QUESTION, "batch": 192}, catalogue=catalogue)
    assert [point.accelerators for point in found.points] == [8, 16, 24]
    for point in found.points:
        asked = {**QUESTION, "batch": 192, "on": f"dgx-h100/{point.accelerators}"}
        plan = volvelle.plan("llama3-8b", **asked, catalogue=catalogue)
        assert plan.best is not None
        assert point.step is not None
        assert point.step.time == pytest.approx(plan.best.time, rel=1e-12)
        assert sum(point.parts.values()) == pytest.approx(1.0)
        assert point.step.range is not None
        assert point.step.range.low <= point.step.time <= point.step.range.high
        assert point.step.basis == plan.basis


def test_efficiency_is_relative_to_the_fewest_that_run(catalogue: Catalogue) -> None:
    strong = volvelle.scale("llama3-70b", first=8, last=64, **{**QUESTION, "tensor": 8}, catalogue=catalogue)
    assert strong.points[0].step is None
    assert strong.points[0].problem.startswith("memory: the lightest layout holds")
    first, last = strong.first, strong.points[-1]
    assert first is not None and first.step is not None and last.step is not None  # noqa: PT018 - for the type checker
    assert first.efficiency == 1.0
    assert last.efficiency == pytest.approx(
        first.step.time * first.accelerators / (last.step.time * last.accelerators), rel=1e-12
    )


def test_a_weak_batch_grows_with_the_chips(catalogue: Catalogue) -> None:
    weak = volvelle.scale("llama3-8b", first=8, last=32, growth="weak", **QUESTION, catalogue=catalogue)
    assert [point.batch for point in weak.points] == [256, 512, 1024]
    times = [point.step.time for point in weak.points if point.step is not None]
    assert weak.points[-1].efficiency == pytest.approx(times[0] / times[-1], rel=1e-12)


def test_a_batch_too_small_for_the_chips_breaks_and_says_on_what(catalogue: Catalogue) -> None:
    found = volvelle.scale("gpt2", first=8, last=64, **{**QUESTION, "batch": 32, "tensor": 1}, catalogue=catalogue)
    assert found.breaks is not None
    assert (found.breaks.accelerators, found.culprit) == (32, "host")
    assert "no layout of 64 chips divides a batch of 32 sequences" in found.points[-1].problem


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ({"on": "dgx-h100/8"}, "has a count already; leave it away and give first and last: 'dgx-h100'"),
        ({"first": 64, "last": 8}, "last is 8, fewer than the 64 of first"),
        ({"growth": "sideways"}, "growth is 'sideways'; it must be 'strong' or 'weak'"),
        ({"first": 0}, "first is 0; it must be a whole number from 1"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_to_do(question: dict[str, Any], says: str) -> None:
    with pytest.raises(DescriptionError, match=says):
        volvelle.scale("gpt2", **{**QUESTION, **question})


def test_the_command_prints_what_the_verb_finds(capsys: pytest.CaptureFixture[str], catalogue: Catalogue) -> None:
    words = "scale llama3-8b --on dgx-h100 --from 8 --to 16 --weak --batch 256 --tp 1 --tp 8 --pp 1 --cp 1"
    assert run([*words.split(), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = volvelle.scale("llama3-8b", first=8, last=16, growth="weak", **QUESTION, catalogue=catalogue)
    assert document == found.to_dict()
    assert run(words.split()) == 0
    assert "efficiency" in capsys.readouterr().out
