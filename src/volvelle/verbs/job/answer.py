"""What is found of a job."""

from collections.abc import Mapping
from dataclasses import dataclass

from volvelle.applications.goodput.run_estimate import RunEstimate
from volvelle.applications.goodput.run_plan import RunPhase
from volvelle.applications.training.evidence import RangeBasis
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.presentable import Presentable


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """The same run many times over, failure by failure."""

    runs: int
    failures: float
    """Of one run, on average."""
    days: float
    deviation: float
    """Of the days of a run."""
    closed_days: float
    """By the closed form."""
    closed_deviation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedPhase:
    """Tokens that are trained on at one pace, and by which layout."""

    name: str
    run: RunPhase
    mapping: ParallelMapping | None
    """None: the time of a step was given."""
    basis: RangeBasis | None = None
    """What the doubt in the time of its step rests on; None: likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceCarbon:
    """What the run would emit in one place."""

    place: str
    where: str
    grams_per_kwh: float
    tco2e: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Job(Presentable):
    """A run with its question, and what it rests on."""

    model: str
    system: str
    tokens: float
    steps: float
    step_seconds: float
    """On average."""
    mapping: ParallelMapping | None
    """Of the longest phase; None: the time of a step was given."""
    phases: tuple[TimedPhase, ...]
    run: RunEstimate
    places: tuple[PlaceCarbon, ...]
    """Cleanest first."""
    basis: Mapping[str, str]
    """What each input rests on."""
    notes: tuple[str, ...] = ()
    simulated: Simulated | None = None

    @property
    def contributions(self) -> Mapping[str, float]:
        """Days by what they go into."""
        return {name: seconds / 86_400.0 for name, seconds in self.run.parts.items()}

    @property
    def feasible(self) -> bool:
        """Whether it gets anywhere."""
        return not self.run.problem
