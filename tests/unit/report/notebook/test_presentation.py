"""Every answer in a notebook: a screen of text, a card, the command's document, a frame; and through a pickle."""

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import isabstract
from typing import Any

import pytest

import volvelle
from tests.conftest import ROOT
from volvelle.cli import run
from volvelle.presentable import Presentable
from volvelle.report.notebook.presentation import PRESENTATIONS
from volvelle.report.notebook.screen import COLUMNS, LINES


def _answers(folder: Any) -> Any:
    from tests.small_studies import finished, small_study  # noqa: PLC0415 - needs extras
    from volvelle.studies.answers.answers import answer  # noqa: PLC0415

    study = small_study()
    return answer(finished(study, folder), study)


def _inversion(folder: Any) -> Any:
    from tests.small_studies import finished, small_study  # noqa: PLC0415 - needs extras
    from volvelle.studies.answers.invert import invert  # noqa: PLC0415

    study = small_study()
    return invert(finished(study, folder), study, f"{study.objectives[0].name} minimal")


def _replayed(folder: Any) -> Any:
    from tests.trace_files import written  # noqa: PLC0415 - of one question

    folder.mkdir(exist_ok=True)
    return volvelle.replay(written(folder, "profile.json.gz"), on="dgx-h100/8")


ASKED: dict[str, Callable[[Any], Any]] = {
    "estimate": lambda _: volvelle.estimate("llama3-8b", on="dgx-h100/16", batch=64, tensor=2, tokens="1T"),
    "estimate without a speed": lambda _: volvelle.estimate("llama3-70b", on="dgx-h100/1024", batch=8),
    "plan": lambda _: volvelle.plan("llama3-8b", on="dgx-h100/16", batch=64, tensor=(1, 2), top=40, tokens="1T"),
    "plan that nothing fits": lambda _: volvelle.plan("llama3-70b", on="dgx-h100/8", batch=64, tensor=8, zero=1),
    "how many": lambda _: volvelle.how_many("llama3-8b", on="dgx-h100", tokens="1T", days=90, tensor=1, pipeline=1),
    "map": lambda _: volvelle.map("gpt2", on="dgx-h100/8", limit=2),
    "compare": lambda _: volvelle.compare("tp1", "tp2", "tp3", model="llama3-8b", on="dgx-h100/16", batch=64),
    "serve": lambda _: volvelle.serve("llama3-8b", on="dgx-h100/8", tp=2, batch=16),
    "serve under load": lambda _: volvelle.serve("llama3-8b", on="dgx-h100/8", tp=2, load="closed 8"),
    "serve what does not fit": lambda _: volvelle.serve("llama3-405b", on="dgx-h100/8"),
    "cost": lambda _: volvelle.cost(on="dgx-h100/64", step="2 s", tokens_per_step="4M", tokens="1T"),
    "scale": lambda _: volvelle.scale("llama3-8b", on="dgx-h100", first=8, last=16, batch=64, tensor=1, pipeline=1),
    "scale to what does not fit": lambda _: volvelle.scale("llama3-70b", on="dgx-h100", last=8, tensor=8, pipeline=1),
    "collective": lambda _: volvelle.collective("all-reduce", "1 GB", on="dgx-h100/64"),
    "collective that is a ring": lambda _: volvelle.collective("all-gather", "1 GB", on="dgx-h100/8", algorithm="ring"),
    "replay": _replayed,
    "mpi": lambda _: volvelle.mpi([ROOT / "examples/mpi/traces/conjugate_gradient-4.csv.gz"]),
    "validate": lambda _: volvelle.validate("fft"),
    "explore": _answers,
    "explore backwards": _inversion,
}


@pytest.fixture(scope="module", params=ASKED)
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    if "explore" in request.param:
        pytest.importorskip("duckdb")
        pytest.importorskip("pyarrow")
    return ASKED[request.param](tmp_path_factory.mktemp("asked") / "results")


def test_it_fits_a_screen(asked: Any) -> None:
    lines = repr(asked).split("\n")
    assert 2 < len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS
    assert not any(line != line.rstrip() for line in lines)


def test_its_card_is_one_whole_element_without_a_script(asked: Any) -> None:
    text = asked._repr_html_()
    assert text.startswith('<div class="volvelle">')
    assert text.count("<div") == text.count("</div>")
    assert "<script" not in text
    assert "http" not in text.replace("http://www.w3.org", "")
    assert "</table>" in text or "none of them fits" in text


def test_its_document_is_json_of_its_verb(asked: Any) -> None:
    found = asked.to_dict()
    assert found["version"] == 2
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_its_rows_are_a_frame_of_any_library(asked: Any) -> None:
    pytest.importorskip("narwhals")
    pytest.importorskip("pandas")
    pandas, arrow = asked.to_frame(), asked.to_frame("pyarrow")
    assert type(pandas).__module__.startswith("pandas")
    assert arrow.num_rows == len(pandas)
    assert list(arrow.column_names) == list(pandas.columns)


def test_it_survives_pickling_and_copying(asked: Any) -> None:
    found = asked.to_dict()
    for again in (pickle.loads(pickle.dumps(asked)), copy.copy(asked), copy.deepcopy(asked)):
        assert type(again) is type(asked)
        assert again.to_dict() == found
        assert repr(again) == repr(asked)


def classes_of_answers(base: type) -> Iterator[type]:
    for kind in base.__subclasses__():
        if not isabstract(kind):
            yield kind
        yield from classes_of_answers(kind)


def test_every_presentable_class_has_its_presentation() -> None:
    public = set(volvelle.__all__)  # which loads them all
    known = {f"{kind.__module__}.{kind.__qualname__}" for kind in classes_of_answers(Presentable)}
    assert known == set(PRESENTATIONS)
    for place in PRESENTATIONS:
        module, _, name = place.rpartition(".")
        assert getattr(import_module(module), name).__name__ in public


@pytest.mark.parametrize(
    ("words", "ask"),
    [
        (
            "estimate llama3-8b --on dgx-h100/16 --batch 64 --tp 2 --json",
            lambda: volvelle.estimate("llama3-8b", on="dgx-h100/16", batch=64, tensor=2),
        ),
        ("cost --on dgx-h100/64 --json", lambda: volvelle.cost(on="dgx-h100/64")),
        (
            "plan llama3-8b --on dgx-h100 --tokens 1T --days 90 --tp 1 --pp 1 --json",
            lambda: volvelle.how_many("llama3-8b", on="dgx-h100", tokens="1T", days=90, tensor=1, pipeline=1),
        ),
        ("validate fft --json", lambda: volvelle.validate("fft")),
        (
            "serve llama3-8b --on dgx-h100/8 --tp 2 --batch 16 --json",
            lambda: volvelle.serve("llama3-8b", on="dgx-h100/8", tp=2, batch=16),
        ),
    ],
)
def test_the_document_is_the_one_the_command_prints(
    words: str, ask: Callable[[], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words.split()) == 0
    assert json.loads(capsys.readouterr().out) == ask().to_dict()
