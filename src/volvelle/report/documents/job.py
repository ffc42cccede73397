"""What ``volvelle job --json`` prints."""

from pydantic import create_model

from volvelle.report.documents.document import Document, at
from volvelle.report.documents.layout import layout_fields
from volvelle.report.documents.range_of_step import RangeOfStep


class RunFigureEntry(Document):
    """A figure of the run, with its 80 % range."""

    value: float
    """With every input at its median; parts of the wall time sum to the value of the days."""
    p10: float
    p90: float


class SpendingEntry(Document):
    """Dollars of the run, paid for in one way."""

    way: str
    what: str
    usd_per_hour: float
    usd: RunFigureEntry
    usd_failures: float = at("failures")
    warning: str


class RemedyEntry(Document):
    """Something halved, and what it gains."""

    what: str
    days_fewer: float = at("days")
    usd_less: float | None = at("usd")


class SparesEntry(Document):
    """Spares that suffice."""

    nodes_out: float = at("mean")
    for_95: float
    for_99: float
    poisson_95: float


class SimulatedEntry(Document):
    """The same run, failure by failure."""

    runs: int
    failures: float
    days: float
    deviation: float
    closed_days: float
    closed_deviation: float


class PlaceCarbonEntry(Document):
    """What it would emit in one place."""

    place: str
    where: str
    grams_per_kwh: float
    tco2e: float


class HazardEntry(Document):
    """Parts that interrupt the job."""

    part: str
    count: float
    events_per_second: float


JobLayoutEntry = create_model(
    "JobLayoutEntry", __base__=Document, __doc__="The layout that is trained with.", **layout_fields("")
)


class PhaseEntry(RangeOfStep):
    """Tokens that are trained on at one pace."""

    name: str
    tokens: float = at("run.tokens")
    steps: float = at("run.steps")
    step_seconds: float = at("run.step")
    seconds: float = at("run.work")
    layout: JobLayoutEntry | None = at("mapping")  # type: ignore[valid-type]


class JobDocument(Document):
    """A whole job: days, dollars, kWh and tonnes of CO2 equivalents. Other times in seconds."""

    model: str
    system: str
    tokens: float
    steps: float
    step_seconds: float
    layout: JobLayoutEntry | None = at("mapping")  # type: ignore[valid-type]
    phases: list[PhaseEntry]
    days: RunFigureEntry = at("run.days")
    ettr: RunFigureEntry = at("run.ettr")
    interruptions: RunFigureEntry = at("run.interruptions")
    seconds_between: float = at("run.between")
    hazards: list[HazardEntry] = at("run.plan.hazard.parts")
    contributions: dict[str, float]
    doubts: dict[str, tuple[float, float]] = at("run.doubts")
    checkpoint_interval: float = at("run.interval")
    checkpoints_per_storage: float = at("run.segments")
    ettr_by_interval: tuple[float, float, float] = at("run.flat")
    spares: SparesEntry | None = at("run.spare_nodes")
    spending: list[SpendingEntry] = at("run.spending")
    kwh: RunFigureEntry | None = at("run.kwh")
    tco2e: RunFigureEntry | None = at("run.tco2e")
    places: list[PlaceCarbonEntry]
    remedies: list[RemedyEntry] = at("run.remedies")
    problem: str = at("run.problem")
    cures: list[str] = at("run.cures")
    simulated: SimulatedEntry | None
    basis: dict[str, str]
    notes: list[str]
