"""What ``volvelle serve --prefill … --decode … --json`` prints."""

from volvelle.estimators.result import Range, Violation
from volvelle.report.documents.document import Document, at
from volvelle.report.documents.serve import (
    LatencyEntry,
    OccupancyEntry,
    ServingBasisEntry,
    ServingCostEntry,
    ServingLayoutEntry,
    ServingMemoryEntry,
    UnstableEntry,
)


class PoolEntry(Document):
    """Workers that are alike, and where they stand."""

    system: str = at("cluster.name")
    workers: int
    chips: int
    weight_format: str = at("instance.served.weights")
    serving_layout: ServingLayoutEntry = at("instance.layout")
    serving_memory: ServingMemoryEntry = at("memory")


class PoolUseEntry(Document):
    """What a pool did."""

    workers: int
    ranks: int
    busy: float
    """Part of the time in which its engines were in a step."""
    capacity: float | None
    """Requests a second that it sustains when requests always wait; none: none come."""
    rate: float
    """Requests a second that went through it."""
    utilisation: float
    """The rate over the capacity."""
    occupancy: OccupancyEntry | None


class TransferLinkEntry(Document):
    """What caches go over from one pool to the other."""

    name: str
    rate: float
    """Sustained bytes a second of one chip."""
    latency: float


class SplitLoadEntry(Document):
    """What came of a load on two pools."""

    requests: int
    parts: int
    unstable: UnstableEntry | None
    unstable_pool: str | None
    latencies: dict[str, LatencyEntry]
    """By ttft (when decoding begins: with the transfer), ttft_at_prefill (before it), transfer, wait_for_room, tpot,
    itl and e2el."""
    request_throughput: float | None
    output_throughput: float | None = at("throughput")
    total_token_throughput: float | None = at("total_throughput")
    throughput_per_chip: float | None
    throughput_per_user: float | None
    prefill: PoolUseEntry
    decode: PoolUseEntry
    binds: str
    """The pool that is nearer to what it sustains."""
    prefill_workers_per_decode_worker: float | None = at("matched")
    """With which both pools would sustain the same."""


class ServeSplitDocument(Document):
    """How a model is served by two pools. Times in seconds, memory in bytes, rates a second, money in USD."""

    model: str
    engine: str = at("decode.instance.engine.name")
    engine_version: str = at("decode.instance.engine.version")
    kv_cache: str = at("decode.instance.served.cache")
    chips: int
    prefill: PoolEntry
    decode: PoolEntry
    transfer_link: TransferLinkEntry = at("link")
    transfer: str = at("question.transfer")
    """``after`` the prompt, or ``by-layer``."""
    router: str = at("question.router")
    input_tokens: int = at("question.input_tokens")
    output_tokens: int = at("question.output_tokens")
    """Of a request; under a trace, only what memory is counted for."""
    asked_load: str = at("question.load")
    feasible: bool
    load: SplitLoadEntry | None
    advice: str
    ranges: dict[str, Range]
    """Of ttft, tpot, latency and throughput."""
    range_basis: list[ServingBasisEntry] = at("bases")
    """What each of these rests on."""
    serving_cost: ServingCostEntry | None = at("cost")
    violations: list[Violation]
    notes: list[str]
