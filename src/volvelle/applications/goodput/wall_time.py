"""Where the wall time of a run goes: parts that sum to it, of one run or of columns of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from volvelle.laws.reliability.asynchronous import asynchronous_time, best_asynchronous_interval
from volvelle.laws.reliability.elastic import elastic_ettr
from volvelle.laws.reliability.hazards import time_between
from volvelle.laws.reliability.out_of_service import chance_without_spare, nodes_out
from volvelle.laws.reliability.run_length import run_variance
from volvelle.laws.reliability.two_tier import best_two_tier, two_tier_time
from volvelle.quantities import Number, Seconds

WORK, STALLS, REWORK, DETECTION, RESTART = "work", "stalls", "work done twice", "detection", "restart"
WAITING, SLOW, PLANNED_STOPS, CORRUPTION = "waiting for a spare", "slow nodes", "planned stops", "silent corruption"
CAPACITY = "waiting for capacity"
PARTS = (WORK, STALLS, REWORK, DETECTION, RESTART, CAPACITY, WAITING, SLOW, PLANNED_STOPS, CORRUPTION)
RUNNING = (WORK, STALLS, REWORK, SLOW)
"""Parts in which accelerators work."""
_MOST_WAITING = 0.999
_LONGEST = 1e30
"""Seconds at which a run that never ends is cut off, so that sums stay numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """A run in numbers; each may be a column, and all broadcast."""

    work: Seconds
    rate: Number
    """Interruptions a second."""
    restart: Seconds
    stall: Seconds
    detection: Number = 0.5
    downtime: Seconds = 0.0
    """After an interruption, on average, before anything can fail again: waiting for capacity."""
    write: Seconds = 0.0
    slowdown: Number = 0.0
    survived: Number = 0.0
    """With two tiers, share of failures that go back to the memory of a peer, by the stall and the restart above."""
    storage_stall: Seconds | None = None
    """Of the others, which go back to storage; None: there is one tier."""
    storage_restart: Seconds = 0.0
    interval: Seconds | None = None
    """None: the best of each."""
    replicas: Number = 1.0
    common: Number = 0.0
    slow: Number = 1.0
    """Time of a step over that without slow nodes."""
    waiting: Number = 0.0
    """Share of time without enough nodes; of the rest, planned stops; of what is left then, silent corruption."""
    planned: Number = 0.0
    corruption: Number = 0.0

    @property
    def between(self) -> Seconds:
        """Seconds between interruptions."""
        return time_between(self.rate)

    @property
    def chosen(self) -> Seconds:
        """Work between checkpoints: as given or the best, and never longer than the run."""
        asked = self.interval
        if asked is None and self.storage_stall is not None:
            asked, _ = self._best_tiers
        elif asked is None:
            # Replicas that go on hold the state; a write in flight is not what a failure waits for.
            flight = 0.0 if self.alone else self.write
            asked = best_asynchronous_interval(self.between / self._thrown_back, stall=self.paused, write=flight)
            asked = np.where(np.asarray(asked) > 0.0, asked, 1.0)
        return np.minimum(asked, self.productive)

    @property
    def _best_tiers(self) -> tuple[Seconds, Seconds]:
        assert self.storage_stall is not None, "there are two tiers"
        memory, storage = best_two_tier(
            self.between, survived=self.survived, memory_stall=self.stall, storage_stall=self.storage_stall
        )
        # A checkpoint that costs nothing is made every second.
        return np.where(np.asarray(memory) > 0.0, memory, 1.0), np.where(np.asarray(storage) > 0.0, storage, 1.0)

    @property
    def segments(self) -> Number:
        """Checkpoints in memory for each in storage; one where there is one tier."""
        if self.storage_stall is None:
            return 1.0
        storage = np.minimum(self._best_tiers[1], self.productive)
        return np.asarray(np.maximum(np.round(storage / self.chosen), 1.0))

    @property
    def productive(self) -> Seconds:
        """Seconds of work at the pace that slow nodes allow."""
        return np.asarray(self.work, dtype=float) * self.slow

    @property
    def paused(self) -> Seconds:
        """Seconds that a checkpoint takes from the work: its stall, and what a write behind the work slows it by."""
        stored = 0.0 if self.storage_stall is None else self.storage_stall / self.segments
        return np.asarray(self.stall) + np.asarray(self.slowdown) * self.write + stored

    @property
    def stood_still(self) -> Seconds:
        """Seconds of restart that a failure costs all replicas, where one of them restarts alone."""
        return np.asarray(self.restart) * (np.asarray(self.detection) + 1.0 / np.asarray(self.replicas) + self.common)

    @property
    def _thrown_back(self) -> Number:
        """Share of failures that throw a job back to its last checkpoint; as all, where no replica ever is."""
        share = np.asarray(self.common)
        return np.asarray(np.where((share > 0.0) & (np.asarray(self.replicas) > 1.0), share, 1.0))

    @property
    def left(self) -> Number:
        """Share of time in which the job may run."""
        return np.asarray(
            (1.0 - np.asarray(self.waiting)) * (1.0 - np.asarray(self.planned)) * (1.0 - np.asarray(self.corruption))
        )

    @property
    def alone(self) -> bool:
        """Whether a replica restarts alone."""
        return bool(np.any(np.asarray(self.replicas) > 1.0))


def waiting_share(nodes: Number, *, rate: Number, repair: Seconds, dispersion: Number, spares: Number) -> Number:
    """Share of time in which more nodes are out than there are spares, each failing at some rate; never all of it."""
    out = nodes_out(nodes, rate=rate, repair=repair)
    return np.minimum(chance_without_spare(out, dispersion=dispersion, spares=spares), _MOST_WAITING)


