"""Limits that a service must keep: a percentile, or the mean, of a latency over all requests."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import NumberDomain, check_fields, number
from volvelle.errors import DescriptionError, brief
from volvelle.quantities import SECONDS, parse, plain_number

LatencyName: TypeAlias = Literal["ttft", "tpot", "itl", "e2el"]
LATENCIES: tuple[LatencyName, ...] = get_args(LatencyName)
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


@dataclass(frozen=True, slots=True)
class LatencyLimit:
    """A service-level objective: the most that a percentile, or the mean, of one latency may be.

    Parameters
    ----------
    latency
        ``"ttft"`` (until the first token), ``"tpot"`` (per token after it), ``"itl"`` (between two pieces of an answer)
        or ``"e2el"`` (until the last token).
    seconds
        The most it may be.
    percentile
        Percentile of the requests (of the gaps, for ``"itl"``), from 1 to 99.99. None: the mean.

    Examples
    --------
    >>> from volvelle import LatencyLimit
    >>> print(LatencyLimit("ttft", 2.0, percentile=99))
    p99 ttft 2 s
    """

    latency: LatencyName
    seconds: float = number(LIMITED_SECONDS)
    _: KW_ONLY
    percentile: float | None = number(LIMITED_PERCENTILE, None)

    def __post_init__(self) -> None:
        if self.latency not in LATENCIES:
            raise DescriptionError(f"limit: {brief(self.latency)} is no latency; there are {', '.join(LATENCIES)}")
        check_fields(self, "limit")

    @property
    def words(self) -> str:
        """The limit in words that are read as exactly the same limit; ``str`` rounds the time."""
        statistic = "mean" if self.percentile is None else f"p{plain_number(self.percentile)}"
        exact = parse(self._time, SECONDS) == self.seconds
        return f"{statistic} {self.latency} {self._time if exact else f'{plain_number(self.seconds)} s'}"

    @property
    def statistic(self) -> str:
        """``p99`` or ``mean``."""
        return "mean" if self.percentile is None else f"p{self.percentile:g}"

    @property
    def name(self) -> str:
        """As in ``p99 ttft``."""
        return f"{self.statistic} {self.latency}"

    def __str__(self) -> str:
        return f"{self.name} {self._time}"

    @property
    def _time(self) -> str:
        return f"{self.seconds:.6g} s" if self.seconds >= 1.0 else f"{1e3 * self.seconds:.6g} ms"

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
