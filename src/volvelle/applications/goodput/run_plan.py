"""A run as it is planned: its phases, what fails, how it recovers, where it stands and what an hour costs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from volvelle.applications.goodput.wall_time import Circumstances
from volvelle.domains import (
    ACCELERATORS,
    ERROR_FACTOR,
    HAZARD,
    LOST_SHARE,
    NO_POWER,
    NO_SHARE,
    PUE,
    RECOVERY,
    RENT,
    SPARES,
    STEP_TIME,
    TOKENS,
    check_fields,
    number,
)
from volvelle.errors import DescriptionError
from volvelle.laws.reliability.distributions import gamma_quantile
from volvelle.laws.reliability.hazards import series_hazard
from volvelle.quantities import SECONDS, Number, Seconds, show
from volvelle.spread import LogNormal

Column = NDArray[np.float64]
PLANNED, PREEMPTION = "planned", "preemption"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPhase:
    """Tokens that are trained on at one pace."""

    tokens: float = number(TOKENS)
    tokens_per_step: float = number(TOKENS)
    step: float = number(STEP_TIME)
    """Seconds, as estimated or measured."""
    doubt: float = number(ERROR_FACTOR, 1.0)
    """One standard deviation of the step's time, as a factor."""

    def __post_init__(self) -> None:
        check_fields(self, "phase of a run")

    @property
    def steps(self) -> float:
        """In all."""
        return self.tokens / self.tokens_per_step

    @property
    def work(self) -> float:
        """Seconds without anything that goes wrong."""
        return self.steps * self.step


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHazard:
    """So many parts of a kind, each of which stops the job."""

    part: str
    count: float
    rate: float = number(HAZARD)
    """Events a second of one."""

    @property
    def events_per_second(self) -> float:
        """Of all of them."""
        return self.count * self.rate


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHazard:
    """What interrupts the job, part by part, and how far all of it together is known."""

    parts: tuple[PartHazard, ...]
    doubt: float = number(ERROR_FACTOR, 1.0)
    """One standard deviation, as a factor; of a log-normal distribution around the sum of the parts."""
    shape: float | None = None
    """Of a gamma distribution with the sum of the parts as its mean, after own events; None: log-normal."""
    basis: str = ""
    """What it rests on, for people."""

    @property
    def rate(self) -> float:
        """Interruptions a second."""
        return float(series_hazard([part.count for part in self.parts], [part.rate for part in self.parts]))

    @property
    def planned(self) -> float:
        """Of these, planned ones."""
        return sum(part.events_per_second for part in self.parts if part.part == PLANNED)

    @property
    def preempted(self) -> float:
        """Of these, preemptions, which are as stated: nothing of what is not known is in them."""
        return sum(part.events_per_second for part in self.parts if part.part == PREEMPTION)

    @property
    def failing(self) -> float:
        """The others, after which something is repaired."""
        return self.rate - self.preempted

    def at(self, quantiles: Column) -> Column:
        """Rates at quantiles of what is not known."""
        if self.shape is not None:
            return np.asarray(gamma_quantile(self.shape, self.failing, at=quantiles)) + self.preempted
        return LogNormal(self.failing, self.doubt).at(quantiles) + self.preempted


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryPolicy:
    """What a job does at a checkpoint and after a failure."""

    restart: LogNormal
    """Seconds from a fault to the first step; failures occur in it too."""
    stall: LogNormal
    """Seconds that a checkpoint stops the job."""
    detection: float = number(NO_SHARE, 0.5)
    """Share of the restart until somebody knows."""
    write: float = number(RECOVERY, 0.0)
    """Seconds that a checkpoint is in flight behind the work."""
    write_doubt: float = number(ERROR_FACTOR, 1.0)
    """How far that may be off, one standard deviation as a factor."""
    slowdown: float = number(NO_SHARE, 0.0)
    """Share of speed that a write costs."""
    interval: float | None = number(RECOVERY, None)
    """Seconds of work between checkpoints; None: the best."""
    replicas: int = number(ACCELERATORS, 1)
    """More than one: a replica restarts alone, and the others wait for detection only."""
    common: float = number(NO_SHARE, 0.0)
    """Share of failures that stop all replicas."""
    survived: float | None = number(NO_SHARE, None)
    """Share of failures that go back to a checkpoint in the memory of a peer, by the stall and the restart above; None:
    there is one tier."""
    storage_stall: LogNormal | None = None
    """Of checkpoints in storage, to which the other failures go back."""
    storage_restart: LogNormal | None = None
    capacity_wait: float = number(RECOVERY, 0.0)
    """Seconds after a preemption until there are accelerators again."""

    def __post_init__(self) -> None:
        check_fields(self, "recovery")
        if self.interval is not None and self.interval < self.write:
            raise DescriptionError(
                f"a checkpoint takes {show(self.write, SECONDS)} to write, longer than the interval of "
                f"{show(self.interval, SECONDS)}; give an interval of at least that, or a faster storage"
            )

    def circumstances(
        self,
        work: Seconds,
        rate: Number,
        *,
        restarts: Column | None = None,
        stalls: Column | None = None,
        writes: Column | None = None,
    ) -> Circumstances:
        """So many seconds of work that recover like this, interrupted at a rate; times at quantiles or in the middle.

        Whoever restarts slowly from memory restarts slowly from storage, and stalls alike for both. A write is done
        before the next checkpoint begins.
        """
        write: Seconds = self.write
        if writes is not None and self.write and self.write_doubt > 1.0:
            write = LogNormal(self.write, self.write_doubt).at(writes)
            write = write if self.interval is None else np.minimum(write, self.interval)

        def at(time: LogNormal, quantiles: Column | None) -> Seconds:
            return time.median if quantiles is None else time.at(quantiles)

        return Circumstances(
            work=work,
            rate=rate,
            restart=at(self.restart, restarts),
            stall=at(self.stall, stalls),
            detection=self.detection,
            write=write,
            slowdown=self.slowdown,
            survived=self.survived or 0.0,
            storage_stall=None if self.storage_stall is None else at(self.storage_stall, stalls),
            storage_restart=0.0 if self.storage_restart is None else at(self.storage_restart, restarts),
            interval=self.interval,
            replicas=self.replicas,
            common=self.common,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLosses:
    """Shares of time that go elsewhere; nothing unless stated."""

    planned: float = number(LOST_SHARE, 0.0)
    """Planned stops, evaluation, waiting for data."""
    corruption: float = number(LOST_SHARE, 0.0)
    """Silent corruption."""
    slow_share: float = number(NO_SHARE, 0.0)
    """Of nodes that are slow."""
    slower: float = number(NO_SHARE, 0.0)
    """By how much."""

    def __post_init__(self) -> None:
        check_fields(self, "losses")


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePower:
    """What one accelerator with its share of host and network takes, and what the site adds."""

    training: float = number(NO_POWER)
    """Watts in training."""
    idle: float = number(NO_SHARE)
    """Of that while the job does not run."""
    pue: float = number(PUE, 1.0)
    doubt: float = number(ERROR_FACTOR, 1.0)
    """One standard deviation of power, as a factor."""
    place: str = ""
    grams_per_kwh: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Low, middle and high carbon intensity of the grid; all the same where the place is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HourlyPrice:
    """Dollars an hour of an accelerator, however it is paid for."""

    way: str
    """Rented or owned."""
    low: float = number(RENT)
    middle: float = number(RENT)
    high: float = number(RENT)
    what: str = ""
    """Whose price of when."""
    warning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """All that a run's days, money, energy and carbon follow from."""

    model: str
    system: str
    accelerators: int = number(ACCELERATORS)
    nodes: int = number(ACCELERATORS)
    phases: tuple[RunPhase, ...]
    hazard: JobHazard
    recovery: RecoveryPolicy
    losses: OtherLosses = field(default_factory=OtherLosses)
    spares: int | None = number(SPARES, None)
    """Nodes; None: they come from a pool that others fill, and are neither waited nor paid for."""
    repair: float = number(RECOVERY, 0.0)
    """Seconds that a node is out, on average."""
    dispersion: float = 1.0
    """Variance over mean of nodes out."""
    power: SitePower | None = None
    """None: nobody says what the chip takes."""
    prices: tuple[HourlyPrice, ...] = ()
    notes: tuple[str, ...] = ()
    basis: Mapping[str, str] = field(default_factory=dict)
    """What each input rests on."""

    def __post_init__(self) -> None:
        check_fields(self, "run")
        if not self.phases:
            raise DescriptionError("a run has no phases; it needs at least one, with tokens and the time of a step")
        if self.losses.planned and self.hazard.planned:
            raise DescriptionError(
                "planned stops are counted twice: as a hazard of part planned and as a share of time; leave one out"
            )

    @property
    def work(self) -> float:
        """Seconds of all phases."""
        return sum(phase.work for phase in self.phases)

    def downtime(self, rate: Column | float) -> Column | float:
        """Seconds of waiting for capacity after an interruption, on average, at a rate of all interruptions."""
        waited = self.recovery.capacity_wait * self.hazard.preempted
        return waited / rate if waited else 0.0

    def survived(self, rate: Column | float) -> Column | float:
        """Share of all interruptions that go back to the memory of a peer: capacity that is taken away takes that too.

        What is stated of it is of failures alone.
        """
        share, taken = self.recovery.survived or 0.0, self.hazard.preempted
        return share * (1.0 - taken / rate) if taken else share

    @property
    def tokens(self) -> float:
        """Of all phases."""
        return sum(phase.tokens for phase in self.phases)
