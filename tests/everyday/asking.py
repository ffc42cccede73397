"""A question to the command, asked in this process: what it prints and how it ends."""

import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from volvelle.cli import run


@dataclass(frozen=True)
class Reply:
    """What came of a question."""

    status: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The line that says what is wrong."""
        return self.err.strip().splitlines()[-1] if self.err.strip() else ""


@contextmanager
def surroundings(
    folder: Path, environment: Mapping[str, str], encoding: str
) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Streams, environment and folder of a question."""
    streams, before, here = (sys.stdout, sys.stderr), dict(os.environ), Path.cwd()
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdout = io.TextIOWrapper(out, encoding=encoding, write_through=True)
    sys.stderr = io.TextIOWrapper(err, encoding=encoding, write_through=True)
    os.environ.update(environment)
    os.chdir(folder)
    try:
        yield out, err
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.detach()
        sys.stdout, sys.stderr = streams
        os.environ.clear()
        os.environ.update(before)
        os.chdir(here)


def ask(folder: Path, *words: str, encoding: str = "utf-8", **environment: str) -> Reply:
    """Ask as from a shell that stands in the folder."""
    with surroundings(folder, {"COLUMNS": "100", "NO_COLOR": "1", **environment}, encoding) as (out, err):
        status = run(words)
    return Reply(status, out.getvalue().decode(encoding), err.getvalue().decode(encoding))
