"""What ``volvelle explore --json`` prints: answers, what meets a requirement, or what a study will take."""

from collections.abc import Sequence
from dataclasses import fields
from types import SimpleNamespace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from volvelle.applications.range_evidence import RangeEvidence
from volvelle.applications.training.evidence import RangeBasis
from volvelle.report.documents.document import Document, at
from volvelle.report.documents.range_of_step import ModelErrorEntry
from volvelle.studies.answers.best import Best
from volvelle.studies.answers.break_even import Crossing
from volvelle.studies.answers.invert import Inversion
from volvelle.studies.design_space.axes import Axis, Value


def _columns(axes: Sequence[Axis]) -> dict[str, tuple[Value, ...]]:
    return {path: values for axis in axes for path, values in axis.columns.items()}


Columns = Annotated[dict[str, list[Value]], BeforeValidator(_columns)]
"""Axis → the values it takes."""


def _beside(best: Best, **others: object) -> SimpleNamespace:
    """A best design with others beside it."""
    return SimpleNamespace(**{field.name: getattr(best, field.name) for field in fields(best)}, **others)


class ObjectiveEntry(Document):
    """What designs are judged by."""

    name: str
    less_is_better: bool = at("less")


class DesignEntry(Document):
    """One point of a study; what could not be measured is null."""

    point: int = at("number")
    fields: dict[str, Value]
    measures: dict[str, float | None]
    layout: dict[str, int | str]


class PointEntry(Document):
    """One point of a small study; without measures where it cannot run."""

    point: int = at("number")
    fields: dict[str, Value]
    reason: str
    measures: dict[str, float]


class ConditionEntry(Document):
    """A condition, and how far points are from meeting it."""

    text: str
    failing: int
    failing_it_alone: int = at("alone")
    nearest: float | None = at("reached")
    limit: float | None
    off_by: float | None = at("by")


class UnmetEntry(Document):
    """Why no design meets the conditions."""

    points: int
    run: int = at("runs")
    cannot_run: dict[str, int] = at("reasons")
    conditions: list[ConditionEntry] = at("shortfalls")
    nearest: DesignEntry | None
    off_by: float | None = at("miss")
    cures: list[str]


class BestEntry(Document):
    """The best design, or why there is none."""

    objective: ObjectiveEntry = at("goal")
    conditions: list[str]
    meet_conditions: int = at("considered")
    design: DesignEntry | None
    ties: int
    unmet: UnmetEntry | None


class FacetEntry(BestEntry):
    """The best design for one value of the facet."""

    value: Value

    @model_validator(mode="before")
    @classmethod
    def _of_pair(cls, pair: tuple[Value, Best]) -> SimpleNamespace:
        return _beside(pair[1], value=pair[0])


class FrontEntry(Document):
    """Designs than which no other is better in one objective without being worse in another."""

    objectives: list[ObjectiveEntry]
    size: Annotated[int, BeforeValidator(len)] = at("numbers")
    ties: int
    designs: list[DesignEntry]


class TimeEntry(Document):
    """Seconds of a step, or a round of the mix, of one design."""

    label: str
    point: int = at("design.number")
    parts: dict[str, float]
    resources: dict[str, float]


class ElasticityEntry(Document):
    """What one percent more or less of a number does to an objective."""

    field: str = at("path")
    objective: str = at("goal.name")
    percent_for_one_percent_more: float | None = at("up")
    percent_for_one_percent_less: float | None = at("down")
    usd_for_one_percent_more: float | None = at("price")
    percent_gained_per_million_usd: float | None = at("per_million")


class StepEntry(Document):
    """What the next value of an axis does to an objective."""

    field: str = at("path")
    before: Value = Field(serialization_alias="from")
    after: Value = Field(serialization_alias="to")
    objective: str = at("goal.name")
    percent: float | None = at("change")
    usd: float | None = at("price")
    percent_gained_per_million_usd: float | None = at("per_million")


class SwingEntry(Document):
    """An objective over all values of an axis."""

    field: str = at("path")
    objective: str = at("goal.name")
    values: list[Value]
    found: list[float | None]


class BreakEvenEntry(Document):
    """Where two numbers together give an objective as good as that of a reference."""

    x: str
    y: str
    objective: str = at("goal.name")
    equals: float = at("reference")
    that_of: str = at("said")
    line: list[Crossing] = at("crossings")


