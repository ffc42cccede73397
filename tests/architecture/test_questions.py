"""An option is declared once; one line in a question is found on every surface."""

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import ROOT
from volvelle.questions import QUESTIONS, question_of_command

SOURCE = ROOT / "src" / "volvelle"
DECLARING = ("Option", "choice", "row")
"""Calls whose first argument, or `flag`, declares the flag of an option."""
LINE = """    tail_share: float | None = option(
        Option("--tail-share", "Share of slow requests.", kind=Number(SHARE)), default=None
    )
"""
FOUND = """
import inspect, io, json, sys
from contextlib import redirect_stdout
import volvelle
from volvelle.cli import run
from volvelle.interchange.study_file import read_study_form
from volvelle.questions.serving import ServeQuestion

def printed(*words):
    out = io.StringIO()
    with redirect_stdout(out):
        assert run(words) == 0
    return out.getvalue()

sys.path.insert(0, sys.argv[1])
from reference_pages import reference_pages
asked = ServeQuestion("llama3-8b", on="dgx-h100/1", tail_share="5 %")
print(json.dumps({
    "command": "--tail-share" in printed("serve", "--help"),
    "python": str(inspect.signature(volvelle.serve).parameters["tail_share"]),
    "help": "Share of slow requests." in volvelle.serve.__doc__,
    "schema": ServeQuestion.schema()["properties"]["tail_share"]["anyOf"][0]["anyOf"][0]["maximum"],
    "reference": "--tail-share" in reference_pages()["command.md"],
    "typed": asked.command,
    "study": read_study_form(
        {
            "name": "s",
            "workloads": [{"serve": "llama3-8b", "tail_share": "5 %"}],
            "system": "dgx-h100/1",
            "axes": {"workload.tail_share": ["1 %", "5 %"]},
        }
    ).workloads[0].question["tail_share"],
}))
"""


def declared_flags() -> Counter[str]:
    """Flags that the source declares, with how often."""
    flags: Counter[str] = Counter()
    for file in SOURCE.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in DECLARING:
                continue
            stated = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "flag")]
            flags.update(
                one.value
                for one in stated
                if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.startswith("--")
            )
    return flags


@pytest.mark.parametrize("command", QUESTIONS)
def test_every_option_has_a_short_help_that_is_a_sentence(command: str) -> None:
    for part in question_of_command(command).options():
        if part.in_command:
            assert re.match(r"[A-Z0-9\'a-z]", part.help), part.flag
            assert part.help.endswith("."), f"{command} {part.flag}: {part.help}"


@pytest.mark.parametrize("command", QUESTIONS)
def test_a_question_has_a_summary_and_two_examples(command: str) -> None:
    question = question_of_command(command)
    assert question.summary.endswith(".")
    assert len(question.examples) == 2
    assert question.__doc__


def test_one_line_in_a_question_is_an_option_on_every_surface(tmp_path: Path) -> None:
    """The source of the question is patched, and a new process finds the option everywhere."""
    package = tmp_path / "volvelle"
    package.mkdir()
    for entry in SOURCE.iterdir():
        if entry.name not in ("questions", "__pycache__"):
            (package / entry.name).symlink_to(entry)
    (package / "questions").mkdir()
    for file in (SOURCE / "questions").glob("*.py"):
        (package / "questions" / file.name).write_text(file.read_text("utf-8"), "utf-8")
    serving = package / "questions" / "serving.py"
    text = serving.read_text("utf-8")
    start = text.index("class ServeQuestion(")
    place = text.index("    model: ", start)
    serving.write_text(text[:place] + LINE + text[place:], "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-c", FOUND, str(ROOT / "scripts")],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found == {
        "command": True,
        "python": "tail_share: str | float | None = None",
        "help": True,
        "schema": 1.0,
        "reference": True,
        "typed": "volvelle serve llama3-8b --tail-share '5 %' --on dgx-h100/1",
        "study": "5 %",
    }


def test_every_flag_is_declared_once() -> None:
    """A flag that several commands have is one option, which each question may word anew."""
    flags = declared_flags()
    assert len(flags) > 150
    assert [flag for flag, count in flags.items() if count > 1] == []


def test_no_command_declares_an_option_by_hand() -> None:
    by_hand = [
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        if re.search(r"click\.(option|argument)\(", file.read_text("utf-8"))
    ]
    assert by_hand == []