def wall_time(run: Circumstances) -> Mapping[str, Number]:
    """Seconds by part; they sum to the wall time."""
    productive, interval, between = run.productive, run.chosen, run.between
    stalls = productive * run.paused / interval
    if run.storage_stall is not None:
        tried, core = (np.minimum(productive * _tiered_time(run, again), _LONGEST) for again in (0.0, 1.0))
        restarts, capacity = core - tried, core * np.asarray(run.downtime) * np.asarray(run.rate)
        core = core + capacity
    elif run.alone:
        ettr = elastic_ettr(
            interval,
            between=between,
            checkpoint=run.paused,
            stall=np.asarray(run.restart) * run.detection,
            catch_up=np.asarray(run.restart) + run.downtime,
            replicas=run.replicas,
            restart=run.restart,
            common=run.common,
        )
        with np.errstate(divide="ignore"):
            core = np.minimum(productive / ettr, _LONGEST)
        missing = np.asarray(run.downtime) / run.replicas
        lost = np.minimum(core * (run.stood_still + missing) / between, core - productive - stalls)
        with np.errstate(invalid="ignore"):
            capacity = np.where(missing > 0.0, lost * missing / (run.stood_still + missing), 0.0)
        restarts, tried = lost - capacity, core - lost
    else:
        common: dict[str, Any] = {"between": between, "stall": run.stall, "write": run.write, "slowdown": run.slowdown}
        with np.errstate(over="ignore"):
            tried = np.minimum(productive * asynchronous_time(interval, **common), _LONGEST)
            exposed = np.minimum(productive * asynchronous_time(interval, restart=run.restart, **common), _LONGEST)
            common["downtime"] = run.downtime
            core = np.minimum(productive * asynchronous_time(interval, restart=run.restart, **common), _LONGEST)
        restarts, capacity = exposed - tried, core - exposed
    # Of the time that nodes are there and nothing is planned, some is void: shares of shares, of which some is left.
    void = core / (1.0 - np.asarray(run.corruption))
    stopped = void / (1.0 - np.asarray(run.planned))
    whole = core / run.left
    # A last period that is cut short by the end of the run may leave a rounding below zero.
    rework = np.maximum(tried - productive - stalls, 0.0)
    return {
        WORK: np.asarray(run.work, dtype=float) + 0.0 * whole,
        STALLS: stalls + 0.0 * whole,
        REWORK: rework,
        DETECTION: restarts * run.detection,
        RESTART: restarts * (1.0 - np.asarray(run.detection)),
        CAPACITY: capacity + 0.0 * whole,
        WAITING: whole - stopped,
        SLOW: productive - np.asarray(run.work) + 0.0 * whole,
        PLANNED_STOPS: stopped - void,
        CORRUPTION: void - core,
    }


def _tiered_time(run: Circumstances, again: float) -> Number:
    """Wall time for each second of work with two tiers, with their restarts or (none `again`) without."""
    assert run.storage_stall is not None, "there are two tiers"
    return two_tier_time(
        run.chosen,
        run.segments,
        between=run.between,
        survived=run.survived,
        memory_stall=run.stall,
        storage_stall=run.storage_stall,
        memory_restart=again * np.asarray(run.restart),
        storage_restart=again * np.asarray(run.storage_restart),
    )


def _tiered_variance(run: Circumstances) -> Number:
    """By the number of failures and how far each throws back: somewhere in its period, evenly."""

    def squared(restart: Seconds, period: Seconds) -> Number:
        still = np.asarray(restart) + run.downtime
        return still**2 + still * period + np.asarray(period) ** 2 / 3.0

    memory = np.asarray(run.chosen) + run.stall
    storage = run.segments * memory + np.asarray(run.storage_stall, dtype=float)
    share = np.asarray(run.survived)
    lost = share * squared(run.restart, memory) + (1.0 - share) * squared(run.storage_restart, storage)
    exposed = np.minimum(run.productive * _tiered_time(run, 1.0), _LONGEST)
    return np.asarray(exposed * np.asarray(run.rate) * lost / run.left**2)


def chance_variance(run: Circumstances) -> Number:
    """Variance of the wall time by chance alone; of replicas that restart alone, by the number of failures."""
    if run.storage_stall is not None:
        return _tiered_variance(run)
    if run.alone:
        return np.asarray(
            run.productive * np.asarray(run.rate) * (run.stood_still + run.downtime / run.replicas) ** 2 / run.left**2
        )
    with np.errstate(over="ignore", invalid="ignore"):
        found = run_variance(
            run.productive,
            run.chosen,
            between=run.between,
            stall=run.paused,
            restart=run.restart,
            downtime=run.downtime,
        )
    return np.asarray(np.nan_to_num(found, nan=_LONGEST, posinf=_LONGEST) / run.left**2)


def lucky_time(run: Circumstances, luck: Number) -> Number:
    """Wall time at so many standard deviations of luck: nearly normal while chance is small, and never below the work.

    Log-normal with the mean and the deviation of the run; where it gets nowhere, as far apart as its mean.
    """
    mean = np.asarray(sum(wall_time(run).values()))
    share = np.minimum(np.sqrt(chance_variance(run)) / mean, 1.0)
    return np.asarray(np.maximum(mean * np.exp(share * luck - share**2 / 2.0), run.work))


def ettr_of(run: Circumstances) -> Number:
    """Effective training time ratio: work over wall time."""
    parts = wall_time(run)
    return np.asarray(parts[WORK] / sum(parts.values()))


def flatness(run: Circumstances) -> tuple[float, float, float]:
    """Effective training time ratio with half the interval, with it, and with twice it."""
    tried = float(np.asarray(run.chosen)) * np.array([0.5, 1.0, 2.0])
    half, same, double = np.asarray(ettr_of(replace(run, interval=tried))).tolist()
    return half, same, double
