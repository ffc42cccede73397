"""What ``volvelle plan MODEL --json`` prints."""

from pydantic import create_model

from volvelle.estimators.result import Range
from volvelle.report.documents.document import Document, at
from volvelle.report.documents.estimate import RunEntry, TrainedEntry
from volvelle.report.documents.layout import layout_fields
from volvelle.search.sensitivity import Sensitivity


class _Taken(Document):
    seconds: float = at("time")
    utilisation: float
    memory_bytes: float


RankedEntry = create_model(
    "RankedEntry", __base__=_Taken, __doc__="A layout, and what it takes.", **layout_fields("mapping.")
)


class LaunchDocument(Document):
    """Launch flags of the fastest layout that a framework can express."""

    framework: str
    flags: str
    note: str
    """What that cost, where faster layouts cannot be expressed."""


class WayOutEntry(Document):
    """A change with which something fits, as a command."""

    command: str
    accelerators: int
    seconds: float = at("time")
    memory_bytes: float


class _SizeTaken(Document):
    accelerators: int
    seconds: float = at("time")
    utilisation: float
    run: RunEntry


SizeEntry = create_model(
    "SizeEntry", __base__=_SizeTaken, __doc__="A run on so many accelerators.", **layout_fields("mapping.")
)


class SizingDocument(Document):
    """How many accelerators of a kind of machine a run takes."""

    model: str
    system: str
    trained: TrainedEntry
    batch: int = at("step.batch")
    sequence: int
    tokens: float
    days: float | None
    """The date to keep; None: none was given."""
    usd: float | None
    """The budget to keep; None: none was given."""
    smallest: SizeEntry | None  # type: ignore[valid-type]
    """The fewest accelerators that keep them; None: none do."""
    cheapest: SizeEntry | None  # type: ignore[valid-type]
    """The cheapest of those looked at that keep them."""
    sizes: list[SizeEntry]  # type: ignore[valid-type]
    """All that were looked at and can run."""
    notes: list[str]


class PlanDocument(Document):
    """Layouts of a model on a machine, fastest first. Times in seconds, memory in bytes."""

    model: str
    system: str = at("cluster.name")
    trained: TrainedEntry
    batch: int = at("step.batch")
    sequence: int
    configurations: int = at("ranking.configurations")
    evaluated: int = at("ranking.evaluated")
    pruned: int = at("ranking.pruned")
    feasible: int = at("ranking.feasible")
    search_seconds: float = at("seconds")
    layouts: list[RankedEntry]  # type: ignore[valid-type]
    range: Range | None = at("best.time_range", None)
    run: RunEntry | None
    """Of all tokens by the first layout, where they were given."""
    nearest: RankedEntry | None  # type: ignore[valid-type]
    least_memory_bytes: float | None = at("dead_end.lightest.memory", None)
    """Where nothing fits: what the layout that needs least holds on its fullest rank."""
    ways_out: list[WayOutEntry] = at("dead_end.ways_out", [])
    """Where nothing fits: what would."""
    sensitivity: list[Sensitivity]
    notes: list[str]
