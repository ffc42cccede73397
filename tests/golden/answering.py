"""Answers questions with whichever volvelle stands first on the path, and writes them as JSON.

It stands alone, so that the package of any commit can be asked: ``python answering.py QUESTIONS.json ANSWERS.json``,
where the questions are ``{name: [argument, …]}`` and ``{tmp}`` in an argument is a fresh folder.
"""

import contextlib
import io
import json
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def answer(words: list[str]) -> dict[str, Any]:
    """What the command says to these words: its status, and its JSON or text."""
    from volvelle.cli import main  # noqa: PLC0415 — the package asked is chosen by the path

    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        sys.argv = ["volvelle", *(word.replace("{tmp}", f"{folder}/results") for word in words)]
        status: Any = 0
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main()
        except SystemExit as stop:
            status = stop.code or 0
        except Exception as error:
            return {"exit": 3, "said": f"{type(error).__name__}: {error}"}
    text = out.getvalue()
    try:
        return {"exit": status, "document": json.loads(text)}
    except ValueError:
        return {"exit": status, "said": (text or err.getvalue()).strip()}


def _named(item: tuple[str, list[str]]) -> tuple[str, dict[str, Any], float]:
    start = time.perf_counter()
    return item[0], answer(item[1]), time.perf_counter() - start


def main() -> None:
    """Answer the questions of one file into another, two at a time."""
    questions = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    answers = {}
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=40) as pool:
        for done, (name, said, seconds) in enumerate(pool.imap_unordered(_named, questions.items()), start=1):
            answers[name] = said
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{done} of {len(questions)}  {name:.50} ({seconds:.1f} s)\033[K")
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    Path(sys.argv[2]).write_text(json.dumps({name: answers[name] for name in questions}), "utf-8")


if __name__ == "__main__":
    main()
