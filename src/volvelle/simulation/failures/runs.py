"""Many runs at once, each failing in its own way: from checkpoint to failure to restart until all work is done."""

from dataclasses import dataclass

import numpy as np

from volvelle.errors import OutsideDomainError
from volvelle.simulation.failures.gaps import AbstractGaps, Column

_MOST = 10_000_000
"""Failures of one run after which it is given up: its restarts last longer than its failures are apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What happens between failures."""

    work: float | Column
    """Seconds of work between checkpoints; a column has that of each run, as of all below."""
    stall: float | Column
    restart: float | Column
    """Failures occur in it too."""
    downtime: float | Column = 0.0
    """None occurs in it."""
    write: float | Column = 0.0
    """Seconds that a checkpoint is in flight behind the work; until then the one before counts."""
    slowdown: float | Column = 0.0
    """Share of speed that a write costs."""

    @property
    def period(self) -> float | Column:
        """Wall time of a checkpoint and the work before it."""
        return self.work + self.stall + self.slowdown * self.write


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedRuns:
    """How all runs went."""

    time: Column
    """Seconds until the work is done."""
    failures: Column

    @property
    def mean(self) -> float:
        """Of the time."""
        return float(np.mean(self.time))

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return float(np.std(self.time, ddof=1) / np.sqrt(len(self.time)))


def simulate_runs(
    total: float | Column, recovery: Recovery, gaps: AbstractGaps, *, runs: int, seed: int, most: int = _MOST
) -> SimulatedRuns:
    """So many runs of `total` seconds of work each, the same ones for the same seed."""
    generator = np.random.default_rng(seed)
    draw = gaps.begin(generator, runs)

    def column(value: float | Column) -> Column:
        return np.broadcast_to(np.asarray(value, dtype=float), (runs,))

    period, restart, downtime = column(recovery.period), column(recovery.restart), column(recovery.downtime)
    write = column(recovery.write)
    needed = column(total) * period / column(recovery.work)
    time, saved, failures = np.zeros(runs), np.zeros(runs), np.zeros(runs)
    lead = np.zeros(runs)
    """Restart that a run begins with: none before its first failure."""
    active = np.arange(runs)
    for _ in range(most):
        if not len(active):
            return SimulatedRuns(time=time, failures=failures)
        gap = draw(active)
        ran = gap - lead[active]
        left = needed[active] - saved[active]
        done = ran >= left
        ended, failed = active[done], active[~done]
        time[ended] += lead[ended] + left[done]
        time[failed] += gap[~done] + downtime[failed]
        failures[failed] += 1.0
        whole = np.floor(np.maximum(ran[~done] - write[failed], 0.0) / period[failed])
        saved[failed] += whole * period[failed]
        lead[failed] = restart[failed]
        active = failed
    raise OutsideDomainError(
        f"{len(active)} of {runs} runs were not done after {most:,} failures each: a restart of "
        f"{float(np.max(restart)):g} s with a period of {float(np.max(period)):g} s does not fit between failures"
    )
