"""A calibration as a person makes and uses it: logs in, a file out, and that file in place of software."""

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.own_logs import megatron_log, written
from volvelle.cli import run

LOG = str(ROOT / "examples" / "logs" / "nemo-llama3-8b.log")
QUESTION = ["estimate", "llama3-8b", "--on", "dgx-h100/8", "--batch", "128", "--cp", "2", "--zero", "2", "--json"]


def seconds(capsys: pytest.CaptureFixture[str], *more: str) -> float:
    assert run([*QUESTION, *more]) == 0
    return float(json.loads(capsys.readouterr().out)["seconds"])


def test_a_published_log_makes_a_file_that_moves_an_estimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = str(tmp_path / "mine.yaml")
    shipped = seconds(capsys, "--stack", "nemo")
    learned = ["calibrate", "from", LOG, "--on", "dgx-h100/8", "--model", "llama3-8b", "--cp", "2", "--save", mine]
    assert run(learned) == 0
    assert "one run: no other can confirm it" in " ".join(capsys.readouterr().out.split())
    assert 12.2 < seconds(capsys, "--calibrated", mine) < shipped
    assert run([*QUESTION, "--stack", "nemo", "--calibrated", mine]) == 2
    assert "states its software" in capsys.readouterr().err
    for element, told in (("bf16", "what runs of one's own leave open"), ("fp8", "Runs of one's own are in bf16")):
        assert run([*QUESTION[:-1], "--element", element, "--calibrated", mine]) == 0
        assert told in " ".join(capsys.readouterr().out.split())


def test_what_was_refused_is_listed_for_people_and_for_machines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = megatron_log(3.0).replace("(ms): 3003.0", "(ms): nan", 1)
    (file,) = written(tmp_path, text)
    line = 1 + text.split("\n").index(next(line for line in text.split("\n") if "(ms): nan" in line))
    asked = ["calibrate", "from", str(file), "--on", "dgx-h100/8"]
    assert run(asked) == 0
    assert f"refused: run0.log, line {line}" in capsys.readouterr().out
    assert run([*asked, "--json"]) == 0
    assert [one["line"] for one in json.loads(capsys.readouterr().out)["refused"]] == [line]


def test_a_log_that_is_none_is_an_error_of_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("dear diary\n", "utf-8")
    assert run(["calibrate", "from", str(file), "--on", "dgx-h100/8"]) == 2
    assert "notes.txt, line 1" in capsys.readouterr().err


def test_what_ran_is_headed_as_a_step_and_not_as_one_that_cannot_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, shape = str(tmp_path / "mine.yaml"), {"micro_batch_size": 5, "global_batch_size": 80, "seq_length": 4480}
    (file,) = written(tmp_path, megatron_log(9.0, **shape))
    assert run(["calibrate", "from", str(file), "--on", "dgx-h100/8", "--save", mine]) == 0
    layout = ["--tp", "2", "--micro-batch", "5", "--sequence-parallel", "--zero", "1"]
    asked = ["estimate", "llama2-7b", "--on", "dgx-h100/8", "--batch", "80", "--seq", "4480", *layout]
    capsys.readouterr()
    run([*asked, "--stack", "megatron-core"])
    assert "cannot run" in capsys.readouterr().out
    assert run([*asked, "--calibrated", mine]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "cannot run" not in said
    assert "by prediction, and ran" in said.replace("│ │ ", "")
    assert run([*asked, "--calibrated", mine, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fits_probability"] > 0.99