class MeasureRangeEntry(Document):
    """Where a measure lies when inputs vary."""

    measure: str = at("name")
    value: float
    low: float
    high: float
    level: float


class RangeBasisEntry(Document):
    """What the range of a workload's time rests on."""

    workload: str
    model_error: ModelErrorEntry | None
    """Calibration rows behind the model's share; None: nothing was measured on such chips."""
    weakest_evidence: str
    """Grade of the weakest number of the machine that it rests on."""

    @model_validator(mode="before")
    @classmethod
    def _of_pair(cls, pair: tuple[str, RangeBasis | RangeEvidence]) -> SimpleNamespace:
        name, basis = pair
        return SimpleNamespace(workload=name, model_error=basis.model_error, weakest_evidence=basis.weakest_evidence)


class AssumptionEntry(Document):
    """A price that money rests on."""

    name: str
    value: float = at("figure.value")
    low: float
    high: float
    date: str = at("figure.date")
    evidence: str = at("figure.evidence.word")
    source: str = at("figure.source")


class AroundBestEntry(Document):
    """What the model says around the best design."""

    elasticities: list[ElasticityEntry] = at("sensitivity.elasticities", [])
    """None, nor steps and swings, where every point takes a search for its mapping."""
    steps: list[StepEntry]
    swings: list[SwingEntry]
    break_even: BreakEvenEntry | None
    ranges: list[MeasureRangeEntry]
    range_basis: list[RangeBasisEntry] = at("explained.bases")
    """What the ranges rest on, for every workload."""
    assumptions: list[AssumptionEntry]


class RanEntry(Document):
    """What this run evaluated; nothing where an earlier one had finished."""

    rows: int
    seconds: float


class ExploreDocument(Document):
    """The answers of a study; numbers in SI units and dollars."""

    study: str = at("study.form.name")
    question: str = at("study.form.question")
    axes: Columns = at("study.axes")
    points: int = at("census.points")
    run: int = at("census.runs")
    meet_constraints: int = at("census.met")
    cannot_run: dict[str, int] = at("census.reasons")
    fail_constraints: dict[str, int] = at("census.failing")
    seconds: float | None
    best: BestEntry
    facets: list[FacetEntry]
    balanced: DesignEntry | None
    front: FrontEntry
    time: list[TimeEntry] = at("breakdowns")
    baseline_measures: dict[str, float] | None = at("every_point.baseline", None)
    """Of the machine as it is, where all points are listed."""
    all_points: list[PointEntry] = at("every_point.points", [])
    """Every point of a study of at most 50."""
    around_best: AroundBestEntry | None = at("local")
    ran: RanEntry | None = None
    files: tuple[str, ...] = ()


class CertaintyEntry(Document):
    """How likely the answer, and that of an even chance, meet a condition that is to hold with a probability."""

    condition: str
    asked: float
    chance: float | None
    median_chance: float | None


class InversionDocument(BestEntry):
    """What meets a requirement best, or why nothing does."""

    study: str
    requirement: str
    median: BestEntry | None
    """Were an even chance enough; null where no probability is asked for."""
    certainties: list[CertaintyEntry]
    certainty_costs: dict[str, float]
    """By axis and measure, what being as sure as asked takes more than an even chance, as a share."""
    ranges: list[MeasureRangeEntry]
    """Of the answer: its step time, and what else was asked for."""
    range_basis: list[RangeBasisEntry]
    """What these rest on, for every workload."""
    ran: RanEntry | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_inversion(cls, inversion: Inversion) -> Any:
        return _beside(
            inversion.best,
            study=inversion.study.form.name,
            requirement=inversion.requirement.text,
            median=inversion.median,
            certainties=inversion.certainties,
            certainty_costs=inversion.certainty_costs,
            ranges=inversion.ranges,
            range_basis=inversion.bases,
        )


class OutlookDocument(Document):
    """A study before it runs: what varies, how many points that makes, and what they will take."""

    name: str = at("study.form.name")
    question: str = at("study.form.question")
    axes: Columns = at("study.axes")
    combinations: int = at("study.grid.combinations")
    points: int = at("forecast.rows")
    policy: str = at("study.form.mapping.policy")
    layouts_per_point: float = at("forecast.layouts")
    points_per_s_and_core: float = at("forecast.rate")
    cores: int
    expected_seconds: float = at("seconds")
    measures: list[str] = at("study.measures")
