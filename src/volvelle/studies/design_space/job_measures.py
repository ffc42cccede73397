"""Measures of whole runs that will be interrupted, at quantiles: the same samples at every point."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.goodput.inputs import recovery_policy
from volvelle.applications.goodput.wall_time import RUNNING, WORK, Circumstances, lucky_time, wall_time
from volvelle.catalogue.places import middle_intensity
from volvelle.catalogue.reliability import NODE, rate_prior, stated_share
from volvelle.economics.cost_breakdown import CostBreakdown
from volvelle.estimators.sampler import Stratified
from volvelle.estimators.uncertainty import MODEL
from volvelle.quantities import DAY, Number
from volvelle.spread import log_normal, standard_normal

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
    def doubt(self) -> float:
        """In the time of a step, one standard deviation as a factor."""

    @property
    def costs(self) -> CostBreakdown:
        """What the machine costs and takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Samples:
    """Quantiles, a column for each thing that is not known; luck is standard normal."""

    rate: Column
    restart: Column
    stall: Column
    step: Column
    chance: Column


@cache
def _samples() -> _Samples:
    column = Stratified(SAMPLES).column
    return _Samples(
        rate=column("failures"),
        restart=column("restart"),
        stall=column("stall"),
        step=column(MODEL),
        chance=standard_normal(column("luck")),
    )


def sampled_runs(seconds: Column, chips: float | Column, doubt: float | Column) -> tuple[Column, Column, Column]:
    """Days, ratio of useful time and running seconds of each point (a row) on every sample (a column)."""
    drawn, prior, policy = _samples(), rate_prior(), recovery_policy()
    count = np.broadcast_to(np.asarray(chips, dtype=float), seconds.shape)[:, None]
    factor = np.broadcast_to(np.asarray(doubt, dtype=float), seconds.shape)[:, None]
    run = Circumstances(
        work=log_normal(seconds[:, None], np.log(factor), drawn.step),
        rate=count / NODE * prior.at(count, drawn.rate),
        restart=policy.restart.at(drawn.restart),
        stall=policy.stall.at(drawn.stall),
        detection=policy.detection,
        write=policy.write,
    )
    parts = wall_time(run)
    running = np.asarray(sum(parts[name] for name in RUNNING))
    days = np.asarray(lucky_time(run, drawn.chance)) / DAY
    return days, np.asarray(parts[WORK]) / (DAY * days), running


def _asked(outcome: WholeRun, of: Callable[[Column, Column, Column, slice], Column], per_cent: int) -> Number:
    """A quantile of something at every point."""
    seconds = np.atleast_1d(np.asarray(outcome.seconds, dtype=float))
    found = np.empty(seconds.shape)
    for start in range(0, len(seconds), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        with np.errstate(invalid="ignore", over="ignore"):
            column = of(*sampled_runs(seconds[rows], outcome.chips, outcome.doubt), rows)
        found[rows] = np.quantile(column, per_cent / 100.0, axis=1)
    return found if np.ndim(outcome.seconds) else float(found[0])


def run_days(per_cent: int) -> Callable[[WholeRun], Number]:
    """Days, interruptions included."""
    return lambda outcome: _asked(outcome, lambda days, ettr, running, rows: days, per_cent)


def run_ettr(per_cent: int) -> Callable[[WholeRun], Number]:
    """Effective training time ratio."""
    return lambda outcome: _asked(outcome, lambda days, ettr, running, rows: ettr, per_cent)


def run_dollars(per_cent: int) -> Callable[[WholeRun], Number]:
    """The run's share of owning the machine."""

    def of(outcome: WholeRun) -> Number:
        rate = np.atleast_1d(np.asarray(outcome.costs.dollars_per_second, dtype=float))
        return _asked(outcome, lambda days, ettr, running, rows: days * DAY * _rows(rate, rows), per_cent)

    return of


def run_kwh(per_cent: int) -> Callable[[WholeRun], Number]:
    """Energy at the meter; while it does not run, a share of it."""

    def of(outcome: WholeRun) -> Number:
        watts = np.atleast_1d(np.asarray(outcome.costs.power, dtype=float))
        idle = stated_share("node-power", "idle_load").value

        def energy(days: Column, ettr: Column, running: Column, rows: slice) -> Column:
            return _rows(watts, rows) * (running + idle * np.maximum(days * DAY - running, 0.0)) / _KWH

        return _asked(outcome, energy, per_cent)

    return of


def run_tco2e(per_cent: int) -> Callable[[WholeRun], Number]:
    """Carbon of that in the middle of the regions of clouds."""
    energy = run_kwh(per_cent)
    return lambda outcome: energy(outcome) * (middle_intensity() / 1e6)


def _rows(column: Column, rows: slice) -> Column:
    return (column if len(column) == 1 else column[rows])[:, None]
