"""One run of a benchmark: the load that it put on a server, and what its clients measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError, brief

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
MOST_REQUESTS = 10_000_000
"""Of one run of a benchmark."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BenchResult:
    """A run."""

    place: str
    """File, and line of it, for messages."""
    tool: str
    """Whose benchmark."""
    model: str
    """As the file calls it; empty: it does not."""
    requests: int
    clients: int | None
    """``max_concurrency``; None: no limit."""
    rate: float
    """Requests a second; infinite: as clients are free, or all at once."""
    burstiness: float = 1.0
    input_tokens: Whole
    """Of each prompt in the order of requests; of files without details, all are the mean."""
    output_tokens: Whole
    arrival: Real | None = None
    """When each request was sent, in seconds since the first; None: the file does not say."""
    detailed: bool
    """Whether lengths are those of each request."""
    figures: Mapping[str, float]
    """What was measured, in seconds: ``ttft``, ``tpot``, ``itl`` …"""
    told: Mapping[str, str] = field(default_factory=dict)
    """What the file says of the server: engine, version, chip, tp and the like."""


class Fields:
    """Fields of a result, each asked for with its place in messages."""

    def __init__(self, fields: Mapping[str, object], place: str) -> None:
        self.fields, self.place = fields, place

    def text(self, name: str) -> str:
        """A text; empty: there is none."""
        found = self.fields.get(name)
        return found if isinstance(found, str) else ""

    def number(self, name: str, *, needed: bool = True) -> float | None:
        """A finite number; None: there is none, and none is needed."""
        found = self.fields.get(name)
        if found is None and not needed:
            return None
        if isinstance(found, bool) or not isinstance(found, int | float) or not isfinite(found):
            raise DescriptionError(
                f"{self.place}: {name} is {brief(found)}, and a number is needed; run the benchmark again, and let it "
                f"finish"
            )
        return float(found)

    def above(self, name: str) -> float:
        """A number above zero."""
        found = self.number(name)
        if found is None or found <= 0.0:
            raise DescriptionError(f"{self.place}: {name} is {brief(found)}; it must be above 0: nothing was measured")
        return found

    def count(self, name: str) -> int:
        """A whole number of requests."""
        found = self.above(name)
        if found != int(found) or found > MOST_REQUESTS:
            raise DescriptionError(
                f"{self.place}: {name} is {brief(self.fields[name])}; it must be a whole number of requests, at most "
                f"{MOST_REQUESTS:,}: the file was changed, or is of another kind"
            )
        return int(found)

    def mean_lengths(self, name: str, requests: int) -> Whole:
        """Lengths of requests of which the file has the sum."""
        total = self.above(name)
        if total < requests:
            raise DescriptionError(
                f"{self.place}: {name} is {brief(self.fields[name])} for {requests:,} requests; each has at least one "
                f"token: the file was changed, or is of several runs"
            )
        return spread_evenly(total, requests)

    def lengths(self, name: str) -> Whole | None:
        """Whole numbers, one a request; None: the file has no details."""
        found = self.fields.get(name)
        if not isinstance(found, list) or not found:
            return None
        bad = [place for place, one in enumerate(found) if isinstance(one, bool) or not isinstance(one, int) or one < 1]
        if bad:
            raise DescriptionError(
                f"{self.place}: {name}[{bad[0]}] is {brief(found[bad[0]])}; a request has at least one token: leave "
                f"out runs with empty answers"
            )
        return np.array(found, np.int64)

    def times(self, name: str, count: int) -> Real | None:
        """Seconds since the first of so many; None: the file has none, or some are none."""
        found = self.fields.get(name)
        if not isinstance(found, list) or len(found) != count:
            return None
        if not all(isinstance(one, int | float) and isfinite(one) for one in found):
            return None
        times = np.array(found, np.float64)
        since: Real = times - times.min()
        return since

    def refuse_failed(self, failed: float, of: float, first: str = "") -> None:
        """Refuse a run of which requests failed: what is left is another load."""
        if failed > 0:
            said = f" (the first: {brief(first)})" if first else ""
            raise DescriptionError(
                f"{self.place}: {failed:,.0f} of {of:,.0f} requests failed{said}, so latencies are those of another "
                f"load; find out why, and run the benchmark again"
            )


def spread_evenly(total: float, count: int) -> Whole:
    """Lengths of requests of which only the sum is known: all the mean, the first some one token longer."""
    least, more = divmod(round(total), count)
    return np.where(np.arange(count) < more, least + 1, max(least, 1)).astype(np.int64)
