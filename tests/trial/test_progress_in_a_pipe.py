"""A long command says in a pipe what it is doing, and keeps its answer clean."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.everyday.asking import ask
from volvelle.cli import waiting

_ROOT = Path(__file__).parents[2]
_COMMAND = (sys.executable, "-c", "from volvelle.cli import main; main()")


def _run(*words: str, first: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, with pipes; `first` is the time until the first line."""
    environment = {**os.environ, "VOLVELLE_PROGRESS": first, "COLUMNS": "100"}
    return subprocess.run(
        (*_COMMAND, *words), capture_output=True, text=True, encoding="utf-8", check=False, env=environment, cwd=_ROOT
    )


def test_after_two_seconds_a_line_says_what_is_done_and_how_long_it_took() -> None:
    words = ("plan", "llama3-405b", "--on", "dgx-h100", "--tokens", "15.6T", "--days", "50", "--batch", "2048")
    done = _run(*words, "--seq", "8192", "--pp", "16", "--json", first="")
    lines = [re.fullmatch(r"volvelle plan: (.+), (\d+) s", line) for line in done.stderr.splitlines()]
    seconds = [int(line[2]) for line in lines if line is not None]
    assert seconds, done.stderr
    assert seconds[0] >= 2
    assert seconds == sorted(seconds)
    json.loads(done.stdout)


@pytest.mark.parametrize(
    "words",
    [
        ("map", "examples/graphs/state_space.yaml", "--on", "dgx-h100/8"),
        ("validate", "hpcg"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_prints_lines(words: tuple[str, ...]) -> None:
    done = _run(*words, first="0.2")
    assert any(line.startswith(f"volvelle {words[0]}: ") for line in done.stderr.splitlines()), done.stderr
    assert f"volvelle {words[0]}: " not in done.stdout


@pytest.mark.parametrize(
    ("words", "noted"),
    [
        (("plan", "llama3-8b", "--on", "dgx-h100/8", "--batch", "64"), "layouts timed"),
        (("plan", "llama3-8b", "--on", "dgx-h100", "--batch", "64", "--tokens", "1T", "--days", "90"), "sizes timed"),
        (("map", "examples/graphs/mlp.yaml", "--on", "dgx-h100/8"), "searching for the best mapping"),
        (("compare", "dgx-h100/8", "dgx-a100/8", "--model", "llama3-8b", "--batch", "64"), "comparing 2 alternatives"),
        (("why-unsure", "llama3-8b", "--on", "dgx-h100/8", "--batch", "64"), "sampling every uncertain number"),
        (("crosscheck", "llama3-8b", "--on", "dgx-h100/8", "--batch", "64"), "timing the step by several estimators"),
        (("job", "llama3-8b", "--on", "dgx-h100/8", "--tokens", "1B", "--batch", "64"), "timing the step"),
        (("validate", "stencil"), "predicting rows"),
        (("reproduce", "pitfalls"), "computing the figures"),
        (("replay", "examples/traces/model.onnx", "--on", "dgx-h100/8"), "replaying the trace"),
    ],
    ids=lambda words: " ".join(words[:2]) if isinstance(words, tuple) else "",
)
def test_every_long_command_notes_what_it_does(
    words: tuple[str, ...], noted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_words: list[str] = []
    monkeypatch.setattr(waiting._NOW.__class__, "note", lambda self, words: all_words.append(words))
    reply = ask(tmp_path, *(str(_ROOT / word) if word.startswith("examples/") else word for word in words))
    assert reply.status in (0, 1), reply.err
    assert any(noted in one for one in all_words), all_words


def test_no_line_is_printed_where_none_is_wanted() -> None:
    done = _run("why-unsure", "llama3-8b", "--on", "dgx-h100/8", "--batch", "64", "--json", first="never")
    assert done.stderr == ""
    json.loads(done.stdout)
