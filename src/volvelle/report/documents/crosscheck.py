"""What ``volvelle crosscheck --json`` prints."""

from volvelle.estimators.result import Range
from volvelle.report.documents.document import Document, at
from volvelle.report.documents.range_of_step import RangeOfStep


class EstimatorTimeEntry(Document):
    """What one estimator says of a step."""

    name: str
    seconds: float | None = at("time")
    """Nothing where it has no answer."""
    range: Range | None
    refused: str
    lines: dict[str, float]


class DifferenceCauseEntry(Document):
    """Why two answers differ."""

    name: str
    why: str
    seconds: float


class EstimatorDifferenceEntry(Document):
    """How one answer differs from the one that it refines."""

    of: str
    against: str
    seconds: float
    share: float
    share_of_range: float | None = at("of_doubt")
    """The difference over half the range of the other answer; below one, less than what is not known."""
    causes: list[DifferenceCauseEntry]


class FlowFactorEntry(Document):
    """What the links of the machine make of the exchange of one axis."""

    axis: str = at("exchange.axis.name")
    exchange: str = at("exchange.name")
    size_bytes: float = at("exchange.size")
    group: int = at("exchange.group.chips")
    groups: int
    messages: int
    law_seconds: float = at("law")
    alone_seconds: float = at("alone")
    beside_seconds: float = at("beside")
    factor: float


class CrossCheckDocument(RangeOfStep):
    """One step by several estimators. Times in seconds, sizes in bytes."""

    model: str
    system: str
    accelerators: int = at("cluster.accelerators")
    layout: dict[str, object]
    answers: list[EstimatorTimeEntry]
    differences: list[EstimatorDifferenceEntry]
    flows: list[FlowFactorEntry]
    notes: list[str]


class SuiteResultEntry(Document):
    """One workload of the suite."""

    kind: str = at("row.kind")
    model: str = at("row.model")
    system: str = at("row.system")
    chips: int
    batch: int = at("row.batch")
    sequence: int | None = at("row.sequence")
    """Tokens; nothing: the model's own."""
    layout: str = at("row.layout")
    offload: list[str] = at("row.offload")
    closed_seconds: float = at("closed")
    event_seconds: float = at("event")
    error: float
    causes: list[DifferenceCauseEntry] = at("difference.told")


class SuiteDocument(Document):
    """The closed form against a replay, those workloads that differ most first."""

    workloads: int
    median_error: float = at("median")
    worst_error: float = at("worst")
    above_one_percent: int = at("above")
    results: list[SuiteResultEntry]
