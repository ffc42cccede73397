"""Runs whose replicas restart alone, many at once, failure by failure."""

from dataclasses import dataclass

import numpy as np

from volvelle.errors import OutsideDomainError
from volvelle.simulation.failures.gaps import AbstractGaps, Column
from volvelle.simulation.failures.runs import SimulatedRuns

_MOST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticRecovery:
    """What a failure does to replicas."""

    work: float
    """Seconds of work between checkpoints."""
    checkpoint: float
    """That each takes from the work."""
    stall: float
    """That all stand still for; a failure in it begins it anew."""
    catch_up: float
    """That the replica which failed is missing for after that, while the others go on."""
    replicas: int
    restart: float
    """Of all replicas, where a failure stops all."""
    common: float = 0.0
    """Share of failures that do, and throw all back to the last checkpoint."""

    @property
    def period(self) -> float:
        """Of a checkpoint and the work before it."""
        return self.work + self.checkpoint


def simulate_elastic(
    total: float, recovery: ElasticRecovery, gaps: AbstractGaps, *, runs: int, seed: int, most: int = _MOST
) -> SimulatedRuns:
    """So many runs of `total` seconds of work each; a failure hits a replica at random, also one that is missing."""
    generator = np.random.default_rng(seed)
    draw = gaps.begin(generator, runs)
    needed = total * recovery.period / recovery.work
    clock, done, failures, lead = (np.zeros(runs) for _ in range(4))
    missing_until = np.zeros((runs, recovery.replicas))
    active = np.arange(runs)
    for _ in range(most):
        if not len(active):
            return SimulatedRuns(time=clock, failures=failures)
        begins, fails = clock[active] + lead[active], clock[active] + draw(active)
        since = np.maximum(missing_until[active], begins[:, None])
        reached = np.mean(np.maximum(fails[:, None] - since, 0.0), axis=1)
        left = needed - done[active]
        ends = reached >= left
        clock[active[ends]] = _end(since[ends], left[ends])
        failed, standing = active[~ends], fails[~ends] < begins[~ends]
        done[failed] += reached[~ends]
        clock[failed] = fails[~ends]
        failures[failed] += 1.0
        stops_all = generator.random(len(failed)) < recovery.common
        anew = np.where(stops_all, recovery.restart, recovery.stall)
        # A failure while all stand still begins that anew, the longer of the two.
        lead[failed] = np.where(standing, np.maximum(lead[failed], anew), anew)
        together, alone = failed[stops_all], failed[~stops_all]
        done[together] = np.floor(done[together] / recovery.period) * recovery.period
        missing_until[together] = 0.0
        hit = generator.integers(recovery.replicas, size=len(alone))
        missing_until[alone, hit] = clock[alone] + lead[alone] + recovery.catch_up
        active = failed
    raise OutsideDomainError(
        f"{len(active)} of {runs} runs were not done after {most:,} failures each: standing still for "
        f"{recovery.stall:g} s does not fit between failures"
    )


def _end(since: Column, left: Column) -> Column:
    """When work is done by replicas that are there since some time each, all of them together counting one."""
    arrived = np.sort(since, axis=1)
    there = np.arange(1, arrived.shape[1] + 1)
    ends = (left[:, None] * arrived.shape[1] + np.cumsum(arrived, axis=1)) / there
    nexts = np.concatenate((arrived[:, 1:], np.full((len(arrived), 1), np.inf)), axis=1)
    first = np.argmax(ends <= nexts, axis=1)
    return np.asarray(ends[np.arange(len(ends)), first])
