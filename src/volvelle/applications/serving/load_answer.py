"""What is common to answers under load: what clients measured, and what that is of the whole machine."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from volvelle.applications.serving.static_answer import interval
from volvelle.estimators.result import Range
from volvelle.simulation.batching.metrics import Latency, Metrics
from volvelle.simulation.batching.stability import Unstable


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineAnswer:
    """What came of a load on the whole machine, an equal part of which was followed."""

    requests: int
    """That were followed, on one part."""
    share: float
    """Times that the load of all is that of one part."""
    chips: int
    """Of the whole machine."""
    outcome: Metrics | Unstable
    """Of one part."""
    errors: Mapping[str, float]

    @property
    def metrics(self) -> Metrics | None:
        """Of one part; None: the load is more than it sustains."""
        return self.outcome if isinstance(self.outcome, Metrics) else None

    @property
    def unstable(self) -> Unstable | None:
        """Rates of the whole machine, where requests come faster than they are served."""
        found = self.outcome
        if isinstance(found, Metrics):
            return None
        return replace(found, offered=self.share * found.offered, sustained=self.share * found.sustained)

    @property
    def latencies(self) -> Mapping[str, Latency]:
        """By name; nothing of a load that is too much, nor of tokens after the first where no request has any."""
        found = self.metrics
        known = {} if found is None else self._latencies(found)
        return {name: latency for name, latency in known.items() if np.isfinite(latency.mean)}

    def _latencies(self, found: Metrics) -> Mapping[str, Latency]:
        return {"ttft": found.ttft, "tpot": found.tpot, "itl": found.itl, "e2el": found.e2el}

    @property
    def request_throughput(self) -> float | None:
        """Requests a second, of the whole machine."""
        return None if self.metrics is None else self.share * self.metrics.request_throughput

    @property
    def throughput(self) -> float | None:
        """Output tokens a second, of the whole machine."""
        return None if self.metrics is None else self.share * self.metrics.output_throughput

    @property
    def total_throughput(self) -> float | None:
        """Tokens a second that go in and come out, of the whole machine."""
        return None if self.metrics is None else self.share * self.metrics.total_token_throughput

    @property
    def throughput_per_chip(self) -> float | None:
        """Output tokens a second of one chip."""
        return None if self.throughput is None else self.throughput / self.chips

    @property
    def ranges(self) -> Mapping[str, Range]:
        """Where four of five measurements are to be expected: of mean latencies, and of the throughput."""
        found = self.metrics
        if found is None or self.throughput is None:
            return {}
        values = {"ttft": found.ttft.mean, "tpot": found.tpot.mean, "latency": found.e2el.mean}
        values["throughput"] = self.throughput
        return {name: interval(value, self.errors[name]) for name, value in values.items() if np.isfinite(value)}
