"""A job run failure by failure, many times over, beside its closed form."""

from dataclasses import replace

import numpy as np

from volvelle.applications.goodput.run_estimate import RunEstimate, middle
from volvelle.applications.goodput.wall_time import Circumstances, chance_variance
from volvelle.errors import DescriptionError
from volvelle.quantities import DAY
from volvelle.simulation.failures.elastic import ElasticRecovery, simulate_elastic
from volvelle.simulation.failures.gaps import ExponentialGaps
from volvelle.simulation.failures.runs import Recovery, SimulatedRuns, simulate_runs
from volvelle.simulation.failures.tiers import TwoTiers, simulate_tiered_runs
from volvelle.verbs.job.answer import Simulated

_RUNS = 2000
"""Of a check."""
_MOST_FAILURES = 20_000
"""Of one of them: ten seconds of a core."""
_MOST_CHECKPOINTS = 2e6
"""Of all runs together, one after another."""
_MOST_PLACES = 400_000
"""Replicas of all runs together that are looked at after every failure."""


def simulated(run: RunEstimate, seed: int) -> Simulated:
    """The run at middle values, many times."""
    centre = middle(run.plan)
    if run.problem:
        raise DescriptionError(f"the run is not simulated, it would not end: {run.problem}")
    expected = run.wall / float(centre.between)
    if expected > _MOST_FAILURES:
        raise DescriptionError(
            f"a run would fail {expected:,.0f} times, more than the {_MOST_FAILURES:,} that are simulated; ask without "
            "--check, or of fewer tokens"
        )
    elsewhere = float(np.asarray(centre.left))
    found = simulated_runs(centre, seed)
    whole = replace(centre, waiting=0.0, planned=0.0, corruption=0.0)
    return Simulated(
        runs=len(found.time),
        failures=float(np.mean(found.failures)),
        days=found.mean / elsewhere / DAY,
        deviation=float(np.std(found.time)) / elsewhere / DAY,
        closed_days=run.wall / DAY,
        closed_deviation=float(np.sqrt(chance_variance(whole))) / elsewhere / DAY,
    )


def simulated_runs(run: Circumstances, seed: int, *, runs: int = _RUNS) -> SimulatedRuns:
    """One run so many times, or as often as there is time for, as it recovers; what keeps it from running left out."""
    if run.storage_stall is not None:
        return _tiers(run, float(run.storage_stall), runs, seed)
    return _replicas(run, runs, seed) if run.alone else _together(run, runs, seed)


def _between(centre: Circumstances) -> float:
    return float(np.minimum(centre.between, 1e30))


def _gaps(centre: Circumstances) -> ExponentialGaps:
    return ExponentialGaps(mean=_between(centre))


def _together(centre: Circumstances, runs: int, seed: int) -> SimulatedRuns:
    recovery = Recovery(
        work=float(np.asarray(centre.chosen)),
        stall=float(np.asarray(centre.stall)),
        restart=float(np.asarray(centre.restart)),
        downtime=float(np.asarray(centre.downtime)),
        write=float(np.asarray(centre.write)),
        slowdown=float(np.asarray(centre.slowdown)),
    )
    return simulate_runs(float(centre.productive), recovery, _gaps(centre), runs=runs, seed=seed)


def _replicas(centre: Circumstances, runs: int, seed: int) -> SimulatedRuns:
    replicas, restart = int(np.asarray(centre.replicas)), float(np.asarray(centre.restart))
    recovery = ElasticRecovery(
        work=float(np.asarray(centre.chosen)),
        checkpoint=float(np.asarray(centre.paused)),
        stall=restart * float(np.asarray(centre.detection)),
        catch_up=restart + float(np.asarray(centre.downtime)),
        replicas=replicas,
        restart=restart,
        common=float(np.asarray(centre.common)),
    )
    fewer = max(20, min(runs, _MOST_PLACES // replicas))
    return simulate_elastic(float(centre.productive), recovery, _gaps(centre), runs=fewer, seed=seed)


def _tiers(centre: Circumstances, storage_stall: float, runs: int, seed: int) -> SimulatedRuns:
    tiers = TwoTiers(
        work=float(np.asarray(centre.chosen)),
        segments=int(np.asarray(centre.segments)),
        memory_stall=float(np.asarray(centre.stall)),
        storage_stall=storage_stall,
        memory_restart=float(np.asarray(centre.restart)),
        storage_restart=float(np.asarray(centre.storage_restart)),
        downtime=float(np.asarray(centre.downtime)),
    )
    checkpoints = float(centre.productive) / tiers.work
    return simulate_tiered_runs(
        float(centre.productive),
        tiers,
        between=_between(centre),
        survived=float(np.asarray(centre.survived)),
        runs=max(20, min(runs, int(_MOST_CHECKPOINTS / checkpoints))),
        seed=seed,
    )
