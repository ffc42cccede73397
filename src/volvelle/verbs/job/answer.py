"""What is found of a job."""

from collections.abc import Mapping
from dataclasses import dataclass

from volvelle.applications.goodput.run_estimate import RunEstimate, RunFigure
from volvelle.applications.goodput.run_plan import RunPhase
from volvelle.applications.training.evidence import RangeBasis
from volvelle.errors import MissingFigureError
from volvelle.estimators.result import Range, RangedFigure
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.presentable import Presentable

_JOULES_PER_KWH = 3.6e6


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
    """A run with its question, and what it rests on.

    Its figures are `days`, `ettr` (the effective training time ratio, as a share of 1), `interruptions`, `cost` in
    dollars, `energy` in joules and `carbon` in tonnes of CO2 equivalents. Without a price, a power or a grid, the last
    three raise `MissingFigureError`.

    Examples
    --------
    >>> import volvelle
    >>> answer = volvelle.job("llama3-8b", on="dgx-h100/64", tokens="100B", batch=512)
    >>> answer.days.low < answer.days.value < answer.days.high
    True
    """

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
    def days(self) -> RangedFigure:
        """Days of the run, interruptions included."""
        return _figure(self.run.days, "days")

    @property
    def ettr(self) -> RangedFigure:
        """Effective training time ratio, as a share of 1."""
        return _figure(self.run.ettr, "ratio")

    @property
    def interruptions(self) -> RangedFigure:
        """Number of interruptions of the run."""
        return _figure(self.run.interruptions, "interruptions")

    @property
    def cost(self) -> RangedFigure:
        """Dollars of the run: rented, or owned if no rent is known."""
        if not self.run.spending:
            raise MissingFigureError("the answer has no cost: the catalogue has no price and no rent of such chips")
        return _figure(self.run.spending[0].usd, "USD")

    @property
    def energy(self) -> RangedFigure:
        """Joules of the run, with hosts and PUE."""
        if self.run.kwh is None:
            raise MissingFigureError("the answer has no energy: the catalogue has no power of such chips")
        return _figure(self.run.kwh, "J", scale=_JOULES_PER_KWH)

    @property
    def carbon(self) -> RangedFigure:
        """Tonnes of CO2 equivalents of the run's energy, by the grid of the place."""
        if self.run.tco2e is None:
            raise MissingFigureError("the answer has no carbon: the catalogue has no power of such chips")
        return _figure(self.run.tco2e, "tCO2e")

    @property
    def contributions(self) -> Mapping[str, float]:
        """Days by what they go into."""
        return {name: seconds / 86_400.0 for name, seconds in self.run.parts.items()}

    @property
    def feasible(self) -> bool:
        """Whether it gets anywhere."""
        return not self.run.problem


def _figure(found: RunFigure, unit: str, *, scale: float = 1.0) -> RangedFigure:
    around = Range(low=scale * found.p10, high=scale * found.p90, level=0.8, varied=("all inputs of the run",))
    return RangedFigure(value=scale * found.value, range=around, unit=unit)
