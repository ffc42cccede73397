"""Small MPI traces for tests, from a few words a call; and real ones, recorded from the programs of examples/mpi."""

import os
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT
from volvelle.interchange.mpi_traces.csv_file import read_events
from volvelle.workload.message_passing.trace import MessageTrace

PROGRAMS = ("halo", "ring", "conjugate_gradient", "irregular")
REGULAR = PROGRAMS[:3]
HEAD = "rank,call,partner,bytes,tag,group,request,start,end,compute\n"


def trace_of(folder: Path, *rows: str, ranks: int | None = None) -> MessageTrace:
    """From rows ``rank call partner bytes tag request compute``, a dash for what there is none of."""
    lines = []
    for row in rows:
        cells = [cell.replace("-", "") for cell in row.split()]
        rank, call, partner, size, tag, request, compute = cells + [""] * (7 - len(cells))
        lines.append(f"{rank},{call},{partner},{size},{tag},,{request},0,0,{compute or 0}\n")
    file = folder / "trace.csv"
    file.write_text((f"# ranks: {ranks}\n" if ranks else "") + HEAD + "".join(lines), "utf-8")
    return read_events(file)


@cache
def mpi_command() -> tuple[str, ...] | None:
    """How a Python program is run on some ranks, more than there are cores; None: there is no MPI."""
    python = os.environ.get("VOLVELLE_MPI_PYTHON", "/usr/bin/python3")
    command = shutil.which("mpirun")
    if command is None or not Path(python).exists():
        return None
    asked = subprocess.run([python, "-I", "-c", "import mpi4py, numpy"], capture_output=True, check=False)
    if asked.returncode:
        return None
    return command, "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", "{}", python


def require_mpi() -> tuple[str, ...]:
    """The command, or the test is skipped; fails where VOLVELLE_MPI says that it is required."""
    command = mpi_command()
    if command is None:
        if os.environ.get("VOLVELLE_MPI") == "required":
            pytest.fail("there is no mpirun, or no Python with mpi4py and numpy; run scripts/mpi")
        pytest.skip("there is no mpirun, or no Python with mpi4py and numpy; scripts/mpi brings them")
    return command


def recorded(program: str, ranks: int, folder: Path) -> MessageTrace:
    """A program of examples/mpi as it ran on some ranks; kept in the folder."""
    file = folder / f"{program}-{ranks}.csv.gz"
    if not file.exists():
        command = [word.format(ranks) for word in require_mpi()]
        source = ROOT / "examples" / "mpi" / f"{program}.py"
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            [*command, str(source), str(file)],
            capture_output=True,
            text=True,
            timeout=300,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
    return read_events(file)


def without_computation(trace: MessageTrace) -> MessageTrace:
    """The same, with ranks that do nothing but communicate."""
    return replace(trace, compute=np.zeros(len(trace)))
