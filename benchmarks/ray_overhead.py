"""What our runner costs on a Ray cluster: rows a second against bare Ray with the same kernel on the same chunks.

The cluster is real: a head and two worker nodes of one core, each with processes of its own. Both sides evaluate every
chunk and write it as Parquet; bare Ray hands all of them out at once and waits for all. They take turns.
"""

import argparse
import json
import logging
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ray_cluster import LocalCluster
from volvelle.studies.design_space.design_study import DesignStudy, read_study
from volvelle.studies.sweep.chunk import forecast, jobs, run_chunk
from volvelle.studies.sweep.local import run_local
from volvelle.studies.sweep.manifest import Results, open_results
from volvelle.studies.sweep.on_ray import run_on_ray

LIMIT = 0.8
"""Of bare Ray's rate, at least."""


def big_study() -> DesignStudy:
    """Two million points and more, one layout each."""
    ranged = {"from": 0.5, "to": 4, "scale": "log"}
    return read_study(
        {
            "name": "ray overhead",
            "workloads": [{"train": "gpt3-175b", "batch": 1536, "tokens": 3e11}],
            "system": "dgx-a100/1024",
            "axes": {
                "accelerators": [512, 1024],
                "chip.memory.rate": {"times": {**ranged, "points": 60}},
                "chip.matrix_rate": {"times": {**ranged, "points": 60}},
                "scale_out.rate": {"times": {**ranged, "points": 100}},
                "mapping.micro_batch": [1, 2, 4],
            },
            "mapping": {"policy": "fixed", "tensor": 8, "pipeline": 8},
            "objectives": ["days", "mfu"],
        }
    )


def bare(ray: Any, results: Results) -> int:
    """All chunks at once, and nothing else."""
    task = ray.remote(num_cpus=1)(run_chunk)
    return sum(shard.rows for shard in ray.get([task.remote(job) for job in jobs(results)]))


def rate(run: Callable[[Results], int], study: DesignStudy, chunk: int) -> float:
    """Rows a second of one run into an empty folder."""
    with tempfile.TemporaryDirectory() as place:
        results = open_results(Path(place) / "out", study, chunk=chunk)
        begun = time.perf_counter()
        rows = run(results)
        spent = time.perf_counter() - begun
        assert rows == len(study.grid)
        assert len(results.files()) == results.manifest.chunks
    return rows / spent


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--json", action="store_true", help="print JSON")
    reader.add_argument("--repeats", type=int, default=5)
    asked = reader.parse_args()
    import ray  # noqa: PLC0415 - after the command line is read

    study = big_study()
    chunk = forecast(study).chunk(2)
    found: dict[str, list[float]] = {"ours": [], "bare": []}
    with LocalCluster() as cluster:
        for _ in range(2):
            cluster.add_node()
        ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
        ways: dict[str, Callable[[Results], int]] = {
            "ours": lambda results: run_on_ray(results, address=cluster.address),
            "bare": lambda results: bare(ray, results),
        }
        for name, run in ways.items():
            rate(run, study, chunk)  # workers start, import and build what they keep
            print(f"{name}: warm")
        for turn in range(asked.repeats):
            for name in ways if turn % 2 == 0 else reversed(ways):
                found[name].append(rate(ways[name], study, chunk))
                print(f"{name}: {found[name][-1]:,.0f} rows/s")
        ray.shutdown()
    local = rate(lambda results: run_local(results, workers=2), study, chunk)
    figures = {
        "rows": len(study.grid),
        "chunk": chunk,
        "ours_rows_per_s": statistics.median(found["ours"]),
        "bare_rows_per_s": statistics.median(found["bare"]),
        "ratio": statistics.median(a / b for a, b in zip(found["ours"], found["bare"], strict=True)),
        "ratio_at_least": LIMIT,
        "local_rows_per_s": local,
        "driver_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if asked.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:20} {value:14,.3f}")


if __name__ == "__main__":
    main()
