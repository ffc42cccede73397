"""A few of the net's questions, answered as they were when last recorded (``scripts/golden --record`` records anew)."""

import json

import pytest

from tests.golden.answering import answer
from tests.golden.net import HERE, Moved, movements, questions, read, recorded, small
from tests.golden.quantities import named

SMALL = small()


def test_the_net_asks_at_least_five_hundred_questions() -> None:
    assert len(questions()) >= 500


@pytest.mark.parametrize("name", SMALL)
def test_an_answer_is_what_was_recorded(name: str) -> None:
    # The last digits of a sum depend on the processor's vector width, so this is looser than scripts/golden.
    now = {name: recorded(answer(SMALL[name]))}
    then = {name: json.loads((HERE / "answers.json").read_text("utf-8"))[name]}
    moved = [
        found for found in movements(then, now, ignored=read("permitted.yaml")["never_compared"]) if found.by > 1e-9
    ]
    assert not moved, "\n".join(f"{found.name}: {found.old} -> {found.new}" for found in moved[:20])


def test_a_figure_that_moves_in_its_twelfth_digit_is_seen() -> None:
    before = {"q": {"a": 1.0, "b": 2.0, "c": True}}
    after = {"q": {"a": 1.0 + 3e-12, "b": 2.0 + 1e-13, "c": True, "d": 4.0}}
    assert [moved.name for moved in movements(before, after)] == ["a"]


def test_what_is_gone_or_of_another_kind_has_moved() -> None:
    assert Moved(question="q", name="a", old=1.0, new="(gone)").by == float("inf")
    assert [moved.name for moved in movements({"q": {"a": 1.0}}, {"q": {}})] == ["a"]


def test_items_of_a_list_are_known_by_their_names() -> None:
    document = {
        "parts": [
            {"name": "bubble", "seconds": 1},
            {"name": "bubble", "seconds": 2, "exposed": False},
            {"x": "312 TFLOP/s", "y": "in plain words"},
        ]
    }
    assert named(document) == {
        "parts[bubble]/name": "bubble",
        "parts[bubble]/seconds": 1.0,
        "parts[bubble, hidden]/name": "bubble",
        "parts[bubble, hidden]/seconds": 2.0,
        "parts[bubble, hidden]/exposed": False,
        "parts[2]/x": "312 TFLOP/s",
    }
