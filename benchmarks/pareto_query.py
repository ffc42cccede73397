"""The exact front of many rows on disk, against merely reading the same columns; in bounded memory.

Rows are synthetic: two objectives that trade against each other with scatter, written as shards of a folder of results.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from volvelle.studies.answers.pareto import pareto_front
from volvelle.studies.design_space.design_study import DesignStudy, read_study
from volvelle.studies.design_space.measures import objective_of
from volvelle.studies.design_space.points import Slice
from volvelle.studies.sweep.manifest import Results, open_results
from volvelle.studies.sweep.query import Query
from volvelle.studies.sweep.shards import write_shard

_SHARD = 262_144
_OBJECTIVES = ("time", "memory", "mfu", "days")


def study_of(rows: int) -> DesignStudy:
    """A study with at least so many points."""
    return read_study(
        {
            "name": "synthetic",
            "workloads": [{"train": "gpt3-175b", "batch": 1536, "tokens": 3e11}],
            "system": "dgx-a100/1024",
            "axes": {
                "chip.memory.rate": {"from": "1 TB/s", "to": "8 TB/s", "points": -(-rows // 1000)},
                "scale_out.rate": {"from": "10 GB/s", "to": "100 GB/s", "points": 1000},
            },
            "mapping": {"policy": "fixed", "tensor": 8, "pipeline": 8},
            "objectives": ["time", "memory"],
            "measures": ["mfu", "days"],
            "budget": rows,
        }
    )


def write(folder: Path, study: DesignStudy, seed: int) -> Results:
    """Shards with made-up measures; one row in twenty cannot run."""
    results = open_results(folder, study, chunk=_SHARD)
    generator = np.random.default_rng(seed)
    for chunk in results.pending():
        start, stop = results.manifest.span(chunk)
        numbers = np.arange(start, stop, dtype=np.int64)
        trade = generator.random(stop - start)
        columns = {
            "time": 1.0 + trade + generator.exponential(0.4, stop - start),
            "memory": (2.0 - trade + generator.exponential(0.4, stop - start)) * 1e10,
            "mfu": generator.beta(4.0, 4.0, stop - start),
            "days": 10.0 + generator.exponential(5.0, stop - start),
        }
        reason = np.where(generator.random(stop - start) < 0.05, 1, 0).astype(np.int8)
        found = Slice(numbers=numbers, positions=study.grid.positions(numbers), columns=columns, reason=reason)
        write_shard(folder, study, chunk, found)
    return results


def measure(results: Results, study: DesignStudy, names: Sequence[str]) -> dict[str, object]:
    """Seconds of a bare scan of the columns, and of the front over them."""
    goals = [objective_of(name) for name in names]
    with Query(results) as query:
        begun = time.perf_counter()
        query.rows(f"SELECT {', '.join(f'sum({name})' for name in names)} FROM points WHERE feasible")
        scan = time.perf_counter() - begun
    with Query(results) as query:
        begun = time.perf_counter()
        front = pareto_front(query, study, objectives=goals)
        spent = time.perf_counter() - begun
    return {
        "objectives": list(names),
        "considered": front.considered,
        "front": len(front),
        "seconds": round(spent, 3),
        "bare_scan_seconds": round(scan, 3),
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def main() -> None:
    """Print the figures of two objectives, and of more if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--objectives", type=int, default=2, choices=range(1, 5))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    study = study_of(given.rows)
    with tempfile.TemporaryDirectory() as folder:
        results = write(Path(folder) / "results", study, given.seed)
        found = {"rows": given.rows, **measure(results, study, _OBJECTIVES[: given.objectives])}
    if given.json:
        print(json.dumps(found))
    else:
        print(f"{found['rows']:,} rows, {given.objectives} objectives: {found['front']:,} on the front")
        print(f"{found['seconds']} s; a bare scan of the same columns {found['bare_scan_seconds']} s")
        print(f"peak memory {int(str(found['peak_memory_bytes'])) / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
