"""Runs with checkpoints in two tiers, one after another: memory of a peer, and storage."""

from dataclasses import dataclass

import numpy as np

from volvelle.simulation.failures.runs import SimulatedRuns


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoTiers:
    """A pattern of checkpoints: so many segments, each into memory, then one to storage."""

    work: float
    segments: int
    memory_stall: float
    storage_stall: float
    memory_restart: float
    storage_restart: float
    downtime: float = 0.0
    """After every failure, before anything can fail again."""


def simulate_tiered_runs(
    total: float, tiers: TwoTiers, *, between: float, survived: float, runs: int, seed: int
) -> SimulatedRuns:
    """So many runs of `total` seconds of work each, in whole patterns."""
    generator = np.random.default_rng(seed)
    pattern = tiers.segments * tiers.work
    patterns = max(1, round(total / pattern))
    found = np.array([_one_run(tiers, between, survived, patterns, generator) for _ in range(runs)])
    return SimulatedRuns(time=found[:, 0] * total / (patterns * pattern), failures=found[:, 1])


def _one_run(
    tiers: TwoTiers, between: float, survived: float, patterns: int, generator: np.random.Generator
) -> tuple[float, float]:
    """Seconds and failures of so many patterns."""
    lengths = [tiers.work + tiers.memory_stall] * tiers.segments + [tiers.storage_stall]
    clock = failures = 0.0
    for _ in range(patterns):
        place, lead = 0, 0.0
        while place < len(lengths):
            gap = generator.exponential(between)
            if gap < lead + lengths[place]:
                clock += gap + tiers.downtime
                failures += 1.0
                # While storage is read again nothing is in memory that a peer could hold.
                reading = lead == tiers.storage_restart and place == 0 and gap < lead
                if reading or generator.random() >= survived:
                    place, lead = 0, tiers.storage_restart
                else:
                    lead = tiers.memory_restart
            else:
                clock += lead + lengths[place]
                place, lead = place + 1, 0.0
    return clock, failures
