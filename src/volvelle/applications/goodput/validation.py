"""Effective training time of runs that were reported, predicted from other systems alone, and with their own rates.

The rows (``measurements/goodput.csv``) are never fitted to. What a source calls "more than" or "up to" is a bound: an
interval holds it where some of it lies on the right side.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from statistics import median

import numpy as np

from volvelle.applications.goodput.inputs import recovery_policy
from volvelle.applications.goodput.run_plan import Column
from volvelle.applications.goodput.wall_time import Circumstances, ettr_of
from volvelle.catalogue.packaged_rows import packaged_rows
from volvelle.catalogue.reliability import NODE, rate_prior
from volvelle.estimators.sampler import Stratified
from volvelle.quantities import DAY
from volvelle.questions.job import Way
from volvelle.spread import LogNormal

SAMPLES = 4096
_PODS = (4096.0, 8 * 4096.0)
"""Accelerators of a run that states none: one to eight pods."""
_REPLICA = 4096
"""Accelerators of a replica that restarts alone, where no source says."""
_LONG = 30 * DAY
"""Work of a run: long enough that its end does not matter."""
FAILURES, RESTART, STALL, WRITE, SIZE = IN_DOUBT = ("failures", "restart", "stall", "write", "accelerators")
"""Inputs that other systems do not tell exactly; the number of accelerators, where a source does not state it."""
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
    family: str | None
    """Of its chips; None: the source does not say."""
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
class Ends:
    """An 80 % interval and its middle."""

    low: float
    middle: float
    high: float

    @property
    def width(self) -> float:
        """From end to end."""
        return self.high - self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedRun:
    """A row and what is said of it."""

    row: ReportedRun
    prior: Ends
    """From other systems alone."""
    recovery: Ends
    """Failures of other systems, restart and stall as the source states them, as far as it does."""
    stated: Ends
    """Failures as the source states them too."""
    own: float | None
    """With the source's own rate and restart, as far as it states them; None: it states neither."""
    alone: Mapping[str, float]
    """Width from other systems where one input alone is in doubt."""

    @property
    def held(self) -> bool | None:
        """Whether the interval from other systems alone holds what was reported."""
        return self.holds(self.prior)

    def holds(self, ends: Ends) -> bool | None:
        """Whether an interval holds what was reported."""
        return self.row.within(ends.low, ends.high)

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
        """Rows whose interval from other systems alone holds it."""
        return self.held_by(lambda run: run.prior)

    def held_by(self, of: Callable[[PredictedRun], Ends]) -> int:
        """Rows whose interval, one of the three, holds it."""
        return sum(bool(run.holds(of(run))) for run in self.scored)

    @property
    def width(self) -> float:
        """Of intervals from other systems alone, in the mean."""
        return self.width_by(lambda run: run.prior)

    def width_by(self, of: Callable[[PredictedRun], Ends]) -> float:
        """Of one of the three intervals, in the mean."""
        return float(np.mean([of(run).width for run in self.scored]))

    @property
    def width_alone(self) -> Mapping[str, float]:
        """Mean width from other systems where one input alone is in doubt: what the whole comes from."""
        return {name: float(np.mean([run.alone[name] for run in self.scored])) for name in IN_DOUBT}

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
            family=row["family"] or None,
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
    found = [predicted(row, seed) for row in reported_runs()]
    return GoodputValidation(runs=tuple(sorted(found, key=lambda run: -(run.row.distance(run.prior.middle) or 0.0))))


def predicted(row: ReportedRun, seed: int) -> PredictedRun:
    """One row, from other systems alone and with its own numbers."""
    return PredictedRun(
        row=row,
        prior=_ends(_ettr(row, seed, IN_DOUBT)),
        recovery=_ends(_ettr(row, seed, IN_DOUBT, recovery=True)),
        stated=_ends(_ettr(row, seed, IN_DOUBT, recovery=True, failures=True)),
        own=None
        if row.between is None and row.restart is None
        else float(_ettr(row, seed, (), recovery=True, failures=True)[0]),
        alone={name: _ends(_ettr(row, seed, (name,))).width for name in IN_DOUBT},
    )


def _ends(ratios: Column) -> Ends:
    low, middle, high = np.quantile(ratios, [0.1, 0.5, 0.9])
    return Ends(low=float(low), middle=float(middle), high=float(high))


def _ettr(
    row: ReportedRun, seed: int, in_doubt: Collection[str], *, recovery: bool = False, failures: bool = False
) -> Column:
    """The ratio on samples of what is in doubt, the rest in its middle; recovery and failures as stated if asked so."""
    column = Stratified(SAMPLES, seed).column
    policy = recovery_policy(_WAYS[row.way], interval=row.interval)

    def quantiles(name: str) -> Column:
        return column(name) if name in in_doubt else np.full(SAMPLES, 0.5)

    low, high = _PODS
    sizes = low * (high / low) ** quantiles(SIZE) if row.accelerators is None else np.full(SAMPLES, row.accelerators)
    size = float(np.median(sizes))
    rate: float | Column = sizes / NODE * rate_prior().spread(size, row.family).at(quantiles(FAILURES))
    restart: float | Column = policy.restart.at(quantiles(RESTART))
    stall: float | Column = policy.stall.at(quantiles(STALL))
    # Where an interval is stated, a checkpoint is whole when the next begins, and nothing is known of its write.
    write = 0.0 if row.interval else LogNormal(policy.write, policy.write_doubt).at(quantiles(WRITE))
    detection = policy.detection
    if recovery:
        restart, stall = row.restart or restart, row.stall or stall
        # What a source of replicas calls the stall is all of it.
        detection = 1.0 if row.way == "elastic" and row.restart else detection
    if failures and row.between:
        rate = 1.0 / row.between
    run = Circumstances(
        work=_LONG,
        rate=rate,
        restart=restart,
        stall=stall,
        detection=detection,
        write=write,
        interval=row.interval,
        replicas=max(2.0, size / _REPLICA) if row.way == "elastic" else 1.0,
    )
    return np.asarray(np.broadcast_to(np.asarray(ettr_of(run)), (SAMPLES,)))
