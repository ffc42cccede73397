"""A study that fails before its first chunk leaves nothing behind, and says what to change."""

from pathlib import Path

import pytest

from tests.everyday.asking import ask
from volvelle.errors import MissingExtraError

STUDY = """
name: cheap
system: dgx-h100/64
workloads: [{{train: llama3-8b, batch: 64}}]
mapping: {{policy: fixed, tensor: 2}}
axes: {{system: [{systems}]}}
objectives: [machine_usd]
"""


def test_a_machine_without_a_price_is_told_before_the_trial(tmp_path: Path) -> None:
    (tmp_path / "cheap.yaml").write_text(STUDY.format(systems="dgx-a100, dgx-h100, gb200-nvl72"))
    reply = ask(tmp_path, "explore", "cheap.yaml", "--workers", "1")
    assert (reply.status, reply.out) == (2, "")
    assert "gb200-nvl72/64: no price of an accelerator 'gb200' is known" in reply.err
    assert "In a study, leave it out, or set costs: {model: list}" in reply.err
    assert not (tmp_path / "cheap.results").exists()
    (tmp_path / "cheap.yaml").write_text(STUDY.format(systems="dgx-a100, dgx-h100"))
    assert ask(tmp_path, "explore", "cheap.yaml", "--workers", "1").status == 0


def test_an_engine_that_is_missing_is_told_before_the_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingExtraError("results are written as Parquet by pyarrow, which is not installed")

    monkeypatch.setattr("volvelle.studies.sweep.query.check_engine", missing)
    (tmp_path / "cheap.yaml").write_text(STUDY.format(systems="dgx-a100"))
    reply = ask(tmp_path, "explore", "cheap.yaml")
    assert (reply.status, reply.out) == (2, "")
    assert "pyarrow" in reply.last
    assert not (tmp_path / "cheap.results").exists()


def test_a_study_that_fails_at_once_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(job: object) -> None:
        raise RuntimeError("by the test")

    monkeypatch.setattr("volvelle.studies.sweep.local.run_chunk", broken)
    (tmp_path / "cheap.yaml").write_text(STUDY.format(systems="dgx-a100"))
    assert ask(tmp_path, "explore", "cheap.yaml", "--workers", "1").status == 3
    assert not (tmp_path / "cheap.results").exists()


def test_another_study_is_told_by_its_first_difference(tmp_path: Path) -> None:
    for systems in ("dgx-a100, dgx-h100, dgx-h200", "dgx-a100, dgx-h100, dgx-b200"):
        (tmp_path / "cheap.yaml").write_text(STUDY.format(systems=systems))
        reply = ask(tmp_path, "explore", "cheap.yaml", "--workers", "1")
    assert reply.status == 2
    assert "holds results of another study (axes.system.values[2] was 'dgx-h200', is 'dgx-b200')" in reply.last


def test_a_requirement_that_names_nothing_known_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "cheap.yaml").write_text(STUDY.format(systems="dgx-a100"))
    reply = ask(tmp_path, "explore", "cheap.yaml", "--workers", "1", "--invert", "machine_usd<=36e6 and tco minimal")
    assert reply.status == 2
    assert "there is no measure or axis 'tco'" in reply.last
    assert reply.last.endswith("others come in when they are named under measures")
    assert ask(tmp_path, "explore", "cheap.yaml", "--invert", "days<=").status == 2
