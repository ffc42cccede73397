"""Closed forms held against many runs."""

import itertools
import math
from dataclasses import dataclass
from typing import final

import numpy as np
import pytest

from volvelle.catalogue.reliability import recorded_faults
from volvelle.errors import OutsideDomainError
from volvelle.laws.reliability.asynchronous import asynchronous_time, best_asynchronous_interval
from volvelle.laws.reliability.checkpoint_interval import best_interval, renewal_time
from volvelle.laws.reliability.run_length import run_variance
from volvelle.quantities import DAY
from volvelle.simulation.failures.gaps import AbstractGaps, Column, Draw, ExponentialGaps, Indices
from volvelle.simulation.failures.runs import Recovery, SimulatedRuns, simulate_runs

STALLS = np.geomspace(1e-4, 1.0, 10)
RESTARTS = (0.0, 0.05, 0.15, 0.3, 0.6)
INTERVALS = ("half", "best", "double", "young")
GRID = list(itertools.product(STALLS, RESTARTS, INTERVALS))
"""200 cases, in units of the time between failures."""
CASE = Recovery(work=750.0, stall=30.0, restart=600.0)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WeibullGaps(AbstractGaps):
    """Failures that come in bursts (a shape below one) or in turns (above)."""

    mean: float
    shape: float

    def begin(self, generator: np.random.Generator, runs: int) -> Draw:
        """Renewed at each failure."""
        scale = self.mean / math.gamma(1.0 + 1.0 / self.shape)
        return lambda places: scale * generator.weibull(self.shape, len(places))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MixedNodeGaps(AbstractGaps):
    """Nodes whose rates differ: each run has its own draw of all of them."""

    mean: float
    """Of a job on nodes that are drawn at random."""
    nodes: int
    shape: float
    """Of the gamma distribution of rates across nodes."""

    def begin(self, generator: np.random.Generator, runs: int) -> Draw:
        """The sum of rates of a run's nodes is gamma-distributed too."""
        whole = self.nodes * self.shape
        rates = generator.gamma(whole, 1.0 / whole, runs) / self.mean
        return lambda places: generator.standard_exponential(len(places)) / rates[places]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedGaps(AbstractGaps):
    """Gaps as they were recorded, each run from another place on, round and round."""

    gaps: tuple[float, ...]

    def begin(self, generator: np.random.Generator, runs: int) -> Draw:
        """From places by chance, and from some time into the gap there."""
        recorded = np.asarray(self.gaps)
        ends = np.cumsum(recorded)
        when = generator.random(runs) * ends[-1]
        cursor = np.searchsorted(ends, when, side="right")
        first: Column = ends[cursor] - when
        begun = np.zeros(runs, dtype=bool)

        def draw(places: Indices) -> Column:
            found = np.where(begun[places], recorded[cursor[places]], first[places])
            begun[places] = True
            cursor[places] = (cursor[places] + 1) % len(recorded)
            return np.asarray(found)

        return draw


def gaps_of(starts: Column, *, length: float) -> tuple[float, ...]:
    """Gaps between recorded starts, the last one to the first of the next round of a trace of some length."""
    ordered = np.sort(np.asarray(starts, dtype=float))
    around = np.append(np.diff(ordered), length - ordered[-1] + ordered[0])
    return tuple(float(gap) for gap in around)


def interval(name: str, stall: float) -> float:
    best = float(best_interval(1.0, stall))
    return {"half": best / 2, "best": best, "double": 2 * best, "young": (2 * stall) ** 0.5}[name]


def thirty_days(gaps: AbstractGaps, *, runs: int = 4000, recovery: Recovery = CASE) -> SimulatedRuns:
    return simulate_runs(30 * DAY, recovery, gaps, runs=runs, seed=1)


@pytest.mark.parametrize("chosen", INTERVALS)
def test_the_exact_time_is_that_of_simulated_runs_over_a_grid(chosen: str) -> None:
    for place, (stall, restart, name) in enumerate(GRID):
        if name != chosen:
            continue
        work = interval(name, stall)
        recovery = Recovery(work=work, stall=stall, restart=restart)
        total = np.ceil(60.0 / work) * work
        found = simulate_runs(total, recovery, ExponentialGaps(mean=1.0), runs=500, seed=place)
        exact = float(total * renewal_time(work, between=1.0, stall=stall, restart=restart))
        assert abs(found.mean - exact) <= max(0.01 * exact, 3 * found.error), (stall, restart, name)


