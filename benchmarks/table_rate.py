"""Mappings evaluated per second in one call, beside the same arithmetic fused by hand in NumPy.

1 000 000 mappings of a trillion-parameter GPT on `dgx-a100/4096`, one core. The bare version knows that it prices this
one model on this one machine: it folds every constant, prices only what the totals need, has no names, no breakdown
and no choice of topology. Both give the same times and memory, which is checked here.
"""

import argparse
import json
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from table_rate_bare import bare_table
from volvelle import Catalogue, ClosedForm, MappingTable, TrainingStep, transformer

ROWS = 1_000_000
SYSTEM = "dgx-a100/4096"
MODEL = "megatron-1t"
BATCH = 4096


def mappings(rows: int) -> MappingTable:
    """Distinct layouts of 4096 chips, feasible and not; where they run out, they start again."""
    options = [
        (
            tensor,
            pipeline,
            4096 // (tensor * pipeline),
            micro_batch,
            interleave,
            zero,
            overlap,
            sequence,
            recompute,
            fused,
        )
        for tensor in (1, 2, 4, 8, 16, 32)
        for pipeline in (1, 2, 4, 8, 16, 32, 64, 128)
        if 4096 % (tensor * pipeline) == 0
        for micro_batch in (1, 2, 4, 8, 16)
        for interleave in (1, 2, 4, 8)
        for zero in (0, 1, 2, 3)
        for overlap in (0, 1)
        for sequence in (0, 1)
        for recompute in (0, 1, 2)
        for fused in (0, 1)
    ]
    table = np.array(options, dtype=float)
    table = np.tile(table, (rows // len(table) + 1, 1))[:rows]
    names = (
        "tensor",
        "pipeline",
        "data",
        "micro_batch",
        "interleave",
        "zero",
        "overlap",
        "sequence_parallel",
        "recompute",
        "fused_attention",
    )
    return MappingTable.columns(**{name: table[:, index] for index, name in enumerate(names)})


def main() -> None:
    """Time both, check that they agree, print the figures on the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as JSON on the last line")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeat", type=int, default=6)
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    catalogue = Catalogue()
    step = TrainingStep(model=transformer(catalogue.model(MODEL)), batch=BATCH)
    cluster = catalogue.cluster(SYSTEM)
    table = mappings(given.rows)
    estimator = ClosedForm()
    ours, bare = [], []
    for _ in range(given.repeat):  # side by side, so that a noisy machine disturbs both
        start = time.perf_counter()
        found = estimator.table(step, cluster, table)
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        times, memory = bare_table(step, cluster, table)
        bare.append(time.perf_counter() - start)
    difference = float(np.max(np.abs(times / found.time - 1)))
    difference = max(difference, float(np.max(np.abs(memory / found.memory_bytes - 1))))
    if difference > 1e-9:
        raise SystemExit(f"the bare arithmetic disagrees by {difference:.2g}; the comparison would be of nothing")
    figures = {
        "rows": given.rows,
        "rows_per_s": round(given.rows / min(ours)),
        "bare_rows_per_s": round(given.rows / min(bare)),
        "ratio": round(min(bare) / min(ours), 3),
        "largest_difference": difference,
    }
    if given.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:20} {value}")


if __name__ == "__main__":
    main()
