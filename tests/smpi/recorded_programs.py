"""An MPI trace as SMPI reads it, without times, and the time that SMPI computes for it.

SMPI runs in a process of its own with a time limit. Collectives are named with algorithms that are those of
:mod:`tests.smpi.expansion`; collectives of fewer than all ranks go as messages.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.smpi import BYTE, FLOP_RATE, computing, early_sends, platform_of
from volvelle.interchange.simgrid.engine import SETTINGS, SimGridError
from volvelle.workload.message_passing.calls import Call
from volvelle.workload.message_passing.trace import MessageTrace

ALGORITHMS = (
    "smpi/allreduce:rdb",
    "smpi/bcast:binomial_tree",
    "smpi/reduce:binomial",
    "smpi/barrier:ompi_bruck",
    "smpi/allgather:ring",
    "smpi/alltoall:ring",
    "smpi/gather:mpich",
)
_OPTIONS = ("smpi/init:0", "smpi/display-timing:no")


def smpirun() -> str | None:
    """Where SMPI's command is; None: it is not installed."""
    return shutil.which("smpirun")


def smpi_settings(eager: float) -> tuple[str, ...]:
    """What SMPI is told: plain links, named algorithms, and messages up to `eager` bytes that leave early."""
    return (*SETTINGS, *ALGORITHMS, *_OPTIONS, *early_sends(int(eager) + 1))


def smpi_lines(trace: MessageTrace, rank: int) -> Iterable[str]:
    """The actions of a rank."""
    first, last = int(trace.first[rank]), int(trace.first[rank + 1])
    yield f"{rank} init"
    for event in range(first, last):
        compute = float(trace.compute[event])
        if compute > 0.0:
            yield computing(rank, compute)
        call = Call(int(trace.call[event]))
        partner, size, tag = (int(column[event]) for column in (trace.partner, trace.size, trace.tag))
        if call is Call.WAIT:
            asked = int(trace.waited[event])
            other, tag = int(trace.partner[asked]), int(trace.tag[asked])
            ends = (rank, other) if trace.sends[asked] else (other, rank)
            yield f"{rank} wait {ends[0]} {ends[1]} {tag}"
        elif call < Call.WAIT:
            yield f"{rank} {call.word} {partner} {tag} {size} {BYTE}"
        else:
            yield f"{rank} {_collective(trace, event, call, partner, size)}"
    yield f"{rank} finalize"


def _collective(trace: MessageTrace, event: int, call: Call, root: int, size: int) -> str:
    if trace.group[event]:
        raise ValueError(f"{trace.where(event)}: SMPI's traces have collectives of all ranks only; expand it first")
    if call is Call.BARRIER:
        return "barrier"
    if call is Call.BCAST:
        return f"bcast {size} {root} {BYTE}"
    if call is Call.REDUCE:
        return f"reduce {size} 0 {root} {BYTE}"
    if call in (Call.ALLREDUCE, Call.SCAN):
        return f"{call.word} {size} 0 {BYTE}"
    if call in (Call.GATHER, Call.SCATTER):
        return f"{call.word} {size} {size} {root} {BYTE} {BYTE}"
    if call in (Call.ALLGATHER, Call.ALLTOALL):
        own = size // trace.ranks if call is Call.ALLTOALL else size
        return f"{call.word} {own} {own} {BYTE} {BYTE}"
    own = size // trace.ranks
    return f"reducescatter {' '.join([str(own)] * trace.ranks)} 0 {BYTE}"


def smpi_time(trace: MessageTrace, *, rate: float, latency: float, eager: float, limit: float = 120.0) -> float:
    """Seconds that SMPI says for hosts on one switch: `rate` of a port each way, `latency` between any two."""
    command = smpirun()
    if command is None:
        raise SimGridError("there is no smpirun here; install it by apt-get install libsimgrid-dev")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hosts = [f"h{rank}" for rank in range(trace.ranks)]
        (folder / "hosts").write_text("\n".join(hosts) + "\n", "utf-8")
        (folder / "platform.xml").write_text(platform(trace.ranks, rate, latency), "utf-8")
        files = []
        for rank in range(trace.ranks):
            file = folder / f"rank{rank}.txt"
            file.write_text("\n".join(smpi_lines(trace, rank)) + "\n", "utf-8")
            files.append(str(file))
        (folder / "list").write_text("\n".join(files) + "\n", "utf-8")
        asked = [command, "-np", str(trace.ranks), "-platform", "platform.xml", "-hostfile", "hosts"]
        asked += [f"--cfg={setting}" for setting in smpi_settings(eager)]
        try:
            done = subprocess.run(
                [*asked, "-replay", "list"], cwd=folder, capture_output=True, text=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            raise SimGridError(f"SMPI did not answer within {limit:g} s; give it more time") from None
    said = done.stdout + done.stderr
    for line in reversed(said.splitlines()):
        if "Simulation time" in line:
            return float(line.split("Simulation time")[1].split()[0])
    raise SimGridError(f"SMPI ended with status {done.returncode} and said: {said.strip()[-300:] or 'nothing'}")


def platform(ranks: int, rate: float, latency: float) -> str:
    """Hosts h0, h1 … on one switch, as SimGrid reads it."""
    # A route crosses two links of a cluster, so that each has half the latency.
    cluster = (
        f'<cluster id="c" prefix="h" suffix="" radical="0-{ranks - 1}" speed="{FLOP_RATE:.0f}f" bw="{rate!r}Bps" '
        f'lat="{latency / 2!r}s" sharing_policy="SPLITDUPLEX"/>'
    )
    return platform_of([cluster])
