"""What no worker of a pool can beat, before anything is simulated: one that computes prompts, one that decodes."""

from dataclasses import dataclass, replace

import numpy as np

from volvelle.applications.serving.goodput import AskedLoad
from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.rate_bounds import StepFloors, rate_bounds, share_bound
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import Closed

_OF_PROMPTS, _OF_ANSWERS = ("ttft", "e2el"), ("tpot",)
"""Latencies that one pool alone may put out of reach."""
_LEFT = 2.0
"""Times as long as a request lasts that a pool may go on after the last came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerBound:
    """Of one worker with one rank."""

    share: float
    """The part of the load that it serves within limits, at most; 0: none, infinite: no closed form says."""
    rate: float
    """Requests a second that it serves at most, whatever the limits; 0: requests do not fit, infinite: none come."""
    reason: str = ""
    """Why it serves none."""


def prefill_bound(instance: Instance, asked: AskedLoad, limits: tuple[LatencyLimit, ...]) -> WorkerBound:
    """Of a worker that computes prompts: answers end there with their first token."""
    requests = asked.part(1.0)
    floors = StepFloors(instance, replace(requests, output_tokens=np.ones_like(requests.output_tokens)))
    own = tuple(limit for limit in limits if limit.latency in _OF_PROMPTS)
    return _bound(instance, floors, asked, own, lasts=max((limit.seconds for limit in own), default=np.inf))


def decode_bound(instance: Instance, asked: AskedLoad, limits: tuple[LatencyLimit, ...]) -> WorkerBound:
    """Of a worker that decodes: prompts come computed."""
    requests = asked.part(1.0)
    floors = StepFloors(instance, requests, computed=True)
    if int(requests.output_tokens.max()) <= 1:  # no request gets there
        return WorkerBound(share=np.inf, rate=np.inf)
    lasts = 0.0
    if not floors.reason:
        full = min(float(instance.rules().max_sequences), floors.most_held)
        lasts = float(requests.output_tokens.max()) * floors.decode_step(full)
    own = tuple(limit for limit in limits if limit.latency in _OF_ANSWERS)
    return _bound(instance, floors, asked, own, lasts=lasts)


def _bound(
    instance: Instance, floors: StepFloors, asked: AskedLoad, limits: tuple[LatencyLimit, ...], *, lasts: float
) -> WorkerBound:
    """Of a worker in which a request is at most about as long as it `lasts`."""
    rules = instance.rules()
    free, bounds = rate_bounds(rules, floors, ()), rate_bounds(rules, floors, limits)
    if not bounds.possible:
        return WorkerBound(share=0.0, rate=free.rate, reason=bounds.reason)
    span = float(asked.part(1.0).arrival[-1])
    # Clients may all wait for the other pool, and a run that ends before a pool is full asks less of it.
    if isinstance(asked.load, Closed) or lasts > span:
        return WorkerBound(share=np.inf, rate=free.rate)
    share = share_bound(asked.load, bounds, limits, most_sequences=rules.max_sequences)
    return WorkerBound(share=share * (1.0 + _LEFT * lasts / span), rate=free.rate)
