"""The net asks all that can be asked, and a few of its questions are answered as they were when last recorded.

``scripts/golden --record`` records them anew.
"""

import inspect
import json
from collections import Counter

import pytest

import volvelle
from tests.golden.answering import PYTHON, answer
from tests.golden.commands import asked_of, commands
from tests.golden.net import HERE, Moved, movements, questions, read, recorded, small
from tests.golden.quantities import named
from tests.golden.values import document_of, summarised

ASKED = questions()
SMALL = small()
LEAST = 12
"""Questions that every command is asked."""


@pytest.fixture(scope="module")
def asked() -> dict[str, tuple[str, set[str]]]:
    """Question → its command, and the options that it sets off their defaults."""
    return {
        name: asked_of(words) for name, words in ASKED.items() if words[0] != PYTHON and not name.startswith("refused/")
    }


def family(command: str) -> str:
    """Commands of applications are asked together: those that plan, those that validate and so on."""
    first, *rest = command.split()
    return f"{first} APPLICATION" if rest and "--" not in command else command


def test_every_command_is_asked_at_least_a_dozen_questions(asked: dict[str, tuple[str, set[str]]]) -> None:
    counts = Counter(family(command) for command, _ in asked.values())
    assert len(ASKED) >= 600
    assert not {name for name in map(family, commands()) if counts[name] < LEAST}


def test_every_option_of_every_command_is_set_off_its_default(asked: dict[str, tuple[str, set[str]]]) -> None:
    found = {(command, option) for command, options in asked.values() for option in options}
    missing = [
        f"{command} {max((*option.opts, *option.secondary_opts), key=len)}"
        for command, declared in commands().items()
        for option in declared.params
        if (command, option.name) not in found
    ]
    assert not missing, f"no question sets {', '.join(missing)}; add one to tests/golden/questions.yaml"


def test_every_command_is_asked_by_every_run_of_the_tests(asked: dict[str, tuple[str, set[str]]]) -> None:
    quick = {family(asked[name][0]) for name in SMALL if name in asked}
    assert not set(map(family, commands())) - quick


def test_every_public_function_is_asked_from_python() -> None:
    public = {name: getattr(volvelle, name) for name in volvelle.__all__}
    functions = {name for name, value in public.items() if callable(value) and not inspect.isclass(value)}
    expressions = " ".join(words[1] for words in ASKED.values() if words[0] == PYTHON)
    assert not {name for name in functions if f"volvelle.{name}(" not in expressions}


def test_dozens_of_questions_are_refused() -> None:
    assert sum(name.startswith("refused/") for name in ASKED) >= 40


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


def test_one_of_many_that_moves_or_changes_its_place_is_seen() -> None:
    many = [{"seconds": float(number), "kind": "all-gather"} for number in range(100)]
    moved = [*many[:50], {"seconds": 50.1, "kind": "all-gather"}, *many[51:]]
    renamed = [*many[:50], {"seconds": 50.0, "kind": "all-reduce"}, *many[51:]]
    figures = [named(summarised(items)) for items in (many, moved, renamed, many[::-1])]
    assert all(figures[0] != others for others in figures[1:])
    assert len(figures[0]) < len(many)


def test_an_answer_of_python_is_its_fields_and_properties() -> None:
    found = named(document_of(volvelle.cost(on="dgx-h100/8")))
    assert found["breakdowns/TYPICAL/terms/use"] == 0.8  # a field of a field
    assert isinstance(found["breakdowns/TYPICAL/tco"], float)  # a property


def test_files_that_a_question_writes_are_part_of_its_answer() -> None:
    found = recorded(answer(ASKED["mpi/written"]))
    assert found["written/results.svg"] is True
    assert isinstance(found["written/results.csv/start/sum"], float)
