"""Points of a design space per second, into Parquet, beside the bare estimator on the same cores in the same run.

`fixed`: 10 000 000 points of a given layout, and a hundredth and a tenth of them, so that the cost of a point, of a
chunk and of a query can be seen to stay the same. `best`: 10 000 points with the layout found anew among more than ten
thousand each, by NumPy and compiled. `compiled`: the table of 1 000 000 layouts of `compiled_rate.py`.
The bare estimator prices the same machines on as many processes, and writes nothing.
"""

import argparse
import itertools
import json
import math
import resource
import shutil
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import compiled_rate
from volvelle import Catalogue, ClosedForm, MappingTable, TrainingStep, transformer
from volvelle.studies.answers.pareto import pareto_front
from volvelle.studies.design_space.design_study import DesignStudy, read_study
from volvelle.studies.design_space.evaluate import Evaluator
from volvelle.studies.design_space.fields import with_values
from volvelle.studies.sweep.chunk import forecast
from volvelle.studies.sweep.local import cores, run_local
from volvelle.studies.sweep.manifest import Results, open_results
from volvelle.studies.sweep.query import Query

MODEL, SYSTEM, BATCH = "gpt3-175b", "dgx-a100/1024", 1536
LAYOUT = {"tensor": 8, "pipeline": 8, "micro_batch": 1}
COMMON = {
    "workloads": [{"train": MODEL, "batch": BATCH, "tokens": 300e9}],
    "system": SYSTEM,
    "costs": {"model": "parts"},
}
PARTS = ("fixed", "best", "compiled")


def fixed(rows: int) -> DesignStudy:
    """A study of so many machines, the layout given."""
    tens = round(math.log10(rows))
    if rows != 10**tens or not 4 <= tens <= 8:
        raise SystemExit(f"{rows} rows: take a power of ten from 10 000 to 100 000 000")
    up, first, second, third = (100 if tens >= count else 10 for count in (8, 5, 6, 7))
    return read_study(
        {
            "name": f"rate-{rows}",
            **COMMON,
            "axes": {
                "scale_up.rate": {"times": {"from": 0.5, "to": 4, "points": up}},
                "chip.matrix_rate": {"times": {"from": 0.5, "to": 4, "points": third, "scale": "log"}},
                "chip.memory.rate": {"times": {"from": 0.5, "to": 4, "points": second, "scale": "log"}},
                "scale_out.rate": {"times": {"from": 0.25, "to": 4, "points": first, "scale": "log"}},
            },
            "mapping": {"policy": "fixed", **LAYOUT},
            "objectives": ["time", "machine_usd"],
        }
    )


def best(rows: int) -> DesignStudy:
    """A study of so many machines, the layout found anew on each."""
    return read_study(
        {
            "name": f"best-{rows}",
            **COMMON,
            "axes": {
                "accelerators": [512, 1024],
                "chip.memory.capacity": {"from": "40 GB", "to": "160 GB", "points": 5},
                "chip.matrix_rate": {"times": {"from": 0.5, "to": 4, "points": 10, "scale": "log"}},
                "chip.memory.rate": {"times": {"from": 0.5, "to": 4, "points": 10, "scale": "log"}},
                "scale_out.rate": {"times": {"from": 0.25, "to": 4, "points": 10, "scale": "log"}},
            },
            "mapping": {"policy": "best", "context": [1], "recompute_every": [1]},
            "objectives": ["days", "machine_usd"],
            "budget": rows,
        }
    )


