"""An hour that was followed request by request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what measures loads the compiler
    from volvelle.simulation.batching.metrics import Latency


@dataclass(frozen=True, slots=True, kw_only=True)
class HourCheck:
    """What clients of an hour measure, in seconds, and whether that keeps the limits."""

    hour: int
    requests: int
    """That were followed."""
    ranks: int
    """That were followed, of all replicas."""
    minutes: int
    """Of the hour that were followed."""
    served_tokens: int
    """Output tokens of the followed requests, those of the minutes before among them."""
    latencies: "Mapping[str, Latency]"
    missed: tuple[str, ...]
    """Limits that were missed, like ``p99 ttft``."""

    @property
    def held(self) -> bool:
        """Whether all limits were kept."""
        return not self.missed