def test_mean_and_deviation_of_days() -> None:
    found = thirty_days(ExponentialGaps(mean=10000.0), runs=10_000)
    known = {"between": 10000.0, "stall": 30.0, "restart": 600.0}
    assert found.mean == pytest.approx(float(30 * DAY * renewal_time(750.0, **known)), rel=5e-3)
    assert float(np.std(found.time)) == pytest.approx(float(np.sqrt(run_variance(30 * DAY, 750.0, **known))), rel=0.05)
    low, high = np.quantile(found.time, [0.1, 0.9]) / DAY
    assert (low, high) == (pytest.approx(34.19, abs=0.03), pytest.approx(34.72, abs=0.03))


@pytest.mark.parametrize(("stall", "write", "slowdown"), [(1, 60, 0), (1, 60, 0.05), (0.6, 51, 0.02), (5, 300, 0.05)])
def test_asynchronous_checkpoints(stall: float, write: float, slowdown: float) -> None:
    work = float(best_asynchronous_interval(10000.0, stall=stall, write=write, slowdown=slowdown))
    recovery = Recovery(work=work, stall=stall, restart=600.0, write=write, slowdown=slowdown)
    found = thirty_days(ExponentialGaps(mean=10000.0), recovery=recovery)
    policy = {"stall": stall, "write": write, "slowdown": slowdown}
    law = asynchronous_time(work, between=10000.0, restart=600.0, **policy)
    assert found.mean / (30 * DAY) == pytest.approx(float(law), rel=0.01)


@pytest.mark.parametrize("shape", [0.7, 1.5])
def test_gaps_that_are_not_exponential_move_the_mean_little(shape: float) -> None:
    found = thirty_days(WeibullGaps(mean=10000.0, shape=shape))
    law = float(renewal_time(750.0, between=10000.0, stall=30.0, restart=600.0))
    assert found.mean / (30 * DAY) == pytest.approx(law, rel=0.02)


def test_nodes_that_differ_move_the_spread_and_not_the_mean() -> None:
    alike = thirty_days(ExponentialGaps(mean=10000.0))
    mixed = thirty_days(MixedNodeGaps(mean=10000.0, nodes=8, shape=0.93))
    assert mixed.mean == pytest.approx(alike.mean, rel=0.02)
    assert np.std(mixed.time) > 2 * np.std(alike.time)


def test_a_replay_of_exponential_gaps_is_exponential() -> None:
    starts = np.cumsum(np.random.default_rng(3).exponential(10000.0, 5000))
    found = thirty_days(ReplayedGaps(gaps=gaps_of(starts, length=float(starts[-1]) + 10000.0)))
    assert found.mean == pytest.approx(thirty_days(ExponentialGaps(mean=10000.0)).mean, rel=0.01)


def test_the_recorded_trace_replayed_is_within_two_per_cent_of_the_law() -> None:
    starts = np.array([fault.start for fault in recorded_faults()]) * DAY
    gaps = ReplayedGaps(gaps=gaps_of(starts, length=348.98 * DAY))
    mean = float(np.mean(gaps.gaps))
    work = float(best_interval(mean, 30.0))
    found = thirty_days(gaps, recovery=Recovery(work=work, stall=30.0, restart=600.0))
    law = float(renewal_time(work, between=mean, stall=30.0, restart=600.0))
    assert found.mean / (30 * DAY) == pytest.approx(law, rel=0.02)
    alike = thirty_days(ExponentialGaps(mean=mean), recovery=Recovery(work=work, stall=30.0, restart=600.0))
    assert np.std(found.time) > 1.5 * np.std(alike.time)


def test_the_same_seed_gives_the_same_runs() -> None:
    one, two = (thirty_days(ExponentialGaps(mean=10000.0), runs=50).time for _ in range(2))
    assert np.array_equal(one, two)


def test_without_failures_all_runs_take_their_work_and_stalls() -> None:
    found = thirty_days(ExponentialGaps(mean=1e30), runs=10)
    assert found.time == pytest.approx(30 * DAY * 780 / 750)
    assert not found.failures.any()


def test_a_restart_that_never_ends_is_said() -> None:
    hopeless = Recovery(work=10.0, stall=0.0, restart=100.0)
    with pytest.raises(OutsideDomainError, match="does not fit between failures"):
        simulate_runs(1e4, hopeless, ExponentialGaps(mean=1.0), runs=5, seed=0, most=1000)
