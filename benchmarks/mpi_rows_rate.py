"""How soon a CSV of MPI events is read, and how soon it is refused where its last row is bad.

The file has as many rows as may be. Seconds are those of the processor. The last line is JSON.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from volvelle.errors import VolvelleError
from volvelle.interchange.mpi_traces.csv_file import MOST_EVENTS, read_events

RANKS, CALLS = 64, 5
LIMIT = 10.0
"""Seconds within which a bad file is refused."""


def write(file: Path, rows: int) -> int:
    """Steps of ranks in a ring that add up at their end; how many rows they are."""
    steps = rows // RANKS // CALLS
    with file.open("w", encoding="utf-8") as out:
        out.write(f"# ranks: {RANKS}\nrank,call,partner,bytes,tag,group,request,start,end,compute\n")
        for step in range(steps):
            at, later, last = (f"{step * 1e-3 + part:.9f}" for part in (1e-4, 2e-4, 3e-4))
            for rank in range(RANKS):
                out.write(
                    f"{rank},irecv,{(rank - 1) % RANKS},4096,0,world,{2 * step},{at},{at},0.000100000\n"
                    f"{rank},isend,{(rank + 1) % RANKS},4096,0,world,{2 * step + 1},{at},{at},0.000000000\n"
                    f"{rank},wait,,,,,{2 * step},{at},{later},0.000000000\n"
                    f"{rank},wait,,,,,{2 * step + 1},{later},{later},0.000000000\n"
                    f"{rank},allreduce,,8,,world,,{later},{last},0.000000000\n"
                )
    return steps * RANKS * CALLS


def main() -> int:
    """Read, spoil the last row, read again."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=MOST_EVENTS)
    asked.add_argument("--json", action="store_true", help="Accepted for scripts/bench; JSON is always last.")
    told = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ring.csv"
        rows = write(file, told.rows - RANKS * CALLS)
        began = time.process_time()
        read_events(file)
        read = time.process_time() - began
        with file.open("a", encoding="utf-8") as out:
            out.write("0,put,1,8,,,,9999,9999,\n")
        began = time.process_time()
        try:
            read_events(file)
            refused = float("inf")
        except VolvelleError as error:
            refused = time.process_time() - began
            print(error)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{rows:,} rows read in {read:.1f} s, {read / rows * 1e6:.1f} µs a row")
    print(f"the last of them bad: refused in {refused:.1f} s, limit {LIMIT:.0f} s; {most / 1e9:.2f} GB at most")
    print(json.dumps({"rows": rows, "read_seconds": read, "refused_seconds": refused, "bytes": most}))
    return int(refused > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
