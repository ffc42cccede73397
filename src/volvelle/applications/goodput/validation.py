"""Effective training time of runs that were reported, predicted from other systems alone, and with their own rates.

The rows (``measurements/goodput.csv``) are never fitted to. What a source calls "more than" or "up to" is a bound: an
interval holds it where some of it lies on the right side.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

import numpy as np

from volvelle.applications.goodput.inputs import Way, recovery_policy
from volvelle.applications.goodput.run_plan import Column
from volvelle.applications.goodput.wall_time import Circumstances, ettr_of
from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.catalogue.reliability import NODE, rate_prior
from volvelle.estimators.sampler import Stratified
from volvelle.quantities import DAY

SAMPLES = 4096
_PODS = (4096.0, 8 * 4096.0)
"""Accelerators of a run that states none: one to eight pods."""
_REPLICA = 4096
"""Accelerators of a replica that restarts alone, where no source says."""
_LONG = 30 * DAY
"""Work of a run: long enough that its end does not matter."""
_WAYS: Mapping[str, Way] = {
    "asynchronous": "asynchronous",
    "synchronous": "synchronous",
    "memory of replicas": "memory",
    "elastic": "elastic",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRun:
    """A row."""

    name: str
    accelerators: int | None
    way: str
    least: float | None
    most: float | None
    """What was reported: a figure where both are the same, a bound where one is missing, nothing where both are."""
    interval: float | None
    between: float | None
    restart: float | None
    stall: float | None
    source: str
    note: str

    @property
    def reported(self) -> str:
        """For people."""
        if self.least is None and self.most is None:
            return "–"
        if self.least == self.most:
            return f"{self.least:.2f}"
        return f"> {self.least:.2f}" if self.most is None else f"≤ {self.most:.2f}"

    def distance(self, ratio: float) -> float | None:
        """Of a prediction from what was reported; None: nothing was."""
        if self.least is None and self.most is None:
            return None
        below = max(0.0, self.least - ratio) if self.least is not None else 0.0
        above = max(0.0, ratio - self.most) if self.most is not None else 0.0
        return below + above

    def within(self, low: float, high: float) -> bool | None:
        """Whether an interval holds it."""
        if self.least is None and self.most is None:
            return None
        return (self.least is None or high >= self.least) and (self.most is None or low <= self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedRun:
    """A row and what is said of it."""

    row: ReportedRun
    low: float
    middle: float
    high: float
    """From other systems alone: an 80 % interval."""
    own: float | None
    """With the source's own rate and restart, as far as it states them; None: it states neither."""

    @property
    def held(self) -> bool | None:
        """Whether the interval holds what was reported."""
        return self.row.within(self.low, self.high)

    @property
    def own_distance(self) -> float | None:
        """Of the figure with its own numbers from what was reported."""
        return None if self.own is None else self.row.distance(self.own)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodputValidation:
    """All rows, worst first."""

    runs: tuple[PredictedRun, ...]

    @property
    def scored(self) -> tuple[PredictedRun, ...]:
        """Rows that report a figure."""
        return tuple(run for run in self.runs if run.held is not None)

    @property
    def held(self) -> int:
        """Rows whose interval holds it."""
        return sum(bool(run.held) for run in self.scored)

    @property
    def width(self) -> float:
        """Of intervals, in the mean."""
        return float(np.mean([run.high - run.low for run in self.scored]))

    @property
    def own_distance(self) -> float:
        """Median distance with the sources' own numbers."""
        return median(run.own_distance for run in self.scored if run.own_distance is not None)


def reported_runs() -> tuple[ReportedRun, ...]:
    """Rows of the package."""

    def cell(row: Mapping[str, str], name: str, unit: float = 1.0) -> float | None:
        return float(row[name]) * unit if row[name] else None

    return tuple(
        ReportedRun(
            name=row["run"],
            accelerators=int(row["accelerators"]) if row["accelerators"] else None,
            way=row["way"],
            least=cell(row, "ettr_low"),
            most=cell(row, "ettr_high"),
            interval=cell(row, "interval_s"),
            between=cell(row, "own_mtbf_h", 3600.0),
            restart=cell(row, "own_restart_s"),
            stall=cell(row, "own_stall_s"),
            source=row["source"],
            note=row["note"],
        )
        for row in packaged_rows("measurements/goodput.csv")
    )


def validate_goodput(seed: int = 0) -> GoodputValidation:
    """Every row, from other systems alone and with its own numbers."""
    found = [_predicted(row, seed) for row in reported_runs()]
    return GoodputValidation(runs=tuple(sorted(found, key=lambda run: -(run.row.distance(run.middle) or 0.0))))


def _predicted(row: ReportedRun, seed: int) -> PredictedRun:
    slices = Stratified(SAMPLES, seed).column
    prior, policy = rate_prior(), recovery_policy(_WAYS[row.way], interval=row.interval)
    low, high = _PODS
    sizes = np.full(SAMPLES, row.accelerators) if row.accelerators else low * (high / low) ** slices("accelerators")
    size = float(np.median(sizes))
    rates = sizes / NODE * prior.spread(size).at(slices("failures"))
    restarts = policy.restart.at(slices("restart"))
    stalls = policy.stall.at(slices("stall"))
    replicas = max(2.0, size / _REPLICA) if row.way == "elastic" else 1.0

    def ettr(rate: float | Column, restart: float | Column, stall: float | Column, detection: float) -> Column:
        run = Circumstances(
            work=_LONG,
            rate=rate,
            restart=restart,
            stall=stall,
            detection=detection,
            write=0.0 if row.interval else policy.write,
            interval=row.interval,
            replicas=replicas,
        )
        return np.asarray(ettr_of(run))

    ends = np.quantile(ettr(rates, restarts, stalls, policy.detection), [0.1, 0.5, 0.9])
    own = None
    if row.between is not None or row.restart is not None:
        own = float(
            ettr(
                1.0 / row.between if row.between else float(np.median(rates)),
                row.restart or policy.restart.median,
                row.stall or policy.stall.median,
                # What a source of replicas calls the stall is all of it.
                1.0 if row.way == "elastic" and row.restart else policy.detection,
            )
        )
    return PredictedRun(row=row, low=float(ends[0]), middle=float(ends[1]), high=float(ends[2]), own=own)
