"""Limits that a service must keep: a percentile, or the mean, of a latency over all requests."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import NumberDomain, check_fields, number
from volvelle.errors import DescriptionError
from volvelle.quantities import SECONDS

LATENCIES = ("ttft", "tpot", "itl", "e2el")
"""What may be limited, as ``vllm bench serve`` calls and defines it."""
LIMITED_PERCENTILE = NumberDomain(1.0, 99.99)
LIMITED_SECONDS = NumberDomain(1e-6, 1e6, SECONDS)


class Spread(Protocol):
    """How one kind of latency is spread."""

    @property
    def mean(self) -> float:
        """Seconds."""

    @property
    def percentiles(self) -> Mapping[float, float]:
        """Seconds by percentile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyLimit:
    """What a percentile of a latency may be at most."""

    latency: str
    """Time to the first token, time of each after it, gaps between tokens, or until the last."""
    seconds: float = number(LIMITED_SECONDS)
    percentile: float | None = number(LIMITED_PERCENTILE, None)
    """Of requests (of gaps, for ``itl``); None: the mean."""

    def __post_init__(self) -> None:
        check_fields(self, "limit")
        if self.latency not in LATENCIES:
            raise DescriptionError(f"limit: {self.latency!r} is no latency; there are {', '.join(LATENCIES)}")

    @property
    def statistic(self) -> str:
        """``p99`` or ``mean``."""
        return "mean" if self.percentile is None else f"p{self.percentile:g}"

    @property
    def name(self) -> str:
        """As in ``p99 ttft``."""
        return f"{self.statistic} {self.latency}"

    def __str__(self) -> str:
        told = f"{self.seconds:.6g} s" if self.seconds >= 1.0 else f"{1e3 * self.seconds:.6g} ms"
        return f"{self.name} {told}"

    def of(self, seconds: NDArray[np.float64]) -> float:
        """The figure that is limited, of latencies of one each."""
        return float(np.mean(seconds)) if self.percentile is None else float(np.percentile(seconds, self.percentile))

    def found_in(self, latencies: Mapping[str, Spread]) -> float | None:
        """What it limits, in seconds; None: no request has such a latency."""
        spread = latencies.get(self.latency)
        if spread is None:
            return None
        if self.percentile is None:
            return spread.mean
        if self.percentile not in spread.percentiles:
            known = ", ".join(f"p{place:g}" for place in spread.percentiles)
            raise DescriptionError(f"the limit {self} is of a percentile that is not kept here; take {known} or mean")
        return spread.percentiles[self.percentile]

    def kept_by(self, latencies: Mapping[str, Spread]) -> bool:
        """Whether it is kept; what no request has is within any limit."""
        found = self.found_in(latencies)
        return found is None or found <= self.seconds
