"""An application in one folder and one line of the registry has every verb, JSON and a page."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from volvelle.applications.measured_table import CalibrationRows
from volvelle.applications.registry import APPLICATIONS, application
from volvelle.catalogue import Catalogue
from volvelle.cli import _volvelle
from volvelle.errors import DescriptionError, UnknownNameError
from volvelle.report.documents.document import VERSION

FOLDER = Path(__file__).parents[2] / "data" / "stream_triad"


@pytest.fixture
def stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FOLDER, tmp_path / "stream_triad_of_ones_own")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(APPLICATIONS, "stream", "stream_triad_of_ones_own:STREAM")


def run(*words: str) -> str:
    done = CliRunner().invoke(_volvelle, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def answer(*words: str) -> dict[str, Any]:
    found = json.loads(run(*words, "--json"))
    assert isinstance(found, dict)
    return found


def test_the_folder_is_small() -> None:
    lines = sum(len(file.read_text("utf-8").splitlines()) for file in FOLDER.glob("*.py"))
    assert lines <= 150


@pytest.mark.usefixtures("stream")
def test_it_is_validated_like_any_other(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    shown = run("validate", "stream", "--html", str(page))
    assert "heldout rows by publication" in shown
    assert "S3" in page.read_text("utf-8")
    found = answer("validate", "stream")
    assert (found["version"], found["verb"]) == (VERSION, "validate")
    assert found["application"] == "stream"
    assert (found["overall"]["heldout"]["rows"], found["overall"]["heldout"]["skipped"]) == (1, 1)
    assert "abacus" in found["skipped"][0]["reason"]
    assert "| made-up | 2 | 0 |" in run("validate", "stream", "--markdown")


@pytest.mark.usefixtures("stream")
def test_it_is_fitted_to_its_calibration_rows_alone() -> None:
    (constant,) = answer("calibrate", "stream")["constants"]
    memory = Catalogue().chip("a100-sxm4-80gb").memory
    assert constant["fitted"] == pytest.approx(1733e9 / float(memory.rate), rel=1e-3)
    assert "sustained" in run("calibrate", "stream")


@pytest.mark.usefixtures("stream")
def test_it_is_planned_with_options_of_its_own() -> None:
    found = answer("plan", "stream", "--on", "dgx-a100/8", "--elements", "2e9", "--top", "3")
    assert found["considered"] == 8
    assert len(found["plans"]) == 3
    assert found["asked"] == {"elements": 2e9}
    figures = found["plans"][0]["figures"]
    assert figures["bandwidth"]["low"] < figures["bandwidth"]["value"] < figures["bandwidth"]["high"]
    assert "STREAM triad on dgx-a100/8" in run("plan", "stream", "--on", "dgx-a100/8")


@pytest.mark.usefixtures("stream")
def test_every_verb_lists_it() -> None:
    assert "STREAM triad against published runs." in run("validate", "--help")
    assert "stream" in run("calibrate", "--help")
    assert "stream" in run("plan", "--help")


@pytest.mark.parametrize("word", sorted(APPLICATIONS))
def test_no_fit_can_be_handed_a_held_out_row(word: str) -> None:
    held = tuple(row for row in application(word).rows().rows if row.head.split != "calibration")
    assert held
    with pytest.raises(DescriptionError, match="calibration rows only"):
        CalibrationRows(held[:1])
    with pytest.raises(DescriptionError, match="calibration rows only"):
        application(word).fit(list(held), Catalogue())  # type: ignore[arg-type]


def test_an_unknown_application_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="application"):
        application("abacus")
