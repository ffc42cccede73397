"""OTF2 archives, Score-P's format: read by its own library in a process of its own, then as a CSV of events."""

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from volvelle.errors import DescriptionError, MissingExtraError, install_line
from volvelle.interchange.mpi_traces.csv_file import LARGEST, read_events
from volvelle.workload.message_passing.trace import MessageTrace

_CHILD = Path(__file__).parent / "otf2_child.py"
_LIMIT = 120.0
"""Seconds that an archive may take."""
_ASKING = 20.0


@cache
def otf2_python() -> str | None:
    """A Python that has OTF2's bindings: that of VOLVELLE_OTF2_PYTHON, this one, or the system's; None: none has."""
    for name in filter(None, (os.environ.get("VOLVELLE_OTF2_PYTHON"), sys.executable, "/usr/bin/python3")):
        try:
            done = subprocess.run([name, "-I", "-c", "import otf2"], capture_output=True, timeout=_ASKING, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return name
    return None


def read_otf2(file: Path) -> MessageTrace:
    """The MPI events of an archive, by its anchor file."""
    if not file.is_file():
        raise DescriptionError(f"there is no trace {str(file)!r}; give the anchor file of an archive, traces.otf2")
    size = sum(part.stat().st_size for part in file.parent.rglob("*") if part.is_file())
    if size > LARGEST:
        raise DescriptionError(f"the archive of {str(file)!r} is larger than {LARGEST // 2**20} MiB; record less of it")
    python = otf2_python()
    if python is None:
        raise MissingExtraError(
            f"archives of OTF2 are read by its library, which is not installed; run {install_line('otf2')}, or "
            "apt-get install python3-otf2"
        )
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "events.csv"
        try:
            done = subprocess.run(
                [python, "-I", str(_CHILD), str(file.absolute()), str(made)],
                capture_output=True,
                text=True,
                timeout=_LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise DescriptionError(f"{str(file)!r} was not read within {_LIMIT:g} s; record less of the run") from None
        if done.returncode != 0 or not made.is_file():
            said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
            raise DescriptionError(
                f"{str(file)!r} cannot be read by OTF2's library, which said: {said[:200]}; give the anchor file of a "
                "whole archive"
            )
        try:
            return replace(read_events(made), name=str(file))
        except DescriptionError as error:
            raise DescriptionError(str(error).replace(repr(str(made)), f"{str(file)!r} as CSV")) from None
