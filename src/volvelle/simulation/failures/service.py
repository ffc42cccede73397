"""Nodes out of service, as a trace recorded them: how many at once, for how much of the time."""

from dataclasses import dataclass

import numpy as np

from volvelle.simulation.failures.gaps import Column


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesOut:
    """Counts of nodes that are out, and how long each count lasted."""

    counts: Column
    durations: Column
    faults: int
    """That began in the time looked at, or before it and lasted into it."""
    out: float
    """Time out of service in it, all of them together."""

    @property
    def mean(self) -> float:
        """Over time."""
        return float(np.sum(self.counts * self.durations) / np.sum(self.durations))

    @property
    def dispersion(self) -> float:
        """Variance over mean, over time."""
        mean = self.mean
        spread = float(np.sum((self.counts - mean) ** 2 * self.durations) / np.sum(self.durations))
        return spread / mean if mean else 1.0

    @property
    def by_little(self) -> float:
        """The mean as faults a time, times how long each was out."""
        length = float(np.sum(self.durations))
        return (self.faults / length) * (self.out / self.faults) if self.faults else 0.0

    def quantile(self, share: float) -> float:
        """Nodes out that suffice for a share of the time."""
        order = np.argsort(self.counts, kind="stable")
        reached = np.cumsum(self.durations[order]) / np.sum(self.durations)
        return float(self.counts[order][min(int(np.searchsorted(reached, share)), len(order) - 1)])


def nodes_out_over(starts: Column, ends: Column, *, since: float, until: float) -> NodesOut:
    """Between two times; what lasts longer is cut off."""
    begun, over = np.clip(starts, since, until), np.clip(ends, since, until)
    inside = over > begun
    begun, over = begun[inside], over[inside]
    times = np.concatenate((begun, over, [since, until]))
    steps = np.concatenate((np.ones(len(begun)), -np.ones(len(over)), [0.0, 0.0]))
    order = np.argsort(times, kind="stable")
    counts = np.cumsum(steps[order])[:-1]
    durations = np.diff(times[order])
    kept = durations > 0.0
    return NodesOut(counts=counts[kept], durations=durations[kept], faults=len(begun), out=float(np.sum(over - begun)))
