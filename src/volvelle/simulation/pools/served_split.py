"""What came of requests that two pools served, and what their clients measure."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from volvelle.simulation.batching.gaps import gaps
from volvelle.simulation.batching.metrics import PERCENTILES, ClientTimes, Latency, Limits, Metrics, metrics_of
from volvelle.simulation.batching.peaks import most_tokens
from volvelle.simulation.batching.served import Served
from volvelle.simulation.batching.stability import Unstable, outgrown
from volvelle.simulation.batching.state import Real, Whole
from volvelle.simulation.batching.warm_up import SteadyPart, steady_part

PoolName = Literal["prefill", "decode"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServedSplit:
    """Times in seconds since the load began, one a request and in its order, and what each engine did."""

    offered: Real
    sent: Real
    admitted: Real
    """When the step began that computed the first of its prompt."""
    computed: Real
    """When its prompt was computed and its first token known."""
    arrived: Real
    """When its cache had arrived where it decodes; of one token, when it was computed."""
    delivered: Real
    """When it was admitted there, and its client got the first token."""
    end: Real
    input_tokens: Whole
    output_tokens: Whole
    prefill: tuple[Served, ...]
    """Of each engine; an answer has one token there."""
    decode: tuple[Served, ...]
    """Of each engine; a request is sent there when its cache arrives."""
    clients: int
    stationary: bool
    after_warm_up: bool = False
    """Whether latencies and rates leave the warm-up of a closed loop out."""

    @property
    def steady(self) -> SteadyPart | None:
        """The part of the run that is counted; None: all of it."""
        return steady_part(self.sent, self.end, self.clients) if self.after_warm_up else None

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Whether a request is counted."""
        found = self.steady
        return np.ones(self.sent.size, np.bool_) if found is None else found.counted

    @property
    def duration(self) -> float:
        """From the beginning of the load to the last token."""
        return float(self.end.max(initial=0.0))

    @property
    def first_at_prefill(self) -> Latency:
        """TTFT of a front end that hands the first token out when the prompt is computed, before the transfer."""
        return Latency.of((self.computed - self.sent)[self.counted])

    @property
    def transfer(self) -> Latency:
        """From a computed prompt to its cache where it decodes, the wait for the link included."""
        return Latency.of((self.arrived - self.computed)[self.counted & (self.output_tokens > 1)])

    @property
    def wait_for_room(self) -> Latency:
        """From a cache that has arrived to when it may stay: for the end of a step, or for blocks."""
        return Latency.of((self.delivered - self.arrived)[self.counted & (self.output_tokens > 1)])

    def measure(self, *, limits: Limits | None = None, percentiles: tuple[float, ...] = PERCENTILES) -> Metrics:
        """What clients measure that get the first token when the request decodes."""
        own = [served for served in self.decode if served.sent.size]
        steady = self.steady
        since = 0.0 if steady is None else steady.begin
        pieces = [gaps(served, since=since) for served in own] or [(np.zeros(0), np.zeros(0))]
        most = most_tokens(*own, start=float(self.sent.min()), alone=self.end[self.output_tokens == 1])
        seen = ClientTimes(
            offered=self.offered,
            sent=self.sent,
            first_token=self.delivered,
            end=self.end,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            between=(np.concatenate([one for one, _ in pieces]), np.concatenate([many for _, many in pieces])),
            most_tokens=most,
            preemptions=sum(served.preemptions for served in (*self.prefill, *self.decode)),
        )
        return metrics_of(seen, limits=limits, percentiles=percentiles, steady=steady)

    def unstable(self) -> tuple[PoolName, Unstable] | None:
        """The pool that does not keep up with a rate, and the rates; None: both do, or the load has none of its own."""
        if not self.stationary:
            return None
        first = outgrown(self.sent, self.admitted)
        if first is not None:
            return "prefill", first
        several = np.flatnonzero(self.output_tokens > 1)
        order = several[np.argsort(self.arrived[several], kind="stable")]
        second = outgrown(self.arrived[order], self.delivered[order])
        return None if second is None else ("decode", second)
