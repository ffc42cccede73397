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
from tests.smpi.recorded_programs import platform, smpi_settings
from volvelle.catalogue import Catalogue
from volvelle.estimators.message_passing.retimed import EAGER
from volvelle.interchange.mpi_traces.csv_file import read_events
from volvelle.system.cluster import Cluster, Dimension
from volvelle.system.link import Link
from volvelle.system.topologies import Switch
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


def one_switch(ranks: int, *, rate: float, latency: float) -> Cluster:
    """A machine of as many chips, each with one port."""
    link = Link(name="wire", rate=rate, latency=latency)
    part = Dimension(name="network", size=ranks, topology=Switch(), link=link)
    return Cluster(name=f"switch/{ranks}", chip=Catalogue().chip("h100-sxm"), dimensions=(part,))


def without_computation(trace: MessageTrace) -> MessageTrace:
    """The same, with ranks that do nothing but communicate."""
    return replace(trace, compute=np.zeros(len(trace)))


def simulated(program: str, ranks: int, folder: Path, *, rate: float, latency: float) -> MessageTrace:
    """The same program in C as SMPI runs it: every rank has a processor of its own, on one switch."""
    compiled = folder / "programs"
    if not compiled.exists():
        source = ROOT / "tests" / "data" / "mpi" / "programs.c"
        subprocess.run(["smpicc", "-O2", str(source), "-o", str(compiled), "-lm"], check=True, capture_output=True)
    place = folder / f"smpi-{program}-{ranks}"
    place.mkdir(exist_ok=True)
    (place / "platform.xml").write_text(platform(ranks, rate, latency), "utf-8")
    (place / "hosts").write_text("".join(f"h{rank}\n" for rank in range(ranks)), "utf-8")
    settings = [f"--cfg={setting}" for setting in smpi_settings(EAGER)]
    asked = ["smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts", *settings]
    done = subprocess.run(
        [
            *asked,
            "--cfg=smpi/simulate-computation:yes",
            "--cfg=smpi/cpu-threshold:-1",
            str(compiled),
            program,
            str(place),
        ],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rows = "".join((place / f"{rank}.csv").read_text("utf-8") for rank in range(ranks))
    file = place / "trace.csv"
    file.write_text(f"# ranks: {ranks}\n{HEAD.replace(',compute', '')}{rows}", "utf-8")
    return read_events(file)
