"""What came of a run: when every request was sent, started, answered and ended, and what the engine did meanwhile."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.simulation.batching.machine import (
    BEGIN,
    IN_DECODE,
    IN_FLIGHT,
    MORE,
    PROMPT_TOKENS,
    PROMPTS,
    SECONDS,
    STEPS,
    USED,
)
from volvelle.simulation.batching.state import Real, Whole


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spans:
    """Spans of steps that were alike: `steps` of them from `begin` on, the first of `first` s, each after it longer."""

    begin: Real
    first: Real
    more: Real
    """Seconds that each step takes more than the one before."""
    steps: Whole
    decoding: Whole
    """Sequences that decoded in each step; 0: only prompts were computed."""
    running: Whole
    used_blocks: Whole
    prompts: Whole
    """Prompts of which tokens were computed in the step; 0: none, and spans of several steps have none."""
    prompt_tokens: Whole

    @classmethod
    def of(cls, times: Real, counts: Whole) -> "Spans":
        """From the machine's tables."""
        return cls(
            begin=times[:, BEGIN],
            first=times[:, SECONDS],
            more=times[:, MORE],
            steps=counts[:, STEPS],
            decoding=counts[:, IN_DECODE],
            running=counts[:, IN_FLIGHT],
            used_blocks=counts[:, USED],
            prompts=counts[:, PROMPTS],
            prompt_tokens=counts[:, PROMPT_TOKENS],
        )

    def until(self, steps: Whole | int) -> Real:
        """When so many steps of each span have ended."""
        done = np.asarray(steps, np.float64)
        ends: Real = self.begin + done * self.first + self.more * (0.5 * done * (done - 1.0))
        return ends

    @property
    def end(self) -> Real:
        """When the last step of each ended."""
        return self.until(self.steps)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Served:
    """Times in seconds since the load began, one a request and in its order, and the steps of the engine."""

    offered: Real
    """When the load has the request; later it is `sent`, where a client was to be free first."""
    sent: Real
    admitted: Real
    """When the step began that computed the first of its prompt."""
    first_token: Real
    end: Real
    input_tokens: Whole
    output_tokens: Whole
    preempted: Whole
    """How often each request was preempted."""
    spans: Spans
    starts: Whole
    """The decoding step with which each request decoded to its end; -1: it never did, its first token was its last."""
    start_tokens: Real
    """When the token came with which that began."""
    interrupted_starts: Whole
    """The same two of decoding that a preemption cut short."""
    interrupted_start_tokens: Real
    resumption_gaps: Real
    """Seconds between the last token before a preemption and the next."""
    lone_tokens: Real
    """When tokens came after which a request was preempted before it decoded."""
    prefilled_tokens: int
    """Prompt tokens computed, those that were computed again among them."""
    found_tokens: int
    """Tokens that the prefix cache had."""
    kv_blocks: int
    free_blocks: int
    """At the end: all of them."""
    least_free_blocks: int
    block_tokens: int
    stream_interval: int
    clients: int
    """That share the load; 0: requests come whether or not others have ended."""
    stationary: bool
    """Whether requests came at one rate throughout."""
    step_tokens: float = 1.0
    """That a decoding step yields of a sequence, in the mean."""

    @property
    def duration(self) -> float:
        """From the beginning of the load to the last token."""
        return float(self.end.max(initial=0.0))

    @property
    def preemptions(self) -> int:
        """Of all requests together."""
        return int(self.preempted.sum())

    def curve(self, moments: NDArray[np.float64]) -> tuple[Whole, Whole, Real]:
        """Requests that run and that wait, and the part of the KV cache in use, at given moments."""
        begins, last = self.spans.begin, self.spans.end
        place = np.searchsorted(begins, moments, side="right") - 1
        inside = (place >= 0) & (moments <= last[np.maximum(place, 0)])
        running = np.where(inside, self.spans.running[place], 0)
        used = np.where(inside, self.spans.used_blocks[place] / self.kv_blocks, 0.0)
        arrived = np.searchsorted(np.sort(self.sent), moments, side="right")
        ended = np.searchsorted(np.sort(self.end), moments, side="right")
        return running, np.maximum(0, arrived - ended - running), used
