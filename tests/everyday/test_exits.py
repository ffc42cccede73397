"""How the command ends: a status that says what happened, and one line where there is no answer."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.conftest import ROOT
from tests.everyday.asking import ask
from volvelle.cli import exits

QUESTION = ("estimate", "gpt2", "--on", "dgx-h100/8", "--batch", "64")


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line of bash in which ``./volvelle`` is the command."""
    script = folder / "volvelle"
    script.write_text(f'#!/bin/bash\nexec {sys.executable} -c "from volvelle.cli import main; main()" "$@"\n')
    script.chmod(0o755)
    known = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "NO_COLOR": "1",
        "VOLVELLE_PROGRESS": "never",
        **environment,
    }
    words = ["bash", "-o", "pipefail", "-c", line]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=known, cwd=folder)


def test_an_answer_ends_with_status_0_and_one_that_cannot_run_with_1(tmp_path: Path) -> None:
    assert ask(tmp_path, *QUESTION).status == 0
    assert ask(tmp_path, "estimate", "llama3-405b", "--on", "dgx-h100/8", "--batch", "8").status == 1
    assert ask(tmp_path, "plan", "llama3-405b", "--on", "dgx-h100/8", "--batch", "8").status == 1


def test_a_defect_ends_with_status_3_and_says_how_to_report_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr("volvelle.cli.cost.cost.callback", broken)
    reply = ask(tmp_path, "cost", "--on", "dgx-h100/64")
    assert (reply.status, len(reply.err.splitlines())) == (3, 1)
    assert "defect: ZeroDivisionError" in reply.err
    assert "VOLVELLE_DEBUG=1" in reply.err
    assert "Traceback" in ask(tmp_path, "cost", "--on", "dgx-h100/64", VOLVELLE_DEBUG="1").err


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort(), exits.Interrupted("7 of 9 points are kept")])
def test_an_interruption_ends_with_status_130_and_says_what_is_kept(
    error: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    def pressed() -> None:
        raise error

    assert exits.exit_status(pressed) == 130
    said = capsys.readouterr().err
    assert ("7 of 9 points are kept" if isinstance(error, exits.Interrupted) else "nothing was written") in said


def test_an_interrupted_study_says_how_many_points_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "study.yaml").write_text(
        "name: two\nsystem: dgx-h100/8\nworkloads: [{train: gpt2, batch: 64}]\nmapping: {policy: fixed}\n"
        "axes: {chip.memory.rate: [1 TB/s, 2 TB/s, 3 TB/s]}\n"
    )
    from volvelle.studies.sweep import local  # noqa: PLC0415 - only here

    whole = local.run_chunk
    done = []

    def second(job: object) -> object:
        if done:
            raise KeyboardInterrupt
        done.append(job)
        return whole(job)  # type: ignore[arg-type]

    monkeypatch.setattr(local, "run_chunk", second)
    reply = ask(tmp_path, "explore", "study.yaml", "--workers", "1", "--chunk", "1")
    assert reply.status == 130
    assert "1 of 3 points are done and kept in 'study.results'; the same command goes on from there" in reply.last
    monkeypatch.setattr(local, "run_chunk", whole)
    assert ask(tmp_path, "explore", "study.yaml", "--workers", "1", "--chunk", "1").status == 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("more", [(), ("--json",), ("--detail",)])
def test_a_terminal_without_our_signs_shows_others(tmp_path: Path, encoding: str, more: tuple[str, ...]) -> None:
    reply = ask(tmp_path, *QUESTION, *more, encoding=encoding)
    assert reply.status == 0
    assert "?" not in reply.out.replace("?}", "")


def test_a_c_locale_is_no_reason_to_end(tmp_path: Path) -> None:
    words = f"./volvelle {' '.join(QUESTION)}"
    assert shell(words, tmp_path, LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0").returncode == 0
    assert shell(words, tmp_path, PYTHONIOENCODING="ascii").returncode == 0


def test_a_reader_that_leaves_ends_the_command_quietly(tmp_path: Path) -> None:
    done = shell(f"./volvelle {' '.join(QUESTION)} --json | head -1", tmp_path)
    assert done.returncode in (0, exits.CLOSED_PIPE)
    assert (done.stdout, done.stderr) == ("{\n", "")
    text = shell(f"./volvelle {' '.join(QUESTION)} | true", tmp_path)
    assert text.returncode in (0, exits.CLOSED_PIPE)
    assert text.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk here")
@pytest.mark.parametrize("more", ["", "--json"])
def test_a_full_disk_is_told_in_one_line(tmp_path: Path, more: str) -> None:
    done = shell(f"./volvelle {' '.join(QUESTION)} {more} > /dev/full", tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip() == "error: the output cannot be read or written: No space left on device"


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        ("plan hpl --on dgx-a100/128 --emit missing-dir/HPL.dat", "--emit"),
        ("validate hpl --html missing-dir/page.html", "--html"),
        ("validate hpl --plot missing-dir/page.svg", "--plot"),
    ],
)
def test_a_file_that_cannot_be_written_is_told_before_the_answer(tmp_path: Path, words: str, flag: str) -> None:
    reply = ask(tmp_path, *words.split())
    assert (reply.status, reply.out) == (2, "")
    assert flag in reply.last
    assert "cannot be written" in reply.last


def test_a_folder_that_cannot_be_written_is_told_before_the_search(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for words in (("map", "gpt2", "--on", "dgx-h100/8"), ("reproduce", "comet")):
        reply = ask(tmp_path, *words, "--out", "file/inside")
        assert (reply.status, reply.out) == (2, "")
        assert "'file/inside' cannot be written" in reply.last
