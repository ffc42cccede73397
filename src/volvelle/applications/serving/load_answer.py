"""What is common to answers under load: what clients measured, and what that is of the whole machine."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from volvelle.applications.serving.static_answer import interval, latency_range
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
    stationary: bool = False
    """Whether requests come at one rate throughout."""
    span: float = 0.0
    """Seconds over which requests come by themselves; 0: clients send them, or all are there at once."""
    capacity: float | None = None
    """Requests a second that the whole machine serves where requests always wait; None: not looked for."""

    @property
    def metrics(self) -> Metrics | None:
        """Of one part; None: the load is more than it sustains."""
        return self.outcome if isinstance(self.outcome, Metrics) else None

    @property
    def warmed_up(self) -> bool:
        """Whether the first request of each client was left out as warm-up."""
        return self.metrics is not None and self.metrics.counted < self.metrics.completed

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
        """Requests a second, of the whole machine; of a load at one rate that is kept up, that rate."""
        return None if self.metrics is None else self._per_second(self.metrics.request_throughput)

    @property
    def offered(self) -> float:
        """Requests a second that come by themselves, to the whole machine; infinite where `span` is 0."""
        return self.share * self.requests / self.span if self.span > 0.0 else np.inf

    def _per_second(self, rate: float) -> float:
        """Return a rate of the whole machine, where one part of it had `rate` over its own run.

        A load at one rate that is kept up is served at that rate: the run's tail, when no more requests come, is left
        out. Other loads take at least as long as they come.
        """
        assert self.metrics is not None, "it was measured"
        duration = self.metrics.duration
        seconds = self.span if self.stationary and self.span > 0.0 else max(duration, self.span)
        return self.share * rate * duration / seconds

    @property
    def throughput(self) -> float | None:
        """Output tokens a second, of the whole machine."""
        return None if self.metrics is None else self._per_second(self.metrics.output_throughput)

    @property
    def total_throughput(self) -> float | None:
        """Tokens a second that go in and come out, of the whole machine."""
        return None if self.metrics is None else self._per_second(self.metrics.total_token_throughput)

    @property
    def throughput_per_chip(self) -> float | None:
        """Output tokens a second of one chip."""
        return None if self.throughput is None else self.throughput / self.chips

    @property
    def ranges(self) -> Mapping[str, Range]:
        """Return the 80 % ranges of mean latencies and of the throughput."""
        found = self.metrics
        if found is None or self.throughput is None:
            return {}
        values = {"ttft": found.ttft.mean, "tpot": found.tpot.mean, "latency": found.e2el.mean}
        ranges = {name: interval(value, self.errors[name]) for name, value in values.items() if np.isfinite(value)}
        if {"tpot", "latency"} <= ranges.keys():
            first, later = (found.ttft.mean, ranges["ttft"]), (found.tpot.mean, ranges["tpot"])
            ranges["latency"] = latency_range(found.e2el.mean, self.errors["latency"], first=first, later=later)
        return ranges | {"throughput": self._throughput_range(found, self.throughput)}

    def _throughput_range(self, found: Metrics, throughput: float) -> Range:
        """Return the range of output tokens a second: at each end, what is served or what comes, the smaller."""
        plain = interval(throughput, self.errors["throughput"])
        if not np.isfinite(self.offered):
            return plain
        tokens = found.total_output_tokens / found.completed
        offered = max(self.offered * tokens, throughput)
        if self.capacity is None:
            return replace(plain, high=min(plain.high, offered))
        able = interval(max(self.capacity * tokens, throughput), self.errors["throughput"])
        return replace(plain, low=min(able.low, throughput), high=min(able.high, offered))
