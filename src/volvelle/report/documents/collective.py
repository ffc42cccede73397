"""What ``volvelle collective --json`` prints."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Annotated, Any

from pydantic import BeforeValidator

from volvelle.report.documents.document import Document, at


class CollectiveRangeEntry(Document):
    """Between which seconds the time lies, four times in five."""

    low: float
    high: float
    level: float
    varied: list[str]


class CollectiveDimensionEntry(Document):
    """What a network dimension takes of the time."""

    name: str
    link: str
    members: int
    bytes_per_second: float = at("rate")
    latency_seconds: float = at("latency")
    fill_seconds: float = at("fill")
    transfer_seconds: float = at("transfer")


class LibraryChoiceEntry(Document):
    """What NCCL would choose, by its own cost model."""

    algorithm_and_protocol: str = at("chosen")
    seconds: float = at("time")


class MessageEntry(Document):
    """A message of another size, or over another group."""

    size_bytes: float = at("size")
    chips: int
    seconds: float = at("time")
    bus_bytes_per_second: float = at("bus_rate")
    fastest: str
    algorithms: dict[str, float]
    library: LibraryChoiceEntry | None = None
    """Where the cost model knows the machine."""


class LimitingLinkEntry(Document):
    """The link that held flows up longest."""

    name: str
    limited_seconds: float = at("limited")
    used: float


class FlowsEntry(Document):
    """The collective as flows that share links, step by step from the law of its messages."""

    seconds: float = at("time")
    law_seconds: float = at("times.ideal")
    in_order_seconds: float = at("times.in_order")
    alone_seconds: float = at("times.alone")
    factor: float = at("times.factor")
    causes: dict[str, float] = at("times.causes")
    messages: int = at("times.messages")
    placement: str
    beside: list[str]
    routing_rules: list[str] = at("routing")
    limiting_link: LimitingLinkEntry = at("times.limiting")


class LinkFigureEntry(Document):
    """A number of a link, in SI units."""

    value: float
    evidence: str = at("evidence.word")
    source: str
    note: str


def _figures(figures: Mapping[str, Any]) -> dict[str, SimpleNamespace]:
    return {
        name: SimpleNamespace(
            value=float(figure.value), evidence=figure.evidence, source=figure.source, note=figure.note
        )
        for name, figure in figures.items()
    }


class CollectiveDocument(Document):
    """How long a collective takes. Times in seconds, sizes in bytes, rates in bytes per second."""

    operation: str
    size_bytes: float = at("size")
    system: str = at("cluster.name")
    accelerators: int = at("cluster.accelerators")
    chips: int
    algorithm: str
    seconds: float = at("time")
    range: CollectiveRangeEntry
    algorithm_bytes_per_second: float = at("algorithm_rate")
    bus_bytes_per_second: float = at("bus_rate")
    bound: str
    bound_share: float
    setup_seconds: float = at("parts.setup")
    dimensions: list[CollectiveDimensionEntry]
    algorithms: dict[str, float]
    refused: dict[str, str]
    by_size: list[MessageEntry]
    by_group: list[MessageEntry]
    library: LibraryChoiceEntry | None = None
    """Where the cost model knows the machine."""
    flows: FlowsEntry | None = None
    """Where it was asked for as flows too."""
    baseline_seconds: float | None = at("baseline.time", None)
    """Of the machine as it is, where some of its numbers were set."""
    rests_on: Annotated[dict[str, LinkFigureEntry], BeforeValidator(_figures)]
    notes: list[str]
