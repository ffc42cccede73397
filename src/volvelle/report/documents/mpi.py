"""What ``volvelle mpi --json`` prints."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from volvelle.estimators.result import Range
from volvelle.report.documents.document import Document, at


def _pairs(pairs: Any) -> list[list[int]]:
    columns = (pairs.source, pairs.target, pairs.messages, pairs.size)
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _list(column: Any) -> list[float]:
    found: list[float] = column.tolist()
    return found


def _named(exact: Any) -> dict[str, bool]:
    return {str(count): same for count, same in exact.items()}


class MpiPhaseEntry(Document):
    """A loop, or calls between loops, of the rank that calls most."""

    start_seconds: float = at("start")
    seconds: float = at("time")
    turns: int
    turn_seconds: float = at("period")
    calls: int
    body: str


class MpiCollectiveEntry(Document):
    """A collective, by its call and the size of its group."""

    call: str
    members: int
    count: int
    size_bytes: float = at("size")
    seconds: float = at("time")


class MpiRetimedEntry(Document):
    """The trace on another machine."""

    system: str
    accelerators: int
    seconds: float = at("time")
    compute_ratio: float = at("ratio")
    ratio_from: str
    replayed_by: str
    range: Range = at("sure.time")
    rests_on_shares: dict[str, float] = at("sure.shares")
    sampled_replays: int = at("sure.replays")
    replay_correlation: float | None = at("sure.correlation")
    weakest_evidence: str


class MpiExtrapolationEntry(Document):
    """How the trace was made from traces of fewer ranks."""

    trace_ranks: list[int] = at("counts")
    made_again: Annotated[dict[str, bool], BeforeValidator(_named)] = at("exact")
    not_generalised: list[str]


class MpiDocument(Document):
    """What an MPI trace tells. Times in seconds, sizes in bytes."""

    trace: str = at("summary.name")
    ranks: int = at("summary.ranks")
    events: int = at("summary.events")
    seconds: float = at("shown.time")
    messages: int = at("summary.messages")
    message_bytes: int = at("summary.message_bytes")
    imbalance: float = at("shown.imbalance")
    compute_seconds: Annotated[list[float], BeforeValidator(_list)] = at("shown.compute")
    communication_seconds: Annotated[list[float], BeforeValidator(_list)] = at("shown.communication")
    pairs: Annotated[list[list[int]], BeforeValidator(_pairs)] = at("summary.pairs")
    phases: list[MpiPhaseEntry] = at("shown.phases")
    collectives: list[MpiCollectiveEntry] = at("shown.collectives")
    retimed: MpiRetimedEntry | None = at("on")
    extrapolation: MpiExtrapolationEntry | None = at("extrapolated")
    notes: list[str]
