"""The best fusion of graphs of 18 to 1000 kernels: time to the proven optimum, or the gap when time is up.

Beside ours, the same model (x, y, z and prefix sums, with as many slots as there may be partitions) is handed bare to
HiGHS and to CP-SAT, each in a process of its own on one core. A bare solver's seconds include building its model.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from math import inf
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from mapping_graphs import FAMILIES, graph
from volvelle.estimators.dataflow.partition_time import partition_times_of
from volvelle.search.certificate import PROVEN
from volvelle.search.fusion.assignment_model import assignment_model, model_size
from volvelle.search.fusion.solve import fuse
from volvelle.search.fusion.solvers import Solver, cp_sat, highs

SIZES = (18, 41, 100, 300, 1000)
SEED = 1
BARE: dict[str, Solver] = {"highs": highs, "cp-sat": cp_sat}
ENTRIES = 10_000_000
"""A model of more entries is not built: it would take gigabytes, and no bare solver finds anything in smaller ones."""


def ours(family: str, size: int, seed: int, limit: float) -> dict[str, object]:
    """Our answer, from the problem to the proof."""
    problem = graph(family, size, seed)
    start = time.perf_counter()
    answer = fuse(problem, time_limit=limit)
    seconds = time.perf_counter() - start
    return {
        "seconds": round(seconds, 4),
        "proven": answer.proven,
        "gap": round(answer.gap, 6),
        "time": answer.time,
        "partitions": len(answer.fusion.partitions) if answer.fusion else None,
        "method": answer.method,
        "down_sets": answer.states,
        "evaluated": answer.steps,
    }


def bare(solver: str, family: str, size: int, seed: int, limit: float) -> dict[str, object]:
    """What a solver makes of the bare model."""
    problem = graph(family, size, seed)
    start = time.perf_counter()
    times_of = partition_times_of(problem)
    unit = sum(times_of.time_of([number]).time for number in range(len(times_of.names)))
    model = assignment_model(times_of, problem.choices.partitions or size, unit=unit)
    built = time.perf_counter() - start
    found = BARE[solver](model, max(0.1, limit - built), None)
    gap = 1.0 if found.objective == inf else max(0.0, 1.0 - found.bound / found.objective)
    return {
        "seconds": round(time.perf_counter() - start, 2),
        "built": round(built, 2),
        "columns": len(model.cost),
        "proven": gap <= PROVEN,
        "gap": round(gap, 6),
        "time": None if found.objective == inf else found.objective * unit,
    }


def apart(solver: str, family: str, size: int, seed: int, limit: float) -> dict[str, object]:
    """The same in a process of its own, ended if the solver forgets the time."""
    problem = graph(family, size, seed)
    entries = model_size(partition_times_of(problem), problem.choices.partitions or size)
    if entries > ENTRIES:
        return {"skipped": f"not built: the model would have about {entries / 1e6:.0f} million entries"}
    words = [solver, family, str(size), str(seed), str(limit)]
    try:
        done = subprocess.run(
            [sys.executable, str(Path(__file__)), "--bare", *words],
            capture_output=True,
            text=True,
            check=True,
            timeout=1.5 * limit + 60,
        )
    except subprocess.TimeoutExpired:
        return {"skipped": f"still busy after {1.5 * limit + 60:.0f} s, so it was ended", "proven": False}
    except subprocess.CalledProcessError as failed:
        return {"skipped": f"ended with status {failed.returncode}", "proven": False}
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def compared(row: dict[str, dict[str, object]], limit: float) -> dict[str, object]:
    """How much faster ours is than the faster bare solver; where none proved, its seconds are at least the limit.

    Where no bare model was built there is nothing to compare with, and nothing is claimed.
    """
    mine = row["ours"]
    if all("skipped" in row[name] for name in BARE):
        return {"faster": None, "at_least": False, "kept": None}
    proofs = [float(str(row[name]["seconds"])) for name in BARE if row[name].get("proven")]
    theirs = min(proofs, default=limit)
    gaps = [float(str(row[name].get("gap", 1.0))) for name in BARE]
    seconds = float(str(mine["seconds"]))
    if mine["proven"]:
        return {"faster": round(theirs / seconds, 1), "at_least": not proofs, "kept": seconds <= 1.1 * theirs}
    return {"faster": None, "at_least": False, "kept": not proofs and float(str(mine["gap"])) <= min(gaps)}


def main() -> None:
    """All families and sizes, a row each; figures on the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as JSON on the last line")
    parser.add_argument("--quick", action="store_true", help="only 18 and 41 kernels, five seconds each")
    parser.add_argument("--limit", type=float, default=None, help="seconds for each solver and graph (60)")
    parser.add_argument("--sizes", type=int, nargs="+", default=None, help="kernels of the graphs")
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--ours-only", action="store_true", help="leave the bare solvers out")
    parser.add_argument("--bare", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if given.bare:
        solver, family, size, seed, allowed = given.bare
        print(json.dumps(bare(solver, family, int(size), int(seed), float(allowed))))
        return
    limit = given.limit or (5.0 if given.quick else 60.0)
    rows = list[dict[str, Any]]()
    for family in given.families:
        for size in given.sizes or (SIZES[:2] if given.quick else SIZES):
            row: dict[str, dict[str, object]] = {"ours": ours(family, size, given.seed, limit)}
            if not given.ours_only:
                row |= {name: apart(name, family, size, given.seed, limit) for name in BARE}
                row["against"] = compared(row, limit)
            rows.append({"family": family, "kernels": size, **row})
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    figures: dict[str, object] = {"limit": limit, "seed": given.seed, "rows": rows}
    if not given.ours_only:
        checks = [(row["family"], row["against"]) for row in rows]
        speedups = [one["faster"] for family, one in checks if family == "transformer"]
        figures["compared"] = sum(one["kept"] is not None for _, one in checks)
        figures["never_slower"] = all(one["kept"] for _, one in checks if one["kept"] is not None)
        figures["transformer_speedup_at_least"] = min((one for one in speedups if one is not None), default=None)
    print(json.dumps(figures) if given.json else json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
