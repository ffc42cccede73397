"""Measures of whole runs that will be interrupted, at quantiles: the same samples at every point."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.goodput.wall_time import RUNNING, WORK, lucky_time, wall_time
from volvelle.catalogue.places import middle_intensity
from volvelle.catalogue.reliability import stated_share
from volvelle.estimators.sampler import Stratified
from volvelle.estimators.uncertainty import MODEL
from volvelle.quantities import DAY, Number
from volvelle.spread import log_normal, standard_normal
from volvelle.studies.design_space.failure_terms import FailureTerms

Column = NDArray[np.float64]
SAMPLES = 1024
QUANTILES = (5, 10, 20, 50, 80, 90, 95, 99)
"""Per cents at which a measure may be asked."""
_KWH = 3.6e6
_AT_ONCE = 2048
"""Points whose samples are in memory at a time."""


class WholeRun(Protocol):
    """What of a point these measures need."""

    @property
    def seconds(self) -> Number:
        """Of all work, without anything that goes wrong."""

    @property
    def chips(self) -> float:
        """Accelerators."""

    @property
    def family(self) -> str:
        """Of its chips."""

    @property
    def doubt(self) -> Number:
        """In that, one standard deviation as a factor."""

    @property
    def failures(self) -> FailureTerms:
        """What interrupts it."""

    @property
    def dollars_per_second(self) -> Number:
        """What a second of the machine costs, rented or owned."""

    @property
    def watts(self) -> Number:
        """What the machine takes in training, at the meter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Samples:
    """Quantiles, a column for each thing that is not known; luck is standard normal."""

    rate: Column
    restart: Column
    stall: Column
    write: Column
    step: Column
    chance: Column


@cache
def _samples() -> _Samples:
    column = Stratified(SAMPLES).column
    return _Samples(
        rate=column("failures"),
        restart=column("restart"),
        stall=column("stall"),
        write=column("write"),
        step=column(MODEL),
        chance=standard_normal(column("luck")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledRuns:
    """Runs of each point (a row) on every sample (a column)."""

    days: Column
    ettr: Column
    running: Column
    """Seconds in which accelerators work."""


def sampled_runs(
    seconds: Column, chips: float | Column, doubt: float | Column, failures: FailureTerms | None = None, *, family: str
) -> SampledRuns:
    """Runs of so many seconds of work each on chips of a family, failures as a study states them."""
    drawn, terms = _samples(), failures or FailureTerms()
    count = np.asarray(np.broadcast_to(np.asarray(chips, dtype=float), seconds.shape)[:, None])
    factor = np.broadcast_to(np.asarray(doubt, dtype=float), seconds.shape)[:, None]
    run = replace(
        terms.recovery.circumstances(
            log_normal(seconds[:, None], np.log(factor), drawn.step),
            terms.rates(count, drawn.rate, family),
            restarts=drawn.restart,
            stalls=drawn.stall,
            writes=drawn.write,
        ),
        waiting=terms.waiting(count),
    )
    parts = wall_time(run)
    running = np.asarray(sum(parts[name] for name in RUNNING))
    days = np.asarray(lucky_time(run, drawn.chance)) / DAY
    return SampledRuns(days=days, ettr=np.asarray(parts[WORK]) / (DAY * days), running=running)


Sampled = Callable[[WholeRun, SampledRuns, slice], Column]
"""Something of the points of some rows, on every sample."""


def _dollars(outcome: WholeRun, runs: SampledRuns, rows: slice) -> Column:
    return runs.days * DAY * _rows(outcome.dollars_per_second, rows)


def _energy(outcome: WholeRun, runs: SampledRuns, rows: slice) -> Column:
    idle = stated_share("node-power", "idle_load").value
    standing = np.maximum(runs.days * DAY - runs.running, 0.0)
    return _rows(outcome.watts, rows) * (runs.running + idle * standing) / _KWH


SAMPLED: Mapping[str, Sampled] = {
    "days": lambda outcome, runs, rows: runs.days,
    "ettr": lambda outcome, runs, rows: runs.ettr,
    "run_usd": _dollars,
    "kwh": _energy,
    "tco2e": lambda outcome, runs, rows: _energy(outcome, runs, rows) * (middle_intensity() / 1e6),
}
"""Measures of runs that will be interrupted: days, the share of them that is training, what the machine costs in them,
energy at the meter (while it does not run, a share of it), and carbon of that in the middle of regions of clouds."""


def run_quantile(name: str, per_cent: int) -> Callable[[WholeRun], Number]:
    """One of these at a quantile."""
    return lambda outcome: _over_points(outcome, name, lambda column: np.quantile(column, per_cent / 100.0, axis=1))


def run_chance(outcome: WholeRun, name: str, holds: Callable[[Column], NDArray[np.bool_]]) -> Number:
    """How likely one of these meets a condition."""
    return _over_points(outcome, name, lambda column: np.mean(holds(column), axis=1))


def _over_points(outcome: WholeRun, name: str, taken: Callable[[Column], Column]) -> Number:
    """Something taken of the samples of every point, some thousands of points at a time."""
    seconds = np.atleast_1d(np.asarray(outcome.seconds, dtype=float))
    doubt = np.broadcast_to(np.asarray(outcome.doubt, dtype=float), seconds.shape)
    found = np.empty(seconds.shape)
    for start in range(0, len(seconds), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        with np.errstate(invalid="ignore", over="ignore"):
            runs = sampled_runs(seconds[rows], outcome.chips, doubt[rows], outcome.failures, family=outcome.family)
            found[rows] = taken(SAMPLED[name](outcome, runs, rows))
    return found if np.ndim(outcome.seconds) else float(found[0])


def _rows(values: Number, rows: slice) -> Column:
    column = np.atleast_1d(np.asarray(values, dtype=float))
    return (column if len(column) == 1 else column[rows])[:, None]
