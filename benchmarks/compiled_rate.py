"""Mappings evaluated per second by compiled code, beside NumPy on the same table and beside what memory allows.

The table is that of `table_rate.py`: 1 000 000 layouts of a trillion-parameter GPT on `dgx-a100/4096`, one core. Both
estimators run the same laws; the compiled one has traced them. Answers are compared row by row.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from table_rate import BATCH, MODEL, ROWS, SYSTEM, mappings
from volvelle import (
    Catalogue,
    ClosedForm,
    Cluster,
    CompiledClosedForm,
    EstimateTable,
    MappingTable,
    TrainingStep,
    transformer,
)
from volvelle.estimators.compiled.inputs import Inputs
from volvelle.estimators.rates import SustainedRates


def seconds(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def copy_rate(size: int = 128 * 2**20, repeat: int = 8) -> float:
    """Bytes a second that one core moves when it copies: what is read and what is written."""
    source, target = np.ones(size // 8), np.zeros(size // 8)
    return 2 * size / min(seconds(lambda: np.copyto(target, source)) for _ in range(repeat))


def bytes_a_row(step: TrainingStep, cluster: Cluster, table: MappingTable, found: EstimateTable) -> int:
    """Columns and row numbers read, results written."""
    read = 8 * len(Inputs(table, SustainedRates.of(cluster, step.element)).columns) + 8
    return read + found.time.itemsize + found.memory_bytes.itemsize + len(found.violations)


def largest_difference(one: EstimateTable, other: EstimateTable) -> float:
    """Relative, over times and memory; infinite where they find different violations."""
    if any(not np.array_equal(violated, other.violations[name]) for name, violated in one.violations.items()):
        return float("inf")

    def apart(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
        return float(np.max(np.abs(first / second - 1.0)))

    return max(apart(one.time, other.time), apart(one.memory_bytes, other.memory_bytes))


def measured(rows: int = ROWS, repeat: int = 6) -> dict[str, float]:
    """The figures."""
    catalogue = Catalogue()
    step = TrainingStep(model=transformer(catalogue.model(MODEL)), batch=BATCH)
    cluster = catalogue.cluster(SYSTEM)
    table = mappings(rows)
    plain, fast = ClosedForm(), CompiledClosedForm()
    few = mappings(20_000)
    plain.table(step, cluster, few)
    first = seconds(lambda: fast.table(step, cluster, few))
    compiling = first - seconds(lambda: fast.table(step, cluster, few))
    difference = largest_difference(plain.table(step, cluster, table), found := fast.table(step, cluster, table))
    if difference > 1e-12:
        raise SystemExit(f"the compiled code disagrees by {difference:.2g}; the comparison would be of nothing")
    slow, quick = [], []
    for _ in range(repeat):  # side by side, so that a noisy machine disturbs both
        slow.append(seconds(lambda: plain.table(step, cluster, table)))
        quick += [seconds(lambda: fast.table(step, cluster, table)) for _ in range(3)]
    moved, rate = bytes_a_row(step, cluster, table, found), copy_rate()
    return {
        "rows": rows,
        "rows_per_s": round(rows / min(slow)),
        "compiled_rows_per_s": round(rows / min(quick)),
        "ratio": round(min(slow) / min(quick), 2),
        "largest_difference": difference,
        "structures": len(table.structures()),
        "compile_s": round(compiling, 2),
        "bytes_per_row": moved,
        "memory_bytes_per_s": round(rate),
        "memory_limit_rows_per_s": round(rate / moved),
        "share_of_memory_limit": round(rows / min(quick) * moved / rate, 3),
    }


def main() -> None:
    """Print the figures, the last line of them as JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as JSON on the last line")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeat", type=int, default=6)
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    figures = measured(given.rows, given.repeat)
    if given.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:24} {value}")


if __name__ == "__main__":
    main()
