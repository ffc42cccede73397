"""Ask two commits the commands that users quoted, and print both answers as a Markdown table.

``scripts/trial OLD NEW`` (NEW may be ``.``, the files as they are) runs every command of ``questions.yaml`` in its own
process. Both commits read today's ``tests`` and ``examples``. Answers are kept in ``.golden/`` by commit.
"""

import argparse
import fnmatch
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / ".golden"
LONGEST = 1200.0
"""Seconds after which a command is stopped."""
WIDEST = 160
"""Characters of a line in the table."""
_RUN = "import sys; from volvelle.cli import main; sys.argv[0] = 'volvelle'; main()"


@dataclass(frozen=True)
class Answer:
    """The output of one command, with its exit status and processor time."""

    words: str
    status: int
    out: str
    seconds: float


def answer(words: str, source: Path) -> Answer:
    """Run one command with the package in `source`."""
    start = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(source), "COLUMNS": "120", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as folder:
        for entry in ("tests", "examples"):
            (Path(folder) / entry).symlink_to(ROOT / entry)
        try:
            done = subprocess.run(
                [sys.executable, "-c", _RUN, *shlex.split(words)],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=LONGEST,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return Answer(words, -1, f"stopped after {LONGEST:.0f} s", LONGEST)
    return Answer(words, done.returncode, done.stdout + done.stderr, time.perf_counter() - start)


def answers(revision: str, questions: dict[str, dict[str, Any]]) -> dict[str, Answer]:
    """Return the answers of one commit; the files as they are when `revision` is a dot."""
    name = "now" if revision == "." else _git("rev-parse", "--short", revision)
    file = KEPT / f"trial-{name}.json"
    kept = {key: Answer(**value) for key, value in json.loads(file.read_text("utf-8")).items()} if file.exists() else {}
    missing = [key for key, question in questions.items() if key not in kept or kept[key].words != question["ask"]]
    if revision == ".":
        missing = list(questions)
    with tempfile.TemporaryDirectory() as folder:
        source = ROOT / "src"
        if revision != ".":
            archive = subprocess.run(["git", "archive", name, "src"], cwd=ROOT, check=True, capture_output=True)
            subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
            source = Path(folder) / "src"
        KEPT.mkdir(exist_ok=True)
        with ThreadPoolExecutor(2) as pool:
            asked = ((key, pool.submit(answer, questions[key]["ask"], source)) for key in missing)
            for key, future in list(asked):
                kept[key] = future.result()
                print(f"{name}: {key}, {kept[key].seconds:.1f} s", file=sys.stderr, flush=True)
                file.write_text(json.dumps({one: asdict(value) for one, value in kept.items()}), "utf-8")
    return kept


def shown(found: Answer, patterns: list[str]) -> str:
    """Return the lines of an answer that the table shows, joined for one cell."""
    lines = [line for line in found.out.splitlines() if line.strip()]
    matching = (
        [line for line in lines if any(re.search(pattern, line) for pattern in patterns)] if patterns else lines[:1]
    )
    cells = [" ".join(line.split())[:WIDEST].replace("|", "\\|") for line in matching[:4]]
    status = "" if found.status == 0 else f" (exit {found.status})"
    return "<br>".join(cells or ["–"]) + status


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    """Print the table of two commits."""
    parser = argparse.ArgumentParser(prog="scripts/trial", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("old", help="a commit")
    parser.add_argument("new", nargs="?", default=".", help="a commit, or . for the files as they are (the default)")
    parser.add_argument("--only", default="*", help="questions whose names match, like 'serving/*'")
    given = parser.parse_args()
    groups = YAML(typ="safe", pure=True).load((Path(__file__).parent / "questions.yaml").read_text("utf-8"))
    every = {f"{group}/{name}": question for group, named in groups.items() for name, question in named.items()}
    questions = {name: question for name, question in every.items() if fnmatch.fnmatch(name, given.only)}
    old, new = answers(given.old, questions), answers(given.new, questions)
    print("| command | before | after |\n| --- | --- | --- |")
    for name, question in questions.items():
        patterns = question.get("show", [])
        print(f"| `{question['ask'] or 'volvelle'}` | {shown(old[name], patterns)} | {shown(new[name], patterns)} |")


if __name__ == "__main__":
    main()
