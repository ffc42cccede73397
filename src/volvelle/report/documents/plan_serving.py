"""What ``volvelle plan MODEL --serve --json`` prints."""

from typing import Any

from pydantic import model_validator

from volvelle.report.documents.document import Document, at
from volvelle.report.documents.serve import (
    LaunchFileEntry,
    LoadEntry,
    ServingBasisEntry,
    ServingCostEntry,
    ServingLayoutEntry,
)
from volvelle.report.documents.split_pools import SplitPoolsEntry


class LimitEntry(Document):
    """A limit of the service."""

    limit: str = at("name")
    """As in p99 ttft."""
    seconds: float


class LikelyFigureEntry(Document):
    """A limited figure, and where four of five measurements of it are to be expected."""

    limit: str = at("limit.name")
    limit_seconds: float = at("limit.seconds")
    seconds: float = at("value")
    low: float
    high: float | None
    """None: at that end requests come faster than they are served."""


class ServingOptionEntry(Document):
    """A way to serve the load within limits."""

    command: str = at("question.command")
    system: str = at("cluster.name")
    chip: str = at("cluster.chip.name")
    engine: str = at("instance.engine.name")
    weight_format: str = at("instance.served.weights")
    kv_cache: str = at("instance.served.cache")
    serving_layout: ServingLayoutEntry = at("instance.layout")
    max_batched_tokens: int | None = at("question.max_batched_tokens")
    """None: the engine's own."""
    max_seqs: int | None = at("question.max_seqs")
    speculate: str | None = at("question.speculate")
    """How tokens are drafted; None: they are not."""
    replicas: int
    chips: int
    spent: float
    """Dollars an hour, watts or chips of what is used."""
    figures: list[LikelyFigureEntry] = at("chance.figures")
    range_basis: list[ServingBasisEntry] = at("bases")
    """What their ranges rest on."""
    chance_kept: float = at("chance.kept")
    chance_stable: float = at("chance.stable")
    goodput: float
    """Of the whole machine, in the unit of the load."""
    goodput_per_chip: float
    goodput_per_unit: float
    """For each dollar an hour, watt or chip."""
    breaks_first: str = at("edge.name")
    longest_part: str = at("longest_part.name")
    bound: str = at("longest_part.bound")
    tokens_per_chip: float
    tokens_per_user: float
    load: LoadEntry
    serving_cost: ServingCostEntry = at("cost")


class GoodputChangeEntry(Document):
    """What a change does to the goodput of the first option."""

    name: str
    goodput_ratio: float = at("goodput")
    replicas: int


class NearestEntry(Document):
    """What comes nearest to the limits with all chips."""

    command: str = at("question.command")
    replicas: int
    excess: float
    reason: str


class CureEntry(Document):
    """A change with which the load is served within limits."""

    change: str
    command: str

    @model_validator(mode="before")
    @classmethod
    def _pair(cls, value: Any) -> Any:
        return dict(zip(("change", "command"), value, strict=True)) if isinstance(value, tuple) else value


class ReasonEntry(Document):
    """Why candidates do not serve the load, and how many."""

    reason: str
    count: int

    @model_validator(mode="before")
    @classmethod
    def _pair(cls, value: Any) -> Any:
        return dict(zip(("reason", "count"), value, strict=True)) if isinstance(value, tuple) else value


class ServingDeadEndEntry(Document):
    """Why nothing serves the load within limits, and what would."""

    nearest: NearestEntry | None
    reasons: list[ReasonEntry]
    cures: list[CureEntry]


class ServingPlanDocument(Document):
    """Ways to serve a load within limits, best first. Times in seconds, rates a second, money in USD."""

    model: str = at("question.model")
    systems: list[str] = at("question.on")
    asked_load: str = at("question.load")
    limits: list[LimitEntry]
    purpose: str = at("spending.purpose")
    spent_in: str = at("spending.basis")
    load_unit: str
    feasible: bool
    options: list[ServingOptionEntry]
    full_precision: ServingOptionEntry | None
    changes: list[GoodputChangeEntry]
    serving_dead_end: ServingDeadEndEntry | None = at("dead_end")
    candidates: int
    followed: int
    trials: int
    resumed: int
    search_seconds: float = at("seconds")
    files: list[LaunchFileEntry]
    """That launch the first option, where they were asked for."""
    split_pools: SplitPoolsEntry | None
    """None: they were not looked for."""
    notes: list[str]
