"""What ``volvelle plan MODEL --serve --split --json`` prints of two pools."""

from typing import Any

from pydantic import model_validator

from volvelle.report.documents.document import Document, at
from volvelle.report.documents.serve import ServingCostEntry
from volvelle.report.documents.serve_split import PoolEntry, SplitLoadEntry


class HeldFigureEntry(Document):
    """A figure that a limit was held against."""

    limit: str
    """As in p99 ttft, which has the transfer of the cache in it."""
    limit_seconds: float
    seconds: float

    @model_validator(mode="before")
    @classmethod
    def _pair(cls, value: Any) -> Any:
        if not isinstance(value, tuple):
            return value
        limit, seconds = value
        return {"limit": limit.name, "limit_seconds": limit.seconds, "seconds": seconds}


class SplitOptionEntry(Document):
    """Two pools under the load: one computes prompts, one decodes."""

    command: str = at("question.command")
    system: str = at("serving.decode.cluster.name")
    engine: str = at("serving.decode.instance.engine.name")
    kv_cache: str = at("serving.decode.instance.served.cache")
    prefill: PoolEntry = at("serving.prefill")
    decode: PoolEntry = at("serving.decode")
    chips: int
    spent: float
    """Dollars an hour, watts or chips of what is used."""
    kept: bool
    """Whether all limits are."""
    figures: list[HeldFigureEntry]
    """None where requests come faster than they are served."""
    excess: float
    """The largest figure over its limit, or what comes over what is served."""
    load: SplitLoadEntry = at("serving.load")
    serving_cost: ServingCostEntry | None = at("cost")


class SplitPoolsEntry(Document):
    """What came of looking for two pools."""

    option: SplitOptionEntry | None
    """That takes least within limits; none: none keeps them."""
    nearest: SplitOptionEntry | None
    """That comes nearest, where none keeps the limits."""
    tried: int
    """Pairs of pools that were simulated."""
    capped: bool
    """Whether pairs were left that might spend less."""
