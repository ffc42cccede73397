"""The verb ``explore``, as a person types it."""

import json
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


def test_a_study_is_run_once_and_asked_again(tmp_path: Path) -> None:
    words = (written(tmp_path), "--out", str(tmp_path / "out"))
    first, second = explored(*words), explored(*words)
    assert first["ran"]["rows"] == 6
    assert second["ran"]["rows"] == 0
    assert first["best"] == second["best"]
    assert {Path(file).name for file in first["files"]} >= {"report.html", "front.csv"}


def test_the_cheapest_machine_for_a_deadline_is_found(tmp_path: Path) -> None:
    words = (written(tmp_path), "--out", str(tmp_path / "out"))
    days = explored(*words)["best"]["design"]["measures"]["days"]
    found = explored(*words, "--invert", f"days <= {days * 1.001} and machine_usd minimal")
    assert found["design"]["measures"]["days"] <= days * 1.001


def test_a_requirement_that_nothing_meets_is_answered_with_the_nearest(tmp_path: Path) -> None:
    words = (written(tmp_path), "--out", str(tmp_path / "out"))
    found = volvelle("explore", *words, "--invert", "days <= 0.01 and machine_usd minimal")
    assert found.returncode == 1
    assert "days" in found.stdout


def test_another_study_is_not_mixed_into_an_old_folder(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    explored(written(tmp_path), "--out", out)
    found = volvelle("explore", written(tmp_path, objectives=["days"]), "--out", out)
    assert found.returncode == 2
    assert "another study" in found.stderr
    assert "objectives" in found.stderr
    explored(written(tmp_path, objectives=["days"]), "--out", out, "--fresh")


def test_the_compiled_path_gives_the_same_answer(tmp_path: Path) -> None:
    plain, fast = (
        explored(written(tmp_path), "--out", str(tmp_path / name), *more)
        for name, more in (("plain", ()), ("fast", ("--compiled",)))
    )
    for name, value in plain["best"]["design"]["measures"].items():
        assert fast["best"]["design"]["measures"][name] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("file", sorted(STUDIES.glob("*.yaml")), ids=lambda file: file.stem)
def test_every_example_can_be_read(file: Path) -> None:
    assert len(read_study(file).grid) > 1


def test_a_file_that_is_no_study_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "odd.yaml").write_text("- 1\n- 2\n")
    for words, said in (
        ((str(tmp_path / "none.yaml"),), "does not exist"),
        ((str(tmp_path / "odd.yaml"),), "odd.yaml"),
    ):
        found = volvelle("explore", *words)
        assert found.returncode == 2
        assert said in found.stderr
