"""What to run to learn an uncertain number, and how long that takes (``data/benchmarks_to_run.csv``)."""

from dataclasses import dataclass
from functools import cache

from volvelle.catalogue.packaged_rows import packaged_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkToRun:
    """A measurement that tells a number."""

    benchmark: str
    minutes: float
    scatter: float
    """One standard deviation of the logarithm of what one run of it says; 0: taken as exact."""


@cache
def benchmark_for(name: str) -> BenchmarkToRun | None:
    """By what an input is called, its part of the machine left aside; None: nobody measures it."""
    asked = name.rpartition(": ")[2].partition(" (")[0]
    row = next((row for row in packaged_rows("benchmarks_to_run.csv") if row["input"] == asked), None)
    if row is None:
        return None
    return BenchmarkToRun(
        benchmark=row["benchmark"], minutes=float(row["minutes"]), scatter=float(row["scatter"] or 0.0)
    )
