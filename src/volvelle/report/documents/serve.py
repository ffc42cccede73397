"""What ``volvelle serve --json`` prints."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator

from volvelle.estimators.result import Range, Violation
from volvelle.report.documents.document import Document, at


class ServingPartEntry(Document):
    """Where a part of the time goes."""

    name: str
    seconds: float
    bound: str
    """Memory traffic, arithmetic, network, kernel launches or host."""


class ServingLayoutEntry(Document):
    """How one instance is laid out."""

    tensor: int
    pipeline: int
    expert: int
    data: int
    """Ranks whose attention is repeated, each with requests of its own."""


class HeldPartEntry(Document):
    """What a part of the memory of a chip is for."""

    name: str
    bytes: float


class ServingMemoryEntry(Document):
    """Of the chip of the fullest stage."""

    memory_capacity: float = at("capacity")
    allowed_bytes: float = at("allowed")
    memory_bytes: float = at("used")
    cache_blocks: int
    cache_tokens: int
    most_sequences: int
    parts: list[HeldPartEntry]


class StaticEntry(Document):
    """A batch that is given at once."""

    ttft: float
    tpot: float
    latency: float
    output_throughput: float = at("throughput")
    total_token_throughput: float = at("total_throughput")
    throughput_per_instance: float
    throughput_per_chip: float
    throughput_per_user: float
    binding: ServingPartEntry
    prefill: list[ServingPartEntry]
    decode: list[ServingPartEntry]


def _named(percentiles: Mapping[float, float]) -> dict[str, float]:
    """Percentiles as keys that can be written: p99."""
    return {f"p{place:g}": value for place, value in percentiles.items()}


class LatencyEntry(Document):
    """How one kind of latency is spread, in seconds."""

    mean: float
    median: float
    std: float
    percentiles: Annotated[dict[str, float], BeforeValidator(_named)]
    """By p50, p90, p95 and p99."""


class UnstableEntry(Document):
    """Rates of a load that is more than is sustained."""

    offered: float
    sustained: float


class OccupancyEntry(Document):
    """How full the engine was on one rank."""

    most_running: int
    mean_running: float
    most_waiting: int
    kv_peak: float
    preemptions: int
    limited_by: str


class LoadEntry(Document):
    """What came of a load."""

    requests: int
    ranks: int
    unstable: UnstableEntry | None
    latencies: dict[str, LatencyEntry]
    """By ttft, tpot, itl and e2el, as far as requests have them; none of a load that is too much."""
    request_throughput: float | None
    output_throughput: float | None = at("throughput")
    total_token_throughput: float | None = at("total_throughput")
    throughput_per_chip: float | None
    occupancy: OccupancyEntry


class ServingCostEntry(Document):
    """Dollars a million output tokens; none where a price is not known."""

    owned_usd: float | None = at("owned")
    rented_usd: float | None = at("rented")


class BatchGainEntry(Document):
    """One batch, with drafts and without."""

    batch: int
    tpot: float
    tpot_without: float
    speedup: float = at("gain")


class WindowGainEntry(Document):
    """One window, for what was asked."""

    window: int
    cycle_tokens: float = at("tokens")
    tpot: float
    latency: float
    """Mean, of a request."""


class TreeEntry(Document):
    """A tree both ways: drafted a level at a time, or a branch at a time."""

    positions: int
    leaves: int
    level_tpot: float
    branch_tpot: float


class SpeculationEntry(Document):
    """What drafts change."""

    drafter: str = at("speculation.drafting.drafter")
    draft_model: str = at("speculation.drafting.model")
    """Empty: no model of its own."""
    window: int = at("speculation.drafting.window")
    """Tokens that are drafted one after another, or levels of a tree."""
    branching: list[int] = at("speculation.drafting.levels")
    """Candidates below each token, by level; all one where drafts are a sequence."""
    verified: int = at("speculation.drafting.positions")
    first_acceptance: float = at("speculation.acceptance.found.first")
    acceptance_decay: float = at("speculation.acceptance.found.decay")
    acceptance_error: float = at("speculation.acceptance.error")
    """One standard deviation of the tokens of a cycle, as a factor."""
    acceptance_source: str = at("speculation.acceptance.source")
    cycle_tokens: float = at("speculation.tokens")
    ttft: float | None
    tpot: float | None
    output_throughput: float | None = at("throughput")
    ttft_without: float | None
    tpot_without: float | None
    throughput_without: float | None
    speedup: float | None = at("gain")
    """Times as fast a user gets tokens."""
    throughput_gain: float | None
    loss_from: int | None
    """The batch from which on drafts make it slower; none: at none that fits."""
    batches: list[BatchGainEntry]
    windows: list[WindowGainEntry]
    tree: TreeEntry | None


class LaunchFileEntry(Document):
    """A file that launches it."""

    name: str
    text: str


class TimelineEntry(Document):
    """What was written of a load."""

    file: str
    spans: int
    requests: int
    cut: str
    """What was left out; empty: nothing."""


class ServingErrorEntry(Document):
    """Calibration runs that tell how far a figure is off."""

    rows: int
    sources: int
    """Publications."""
    chip_models: int = at("groups")
    """Chips with the models that ran on them."""
    chip_families: list[str] = at("families")
    model_kinds: list[str] = at("models")
    """Dense, with experts, or both."""
    weight_formats: list[str] = at("weights")
    load_kinds: list[str] = at("loads")
    judged: str
    """What constants saw of these runs."""


class ServingBasisEntry(Document):
    """What the range of a figure rests on."""

    figure: str
    engine_of_runs: str = at("engine")
    error_factor: float = at("factor")
    """One standard deviation."""
    weakest_evidence: str
    calibrated: bool
    serving_error: ServingErrorEntry | None = at("model_error")
    """None: no run of the catalogue tells."""
    own_runs: str
    outside_calibration: list[str] = at("outside")
    acceptance_source: str = at("acceptance")
    """Empty: nothing is drafted, or the figure needs no draft."""


class ServeDocument(Document):
    """How a model is served. Times in seconds, memory in bytes, rates a second, money in USD."""

    model: str
    system: str = at("cluster.name")
    accelerators: int = at("cluster.accelerators")
    engine: str = at("instance.engine.name")
    engine_version: str = at("instance.engine.version")
    weight_format: str = at("instance.served.weights")
    kv_cache: str = at("instance.served.cache")
    serving_layout: ServingLayoutEntry = at("instance.layout")
    replicas: int
    chips: int
    batch: int | None = at("question.batch")
    """Sequences that are given at once; none: a load was asked about."""
    input_tokens: int = at("question.input_tokens")
    output_tokens: int = at("question.output_tokens")
    """Of a request; under a trace, only what memory is counted for."""
    asked_load: str | None = at("question.load")
    feasible: bool
    static: StaticEntry | None
    load: LoadEntry | None
    ranges: dict[str, Range]
    """Of ttft, tpot, latency and throughput, as far as they are known."""
    range_basis: list[ServingBasisEntry] = at("bases")
    """What each of these rests on."""
    serving_memory: ServingMemoryEntry = at("memory")
    serving_cost: ServingCostEntry | None = at("cost")
    speculation: SpeculationEntry | None
    """None: nothing is drafted, or it cannot be served."""
    violations: list[Violation]
    files: list[LaunchFileEntry]
    timeline: TimelineEntry | None
    notes: list[str]
