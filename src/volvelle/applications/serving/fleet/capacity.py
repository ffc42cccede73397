"""What one replica takes: the highest rate of requests at which its latencies keep their limits.

Found by halving over the rate, with the same draws of gaps and lengths at every rate: roughly with short runs, then
closely with long ones. A rate above what the engine gets through where everything is there at once would not last, so
that is the highest that is looked at.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.static_answer import interval, prediction_errors, static_answer
from volvelle.errors import OutsideDomainError
from volvelle.estimators.result import Range
from volvelle.workload.serving.lengths import AbstractShape
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import AtOnce, Gamma

if TYPE_CHECKING:
    from volvelle.applications.serving.under_load import LoadAnswer
    from volvelle.simulation.batching.metrics import Latency

_ROUGH, _CLOSE = 3000, 12_000
"""Requests of one run: of twelve thousand, 120 lie above the 99th percentile."""
_ROUGH_HALVINGS, _CLOSE_HALVINGS = 6, 4
"""Of the span from 0 to what is sustained, then of the span around what that found."""
_RUNS = _ROUGH * (1 + _ROUGH_HALVINGS) + _CLOSE * (1 + _CLOSE_HALVINGS)
"""Requests of all runs of a usual search."""
_MOST_STEPS, _FEWEST = 5_000_000, 1000
"""Steps that prompts of all runs may take, and the fewest requests of a close run that are followed for it."""
_AROUND = (0.8, 1.15)
"""Where the close look begins and ends, in parts of what the rough one found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaCapacity:
    """What one replica takes within its limits, in requests a second; 0: they are missed at the lowest rate tried."""

    rate: float
    sustained: float
    """What it serves where requests wait at all times: no limit counts."""
    latencies: "Mapping[str, Latency]"
    """At that rate; where it is 0, at the lowest that was tried."""
    binding: str
    """The limit that is missed first above that rate, or ``throughput``."""
    running: float
    """Requests that run at once in the mean, at that rate."""
    prompt_share: float
    """Of the engine's time that prompts take, tokens after them the rest."""
    error: float
    """One standard deviation of its throughput, as a factor."""
    requests: int
    """Of the runs that it was found with, for each rank."""
    few: bool
    """Whether those are fewer than usual, as prompts take many steps each."""

    @property
    def lowest(self) -> float:
        """The lowest rate that is tried."""
        return float(self.sustained / 2**_ROUGH_HALVINGS)

    @property
    def range(self) -> Range:
        """Where the rate is to be expected in four of five cases."""
        return interval(self.rate, self.error)


def replica_capacity(
    instance: Instance,
    shape: AbstractShape,
    limits: tuple[LatencyLimit, ...],
    *,
    burstiness: float = 1.0,
    seed: int = 0,
) -> ReplicaCapacity:
    """The highest rate of one replica, all of its data-parallel ranks together."""
    from volvelle.applications.serving.under_load import answer_under_load  # noqa: PLC0415 - its compiler is slow

    ranks = instance.layout.data
    part = _part_followed(instance, shape, seed)
    rough, close = int(part * _ROUGH), int(part * _CLOSE)
    flood = answer_under_load(instance, AtOnce(), shape, replicas=1, requests=rough * ranks, seed=seed, capacity=False)
    assert flood.request_throughput is not None, "what is there at once has no rate, so none that is too much"
    sustained = flood.request_throughput

    def at(rate: float, requests: int) -> "tuple[LoadAnswer, str]":
        load = Gamma(rate=rate, burstiness=burstiness)
        found = answer_under_load(
            instance, load, shape, replicas=1, requests=requests * ranks, seed=seed, capacity=False
        )
        return found, _missed(found, limits)

    low, high, binding = 0.0, sustained, "throughput"
    for _ in range(_ROUGH_HALVINGS):
        rate = 0.5 * (low + high)
        _, missed = at(rate, rough)
        low, high, binding = (low, rate, missed) if missed else (rate, high, binding)
    lowest = sustained / 2**_ROUGH_HALVINGS
    if low > 0.0:
        low, found, binding = _closely(lambda rate: at(rate, close), low, sustained, lowest)
    else:
        found, missed = at(lowest, close)
        low, binding = (0.0, missed) if missed else (lowest, binding)
    running = found.occupancy.mean_running
    return ReplicaCapacity(
        rate=low,
        sustained=sustained,
        latencies=found.latencies,
        binding=binding,
        running=running * ranks,
        prompt_share=_prompt_share(instance, found, running),
        error=prediction_errors(instance)["throughput"],
        requests=close,
        few=part < 1.0,
    )


def _part_followed(instance: Instance, shape: AbstractShape, seed: int) -> float:
    """How many requests of the usual number are followed, where their prompts take very many steps."""
    prompt = float(AtOnce().requests(shape, count=_ROUGH, seed=seed).input_tokens.mean())
    most = instance.rules().most_tokens
    part = min(_MOST_STEPS * most / (prompt * _RUNS * instance.layout.data), 1.0)
    if part * _CLOSE < _FEWEST:
        raise OutsideDomainError(
            f"prompts of {prompt:,.0f} tokens in the mean take {prompt / most:,.0f} steps of {most:,} each, too many "
            f"to follow the thousands of requests that a fleet is sized with; let a step have more tokens "
            f"(--max-batched-tokens), or ask for shorter prompts or fewer ranks"
        )
    return part


def _closely(
    at: "Callable[[float], tuple[LoadAnswer, str]]", rough: float, sustained: float, lowest: float
) -> "tuple[float, LoadAnswer, str]":
    """The rate near another that long runs keep, what came of it, and what is missed above; 0: none is kept."""
    low, high = max(_AROUND[0] * rough, lowest), min(_AROUND[1] * rough, sustained)
    binding = "throughput"
    found, missed = at(low)
    while missed:
        if low <= lowest:
            return 0.0, found, missed
        low, high, binding = max(_AROUND[0] * low, lowest), low, missed
        found, missed = at(low)
    for _ in range(_CLOSE_HALVINGS):
        rate = 0.5 * (low + high)
        tried, missed = at(rate)
        if missed:
            high, binding = rate, missed
        else:
            low, found = rate, tried
    return low, found, binding


def _missed(found: "LoadAnswer", limits: tuple[LatencyLimit, ...]) -> str:
    """The first limit that is missed; empty: none is."""
    if found.unstable is not None:
        return "throughput"
    return next((limit.name for limit in limits if not limit.kept_by(found.latencies)), "")


def _prompt_share(instance: Instance, found: "LoadAnswer", running: float) -> float:
    """Of the time of a batch as large as there is in the mean, from its first prompt to its last token."""
    metrics = found.metrics
    assert metrics is not None, "a rate that is kept, or a 64th of what is sustained, is stable"
    batch = static_answer(
        instance,
        batch=max(round(running), 1) * instance.layout.data,
        input_tokens=max(round(metrics.total_input_tokens / metrics.completed), 1),
        output_tokens=max(round(metrics.total_output_tokens / metrics.completed), 1),
        replicas=1,
    )
    return batch.ttft / batch.latency
