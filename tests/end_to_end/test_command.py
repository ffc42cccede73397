"""The command, run as a person runs it."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

QUESTION = ("estimate", "gpt3-175b", "--on", "dgx-a100/1024", "--tp", "8", "--pp", "8", "--batch", "1536")


def volvelle(*words: str, columns: int = 80) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).parent / "volvelle"
    environment = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"}
    return subprocess.run([str(command), *words], capture_output=True, text=True, check=False, env=environment)


def test_an_estimate_is_explained_within_eighty_columns() -> None:
    done = volvelle(*QUESTION)
    assert done.returncode == 0, done.stderr
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    for words in ("/step", "Where the time goes", "What the fullest rank holds", "Inputs and sources", "Laws", "MFU"):
        assert words in done.stdout
    assert "…" not in done.stdout.split("What the fullest")[0].split("Where the time goes")[1], "a name was cut"


def test_json_follows_its_published_schema() -> None:
    schema = json.loads(volvelle("schema", "estimate").stdout)
    for more in ((), ("--dp", "3"), ("--recompute", "none", "--zero", "0", "--micro-batch", "8", "--pp", "1")):
        done = volvelle(*QUESTION, "--json", *more)
        found = json.loads(done.stdout)
        jsonschema.validate(found, schema)
        assert done.returncode == (0 if found["feasible"] else 1)
        if {violation["name"] for violation in found["violations"]} - {"memory"}:  # there is no such layout
            assert found["seconds"] is None
            continue
        exposed = sum(line["seconds"] for line in found["contributions"] if line["exposed"])
        assert exposed == pytest.approx(found["seconds"])


def test_text_and_json_say_the_same() -> None:
    seconds = json.loads(volvelle(*QUESTION, "--json").stdout)["seconds"]
    assert f"{seconds:.1f} s/step" in volvelle(*QUESTION).stdout


def test_what_cannot_run_is_answered_with_cures_and_status_one() -> None:
    done = volvelle("estimate", "llama3-405b", "--on", "dgx-h100/16", "--tp", "8", "--batch", "8")
    assert done.returncode == 1
    assert "why it cannot run" in done.stdout
    assert "fix: " in done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("estimate", "gpt3", "--on", "dgx-a100/8", "--batch", "8"), "did you mean 'gpt3-175b'"),
        (("estimate", "gpt2", "--on", "dgx-a101", "--batch", "8"), "did you mean 'dgx-a100'"),
        (("estimate", "gpt2", "--on", "dgx-a100/8", "--batch", "8", "--tp", "16"), "has 8; --tp "),
        (
            ("estimate", "gpt2", "--on", "dgx-a100/8", "--batch", "8", "--element", "fp4"),
            "no dense matrix rate for fp4",
        ),
        (("estimate", "gpt2", "--on", "dgx-a100/8", "--batch", "8", "--catalogue", "/nowhere"), "does not exist"),
        (("estimate", "gpt2", "--on", "dgx-a100/8"), "--batch"),
        (("catalogue", "chips", "h1000"), "did you mean"),
        (("estimat",), "No such command"),
        (("estimate", "gpt2", "--on", "dgx-a100/8", "--batch", "8", "--shard", "2"), "--zero-group"),
        (("estimate", "gpt2", "--on", "dgx-a100/8", "--batch", "8", "--whole-experts"), "--expert-tensor-parallel"),
        (("plan", "gpt2", "--on", "dgx-a100/8", "--relay-tokens"), "--hierarchical-dispatch"),
        (("cost", "--on", "dgx-a100/8", "--budget", "1e12"), "--tokens"),
        (("estimate", "gpt2", "--on", "dgx-a100/8", "--trace-format", "goal"), "goal was removed: use chakra"),
        (("estimate", "gpt2", "--on", "dgx-a100/8", "--trace-format", "smpi"), "smpi was removed: to compare"),
        (("job", "gpt2", "--on", "dgx-a100/8", "--age", "2"), "--age was removed: state today's failure rate"),
        (("job", "gpt2", "--on", "dgx-a100/8", "--wear", "old"), "--wear was removed: state today's failure rate"),
    ],
)
def test_a_question_that_makes_no_sense_gets_status_two_and_advice(words: tuple[str, ...], says: str) -> None:
    done = volvelle(*words)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "room", ["chips", *(pytest.param(room, marks=pytest.mark.long) for room in ("links", "clusters", "models"))]
)
def test_the_catalogue_shows_each_room_and_each_number_its_source(room: str) -> None:
    listed = volvelle("catalogue", room)
    assert listed.returncode == 0, listed.stderr
    assert max(len(line) for line in listed.stdout.splitlines()) <= 80
    names = json.loads(volvelle("catalogue", "--json").stdout)[room]
    assert all(name in listed.stdout for name in names)
    shown = volvelle("catalogue", room, names[0])
    assert shown.returncode == 0, shown.stderr
    assert "sources" in shown.stdout
    entry = json.loads(volvelle("catalogue", room, names[0], "--json").stdout)
    assert entry["name"] == names[0]


def test_help_names_every_verb() -> None:
    done = volvelle("--help")
    for verb in ("estimate", "catalogue", "schema", "validate", "calibrate"):
        assert verb in done.stdout


def test_a_step_is_replayed_and_its_timeline_written(tmp_path: Path) -> None:
    question = ("estimate", "gpt2", "--on", "dgx-a100/8", "--batch", "32", "--pp", "4", "--tp", "2")
    file = tmp_path / "step.json.gz"
    done = volvelle(*question, "--estimator", "event", "--timeline", str(file), "--json")
    assert done.returncode == 0, done.stderr
    assert "written:" in done.stderr
    answer = json.loads(done.stdout)
    assert answer["estimator"] == "event"
    written = json.loads(gzip.decompress(file.read_bytes()))
    assert written["otherData"]["step_seconds"] == pytest.approx(answer["seconds"])


def test_a_timeline_of_another_kind_is_refused_before_anything_is_printed(tmp_path: Path) -> None:
    done = volvelle("estimate", "gpt2", "--on", "dgx-a100/8", "--batch", "32", "--timeline", str(tmp_path / "step.png"))
    assert done.returncode == 2
    assert "written as .json or .json.gz, not as 'step.png'" in done.stderr
    assert not done.stdout
