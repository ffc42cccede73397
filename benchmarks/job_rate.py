"""How fast whole runs are answered: the command, runs simulated failure by failure, and designs on samples.

Seconds of one core, so that what else runs on the machine does not count.
"""

import json
import os
import resource
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from volvelle.quantities import DAY
from volvelle.simulation.failures.gaps import ExponentialGaps
from volvelle.simulation.failures.runs import Recovery, simulate_runs
from volvelle.studies.design_space.job_measures import SAMPLES, sampled_runs

RUNS, DESIGNS, AT_ONCE = 10_000, 10_000, 1000
ASKED = "job llama3-405b --on dgx-h100/16384 --tokens 15.6e12 --batch 2048 --seq 8192 --tp 8 --pp 16 --zero 1 --brief"


def command_seconds() -> float:
    """Of the whole command, from a cold start; the least of three."""
    call = [sys.executable, "-c", "from volvelle.cli import main; main()", *ASKED.split()]
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(call, check=False, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def simulated() -> tuple[float, float]:
    """Seconds for 10,000 runs of about 60 days on 16,384 accelerators, and their failures."""
    start = time.process_time()
    found = simulate_runs(
        54 * DAY, Recovery(work=170.0, stall=1.7, restart=735.0), ExponentialGaps(mean=10_000.0), runs=RUNS, seed=0
    )
    return time.process_time() - start, float(found.failures.sum())


def designs() -> float:
    """Seconds for 10,000 designs on all samples."""
    start = time.process_time()
    generator = np.random.default_rng(0)
    work, chips = generator.uniform(10, 100, DESIGNS) * DAY, generator.integers(8, 32_768, DESIGNS).astype(float)
    for first in range(0, DESIGNS, AT_ONCE):
        rows = slice(first, first + AT_ONCE)
        days = sampled_runs(work[rows], chips[rows], 1.15, family="hopper").days
        np.quantile(days, [0.1, 0.5, 0.9], axis=1)
    return time.process_time() - start


def main() -> None:
    """Print each, and all as JSON on the last line."""
    command = command_seconds()
    print(f"volvelle job: {command:.2f} s")
    seconds, failures = simulated()
    print(f"{RUNS:,} simulated runs, {failures:,.0f} failures: {seconds:.2f} s")
    designed = designs()
    print(f"{DESIGNS:,} designs on {SAMPLES:,} samples: {designed:.2f} s")
    told = {"job_s": command, "simulated_s": seconds, "failures": failures, "designs_s": designed}
    print(json.dumps({name: round(value, 3) for name, value in told.items()}))


if __name__ == "__main__":
    main()
