"""Answers questions with whichever volvelle stands first on the path, and writes them as JSON.

The package of any commit can be asked: ``python -m tests.golden.answering QUESTIONS.json ANSWERS.json``, where the
questions are ``{name: [argument, …]}``. ``{tmp}`` in an argument is the beginning of a fresh path; what is written
there is part of the answer. Words like ``NAME=value`` at the start are the environment. ``python EXPRESSION`` asks
Python in place of the command.
"""

import contextlib
import csv
import gzip
import io
import json
import multiprocessing
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.golden.values import document_of, summarised

PYTHON = "python"
"""First word of a question that is an expression."""
_SETTING = re.compile(r"[A-Z_]+=")


def answer(words: Sequence[str]) -> dict[str, Any]:
    """What the command says to these words: its status, its JSON or text, and the files that it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        asked = [word.replace("{tmp}", f"{folder}/results") for word in words]
        if asked[0] == PYTHON:
            found = _of_python(asked[1], Path(folder, "results"))
        else:
            settings = [word for word in asked if _SETTING.match(word)]
            with _environment(settings):
                found = _of_the_command(asked[len(settings) :])
        written = _written(Path(folder))
        said: dict[str, Any] = json.loads(
            json.dumps(found | ({"written": written} if written else {})).replace(folder, "{tmp}")
        )
    return said


def _of_the_command(words: Sequence[str]) -> dict[str, Any]:
    from volvelle.cli import main  # noqa: PLC0415 — the package asked is chosen by the path

    sys.argv = ["volvelle", *words]
    status, out, err = _heard(main)
    if isinstance(status, Exception):
        return {"exit": 3, "said": f"{type(status).__name__}: {status}"}
    try:
        return {"exit": status, "document": json.loads(out)}
    except ValueError:
        return {"exit": status, "said": (out or err).strip()}


def _of_python(expression: str, folder: Path) -> dict[str, Any]:
    """The value of an expression: as the command, 2 says that the question made no sense, and 3 a defect."""
    import volvelle  # noqa: PLC0415 — the package asked is chosen by the path

    found: dict[str, Any] = {}

    def ask() -> None:
        value = eval(expression, {"volvelle": volvelle, "tmp": folder, "Path": Path})
        found["document"] = document_of(value)

    status, _, _ = _heard(ask)
    if isinstance(status, Exception):
        refused = isinstance(status, volvelle.VolvelleError)
        return {"exit": 2 if refused else 3, "said": f"{type(status).__name__}: {status}"}
    document = found["document"]
    return {"exit": 0, "document": document if isinstance(document, dict | list) else {"value": document}}


def _heard(ask: Callable[[], object]) -> tuple[Any, str, str]:
    """The status, or what was raised, and what was printed."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    status: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            ask()
        except SystemExit as stop:
            status = stop.code or 0
        except Exception as error:
            status = error
    printed, told = (stream.detach().getvalue().decode("utf-8") for stream in (out, err))
    return status, printed, told


@contextlib.contextmanager
def _environment(settings: Sequence[str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(setting.split("=", 1) for setting in settings)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _written(folder: Path) -> dict[str, Any]:
    """Every file below a folder by its name: the quantities in it, or that it is there."""
    return {
        str(file.relative_to(folder)): summarised(_read(file)) for file in sorted(folder.rglob("*")) if file.is_file()
    }


def _read(file: Path) -> Any:
    readers: dict[str, Callable[[str], Any]] = {
        ".json": json.loads,
        ".jsonl": lambda text: [json.loads(line) for line in text.splitlines()],
        ".csv": lambda text: [
            {name: _number(cell) for name, cell in row.items()}
            for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
        ],
        ".yaml": lambda text: json.loads(json.dumps(YAML(typ="safe", pure=True).load(text), default=str)),
    }
    zipped = file.suffix == ".gz"
    reader = readers.get(file.with_suffix("").suffix if zipped else file.suffix)
    if reader is None:
        return True
    content = file.read_bytes()
    return reader((gzip.decompress(content) if zipped else content).decode("utf-8"))


def _number(cell: Any) -> Any:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return cell if isinstance(cell, str) else str(cell)


def _named(item: tuple[str, list[str]]) -> tuple[str, dict[str, Any]]:
    """A question's answer, and the processor time that it took: other work of the machine does not change that."""
    start = sum(os.times()[:4])
    said = answer(item[1])
    return item[0], said | {"seconds": sum(os.times()[:4]) - start}


def main() -> None:
    """Answer the questions of one file into another, two at a time."""
    questions = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    answers = {}
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=40) as pool:
        for done, (name, said) in enumerate(pool.imap_unordered(_named, questions.items()), start=1):
            answers[name] = said
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{done} of {len(questions)}  {name:.50} ({said['seconds']:.1f} s)\033[K")
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    Path(sys.argv[2]).write_text(json.dumps({name: answers[name] for name in questions}), "utf-8")


if __name__ == "__main__":
    main()