def bare(rows: int) -> float:
    """Seconds the estimator alone takes for so many machines, in one process."""
    catalogue = Catalogue()
    step = TrainingStep(model=transformer(catalogue.model(MODEL)), batch=BATCH)
    cluster = catalogue.cluster(SYSTEM)
    estimator = ClosedForm()
    table = MappingTable.columns(**LAYOUT, data=cluster.accelerators // 64)
    generator = np.random.default_rng(0)
    size = min(rows, 131_072)
    machines = with_values(
        cluster,
        {
            "chip.matrix_rate": generator.uniform(1e14, 1e15, size),
            "chip.memory.rate": generator.uniform(1e12, 8e12, size),
            "scale_out.rate": generator.uniform(1e10, 1e11, size),
        },
    )
    estimator.table(step, machines, table)
    calls = -(-rows // size)
    begun = time.perf_counter()
    for _ in range(calls):
        estimator.table(step, machines, table)
    return (time.perf_counter() - begun) * rows / (calls * size)


def bare_rate(rows: int, workers: int) -> float:
    """Rows a second of the estimator alone on all cores."""
    each = rows // workers
    with get_context("forkserver").Pool(workers) as pool:
        return workers * each / max(pool.map(bare, [each] * workers))


def swept(study: DesignStudy, folder: Path, workers: int, *, compiled: bool = False) -> tuple[Results, float]:
    """Run a study; the results, and the seconds it took."""
    results = open_results(folder, study, chunk=forecast(study, compiled=compiled).chunk(workers))
    begun = time.perf_counter()
    run_local(results, workers=workers, compiled=compiled)
    return results, time.perf_counter() - begun


def fixed_figures(rows: int, folder: Path, workers: int, *, compiled: bool) -> dict[str, float]:
    """One study of a given layout, the bare estimator before and after it."""
    some = min(rows, 1_000_000)
    before = bare_rate(some, workers)
    results, seconds = swept(fixed(rows), folder / f"fixed-{rows}-{compiled}", workers, compiled=compiled)
    alone = max(before, bare_rate(some, workers))
    chunks = results.manifest.chunks
    size = sum(file.stat().st_size for file in results.folder.iterdir())
    begun = time.perf_counter()
    with Query(results) as query:
        front = pareto_front(query, fixed(rows))
    asked = time.perf_counter() - begun
    shutil.rmtree(results.folder)
    return {
        "rows": rows,
        "seconds": round(seconds, 2),
        "rows_per_s": round(rows / seconds),
        "bare_rows_per_s": round(alone),
        "ratio_to_bare": round(rows / seconds / alone, 3),
        "us_per_row": round(seconds / rows * 1e6, 3),
        "chunks": chunks,
        "ms_per_chunk": round(seconds / chunks * 1e3, 1),
        "bytes_per_row": round(size / rows, 1),
        "pareto_s": round(asked, 2),
        "front": len(front.numbers),
    }


def best_figures(rows: int, folder: Path, workers: int, *, compiled: bool) -> dict[str, object]:
    """One study that finds layouts anew."""
    study = best(rows)
    results, seconds = swept(study, folder / f"best-{compiled}", workers, compiled=compiled)
    shutil.rmtree(results.folder)
    evaluator = Evaluator(study=study)
    sample = min(256, rows)
    evaluator.rows(0, sample)
    return {
        "points": rows,
        "layouts_in_space": evaluator.considered(),
        "layouts_priced_per_point": round(evaluator.evaluated / sample),
        "seconds": round(seconds, 1),
        "points_per_s": round(rows / seconds, 1),
    }


def peak_memory() -> int:
    """Megabytes of the largest process so far."""
    return round(
        max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    )


def main() -> None:
    """Run all, print the figures on the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as JSON on the last line")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--best-rows", type=int, default=10_000)
    parser.add_argument("--only", choices=PARTS, action="append", help="one part; may be given again")
    given = parser.parse_args()
    wanted, workers = given.only or PARTS, cores()
    folder = Path(tempfile.mkdtemp(prefix="explore-rate-"))
    figures: dict[str, object] = {"cores": workers}
    try:
        if "fixed" in wanted:
            sizes = [rows for rows in (10**5, 10**6, 10**7, 10**8) if rows <= given.rows]
            law = [fixed_figures(rows, folder, workers, compiled=False) for rows in sizes]
            for less, more in itertools.pairwise(law):
                spent = (more["seconds"] - less["seconds"]) / (more["rows"] - less["rows"])
                more["us_per_further_row"] = round(spent * 1e6, 3)
            figures |= {"rows": given.rows, "fixed": law}
            figures |= {name: law[-1][name] for name in ("rows_per_s", "ratio_to_bare", "pareto_s")}
            figures["fixed_compiled"] = fixed_figures(given.rows, folder, workers, compiled=True)
            figures["peak_memory_mb"] = peak_memory()
        if "best" in wanted:
            figures["best"] = best_figures(given.best_rows, folder, workers, compiled=False)
            figures["best_compiled"] = best_figures(given.best_rows, folder, workers, compiled=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if "compiled" in wanted:
        figures["compiled"] = compiled_rate.measured()
    print(json.dumps(figures) if given.json else "\n".join(f"{name:20} {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
