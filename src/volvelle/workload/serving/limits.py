"""Limits that a service is to keep: a percentile, or the mean, of what its clients measure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from volvelle.domains import NumberDomain, check_fields, number
from volvelle.errors import DescriptionError
from volvelle.quantities import SECONDS, show

LATENCIES = ("ttft", "tpot", "itl", "e2el")
"""As ``vllm bench serve`` calls them."""
STATISTICS: Mapping[str, float | None] = {"mean": None, "p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0}
"""What a limit may be of; None: the mean."""
LIMIT_TIME = NumberDomain(1e-6, 1e6, SECONDS)


class Spread(Protocol):
    """How one kind of latency is spread."""

    @property
    def mean(self) -> float:
        """Seconds."""

    @property
    def percentiles(self) -> Mapping[float, float]:
        """Seconds by percentile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PercentileLimit:
    """No more than so many seconds: the mean of a latency, or a percentile of it."""

    latency: str
    percentile: float | None
    """None: the mean."""
    seconds: float = number(LIMIT_TIME)

    def __post_init__(self) -> None:
        check_fields(self, "limit")
        if self.latency not in LATENCIES or self.percentile not in STATISTICS.values():
            raise DescriptionError(
                f"a limit of the percentile {self.percentile} of {self.latency!r} is not known; it may be of "
                f"{', '.join(STATISTICS)} of {', '.join(LATENCIES)}"
            )

    @property
    def name(self) -> str:
        """Like ``p99 ttft``."""
        return f"{next(word for word, place in STATISTICS.items() if place == self.percentile)} {self.latency}"

    def __str__(self) -> str:
        return f"{self.name} {show(self.seconds, SECONDS)}"

    def found_in(self, latencies: Mapping[str, Spread]) -> float | None:
        """What it limits, in seconds; None: no request has such a latency."""
        spread = latencies.get(self.latency)
        if spread is None:
            return None
        return spread.mean if self.percentile is None else spread.percentiles[self.percentile]

    def kept_by(self, latencies: Mapping[str, Spread]) -> bool:
        """Whether it is kept; what no request has is within any limit."""
        found = self.found_in(latencies)
        return found is None or found <= self.seconds
