"""The verb ``explore``, as a person types it."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.conftest import ROOT
from tests.end_to_end.test_command import volvelle
from volvelle.studies.design_space.design_study import read_study

STUDIES = ROOT / "examples" / "studies"
SMALL = {
    "name": "small",
    "question": "Does memory matter?",
    "workloads": [{"train": "gpt3-175b", "batch": 1536, "tokens": 300_000_000_000}],
    "system": "dgx-a100/1024",
    "axes": {"chip.memory.rate": {"times": [0.5, 1, 2]}, "scale_out.rate": {"times": [1, 2]}},
    "mapping": {"policy": "fixed", "tensor": 8, "pipeline": 8},
    "objectives": ["days", "machine_usd"],
    "costs": {"model": "parts"},
}


def written(folder: Path, **changes: Any) -> str:
    file = folder / "small.yaml"
    with file.open("w", encoding="utf-8") as stream:
        YAML(typ="safe").dump({**SMALL, **changes}, stream)
    return str(file)


def explored(*words: str, code: int = 0) -> dict[str, Any]:
    found = volvelle("explore", *words, "--json")
    assert found.returncode == code, found.stderr
    return json.loads(found.stdout)  # type: ignore[no-any-return]


def test_a_dry_run_says_the_size_and_computes_nothing(tmp_path: Path) -> None:
    found = explored(written(tmp_path), "--dry-run", "--out", str(tmp_path / "out"))
    assert found["points"] == 6
    assert found["expected_seconds"] > 0
    assert not (tmp_path / "out").exists()


@dataclass(frozen=True)
class Explored:
    """A study that was run, and what it answered."""

    folder: Path
    answer: dict[str, Any]

    @property
    def words(self) -> tuple[str, ...]:
        return written(self.folder), "--out", str(self.folder / "out")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Explored:
    folder = tmp_path_factory.mktemp("small")
    return Explored(folder, explored(written(folder), "--out", str(folder / "out")))


def test_a_study_is_run_once_and_asked_again(small: Explored) -> None:
    again = explored(*small.words)
    assert small.answer["ran"]["rows"] == 6
    assert again["ran"]["rows"] == 0
    assert small.answer["best"] == again["best"]
    assert {Path(file).name for file in small.answer["files"]} >= {"report.html", "front.csv"}


def test_the_cheapest_machine_for_a_deadline_is_found(small: Explored) -> None:
    days = small.answer["best"]["design"]["measures"]["days"]
    found = explored(*small.words, "--invert", f"days <= {days * 1.001} and machine_usd minimal")
    assert found["design"]["measures"]["days"] <= days * 1.001


def test_a_requirement_that_nothing_meets_is_answered_with_the_nearest(small: Explored) -> None:
    found = volvelle("explore", *small.words, "--invert", "days <= 0.01 and machine_usd minimal")
    assert found.returncode == 1
    assert "days" in found.stdout


@pytest.mark.long
def test_another_study_is_not_mixed_into_an_old_folder(small: Explored, tmp_path: Path) -> None:
    out = str(shutil.copytree(small.folder / "out", tmp_path / "out"))
    found = volvelle("explore", written(tmp_path, objectives=["days"]), "--out", out)
    assert found.returncode == 2
    assert "another study" in found.stderr
    assert "objectives" in found.stderr
    explored(written(tmp_path, objectives=["days"]), "--out", out, "--fresh")


@pytest.mark.long
def test_the_compiled_path_gives_the_same_answer(small: Explored, tmp_path: Path) -> None:
    fast = explored(written(tmp_path), "--out", str(tmp_path / "fast"), "--compiled")
    for name, value in small.answer["best"]["design"]["measures"].items():
        assert fast["best"]["design"]["measures"][name] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("file", sorted(STUDIES.rglob("*.yaml")), ids=lambda file: file.stem)
def test_every_example_can_be_read(file: Path) -> None:
    assert len(read_study(file, folders=(ROOT / "examples" / "comet_catalogue",)).grid) > 1


def test_a_file_that_is_no_study_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "odd.yaml").write_text("- 1\n- 2\n")
    for words, said in (
        ((str(tmp_path / "none.yaml"),), "does not exist"),
        ((str(tmp_path / "odd.yaml"),), "odd.yaml"),
    ):
        found = volvelle("explore", *words)
        assert found.returncode == 2
        assert said in found.stderr
