"""What ``volvelle replay --json`` prints."""

from volvelle.estimators.result import Range
from volvelle.report.documents.document import Document, at


class ReplayPartEntry(Document):
    """What one kind of operation has of the replayed time; the parts add up to it."""

    kind: str
    seconds: float = at("time")
    bound_seconds: dict[str, float] = at("bounds")


class ReplayOperationEntry(Document):
    """All operations of one name that are bound by the same."""

    name: str
    kind: str
    bound: str
    count: int
    seconds: float = at("time")
    measured_seconds: float | None = at("measured")
    understood: bool


class ReplayStreamEntry(Document):
    """How long a stream works."""

    name: str
    operations: int
    busy_seconds: float = at("busy")


class NotUnderstoodEntry(Document):
    """Operations whose time on another machine cannot be told."""

    name: str
    count: int
    measured_seconds: float = at("measured")


class TraceCoverageEntry(Document):
    """How much of the trace is understood, as shares; null: the trace has none of it."""

    time: float | None
    operations: float | None
    bytes: float | None


class ReplayDocument(Document):
    """A trace replayed on a machine, or as measured where none is named. Times in seconds."""

    trace: str
    format: str
    system: str | None = at("cluster.name", None)
    recorded_on: str | None = at("source.name", None)
    seconds: float = at("time")
    measured_seconds: float | None = at("measured")
    operation_count: int = at("count")
    where_time_goes: list[ReplayPartEntry] = at("parts")
    bound_seconds: dict[str, float] = at("bounds")
    trace_coverage: TraceCoverageEntry = at("coverage")
    operations: list[ReplayOperationEntry]
    streams: list[ReplayStreamEntry]
    not_understood: list[NotUnderstoodEntry]
    left_out: dict[str, int]
    range: Range | None = at("sure.time", None)
    """Null: as measured."""
    rests_on_shares: dict[str, float] = at("sure.shares", {})
    sampled_replays: int | None = at("sure.replays", None)
    replay_correlation: float | None = at("sure.correlation", None)
    weakest_evidence: str | None
    notes: list[str]
