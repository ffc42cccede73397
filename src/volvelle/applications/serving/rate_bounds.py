"""What no run of an instance can beat, from times of single steps: latencies of a request alone, and a rate.

A bound is a few in a hundred to the safe side, for tables of steps are interpolated and lengths are means. Where tokens
are drafted a step is a cycle: a request alone may have all drafts accepted, and a rate is that of as many cycles as
requests take in the mean.
"""

from dataclasses import dataclass

import numpy as np

from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.speculation.drafted_load import drafted
from volvelle.estimators.serving.cache import cache_bytes
from volvelle.estimators.serving.iteration import Batch, Column
from volvelle.simulation.batching.rules import Rules
from volvelle.workload.serving.limits import LatencyLimit
from volvelle.workload.serving.loads import AbstractLoad, AbstractSteadyRate, Closed, Ramp, Recorded
from volvelle.workload.serving.requests import Requests

_SAFE = 0.97
"""Part of a closed form that is taken as a bound."""
_SLACK = 3.0
"""Times that a load which ends, or whose clients wait, may be above what is sustained."""
_SIZES = np.unique(np.concatenate([np.arange(1, 33), np.geomspace(32, 4096, 56).round()]))
"""Batches that are looked at."""
_CHUNKS = np.array([128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0])
"""Prompt tokens of a step that are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateBounds:
    """Of one rank."""

    rate: float
    """Requests a second at most; 0: a limit is out of reach for a request alone, or nothing fits."""
    floors: tuple[float, ...]
    """What is limited is at least this, in the order of the limits."""
    reason: str = ""
    """Why nothing can be served within the limits; empty: something may."""

    @property
    def possible(self) -> bool:
        """Whether limits are within reach."""
        return not self.reason


class StepFloors:
    """Times of single steps and room for requests that bounds are made of, once for all settings of an engine."""

    def __init__(self, instance: Instance, requests: Requests, *, seed: int = 0, computed: bool = False) -> None:
        self.iteration = instance.iteration
        self.cached = computed or requests.hash_ids.size > 0
        """Whether prompts may take no time: they are found in a cache, or come `computed`."""
        given, made = requests.input_tokens, requests.output_tokens
        drafts, steps = instance.speculation, made.astype(float)
        if drafts is not None:
            steps = 1.0 + _SAFE * drafted(instance, requests, seed=seed).decode_steps
        self.shortest = 1 if self.cached else int(given.min())
        """Of prompts; every one may find its beginning in a prefix cache."""
        self.longest, self.longest_prompt = int(np.max(given + made)), int(given.max())
        self.given, self.steps = float(np.mean(given)), float(np.mean(steps))
        """Tokens of a prompt and steps of a request in the mean, its first with the prompt."""
        later = float((made - 1).sum())
        self.step_tokens = later / float((steps - 1.0).sum()) if later else 1.0
        """That a step yields of a sequence in the mean; one, where nothing is drafted."""
        self.most_tokens = 1.0 if drafts is None else len(drafts.levels) + 1.0
        """That it yields at most."""
        self.fewest_later = float(made.min()) - 1.0
        """Tokens of an answer after its first, at least."""
        # A step holds every request for as many steps as it takes, so long answers weigh more.
        self.context = float(np.average(given + made / 2.0, weights=steps))
        self.reason = "" if instance.fits(self.longest) else instance.why_not(self.longest)
        """Why nothing can be served; empty: it can."""
        held = float(cache_bytes(instance.served, instance.layout, self.context, block=instance.memory.block))
        room = instance.memory.room(instance.served, instance.layout)
        self.most_held = 1.1 * room / max(held, 1e-9) + 1.0
        """Requests whose cache a chip holds, half through their answers."""
        self._first: dict[int, float] = {}
        if not self.reason:
            self.alone = float(self._steps(np.zeros(1), np.ones(1), float(self.shortest))[0])
            self.decode = self._steps(np.zeros(_SIZES.size), _SIZES, self.context)
            """Of batches of all sizes."""
            chunks, sizes = (grid.ravel() for grid in np.meshgrid(_CHUNKS, _SIZES, indexing="ij"))
            self.mixed = self._steps(chunks, sizes, self.context).reshape(_CHUNKS.size, _SIZES.size)
            """Of chunks of prompts beside such batches."""
            self.reading = _CHUNKS / self._steps(_CHUNKS, np.zeros(_CHUNKS.size), 0.0)
            """Prompt tokens a second, in chunks and alone."""

    def _steps(self, chunks: Column, sequences: Column, context: float) -> Column:
        prompts = np.where(chunks > 0, np.maximum(chunks / self.given, 1.0), 0.0)
        batch = Batch(
            prompt_tokens=chunks,
            prompts=prompts,
            past=0.0 * chunks,
            decodes=sequences,
            context=sequences * context,
            yielding=sequences,
        )
        return _SAFE * self.iteration.steps(batch)

    def decode_step(self, sequences: float) -> float:
        """Seconds of a step that decodes so many, and computes no prompt."""
        return float(np.interp(sequences, _SIZES, self.decode))

    def first_token(self, budget: int) -> float:
        """Seconds to the first token of a request that nobody disturbs."""
        if budget not in self._first:
            starts = np.arange(0.0, self.shortest, budget)
            one = np.ones(len(starts))
            sizes = np.minimum(self.shortest - starts, budget)
            batch = Batch(prompt_tokens=sizes, prompts=one, past=starts, decodes=0.0 * one, context=0.0 * one)
            seconds = _SAFE * float(self.iteration.steps(batch).sum())
            engine = self.iteration.engine
            self._first[budget] = seconds + engine.first_token + engine.tokenising * self.shortest
        return self._first[budget]


def rate_bounds(rules: Rules, floors: StepFloors, limits: tuple[LatencyLimit, ...]) -> RateBounds:
    """Of an instance by such rules, whose steps have such times, under limits."""
    nothing = tuple(0.0 for _ in limits)
    if floors.reason:
        return RateBounds(rate=0.0, floors=nothing, reason=floors.reason)
    budget = min(rules.token_budget, rules.chunk)
    if not rules.chunks and floors.longest_prompt > rules.token_budget:
        reason = (
            f"a prompt of {floors.longest_prompt:,} tokens is more than the {rules.token_budget:,} of a step, and "
            f"prompts are not cut"
        )
        return RateBounds(rate=0.0, floors=nothing, reason=reason)
    kept = rules.kv_blocks * rules.block_tokens
    if kept <= floors.longest + rules.block_tokens:  # some engines keep a token, or a block, beyond
        reason = f"the KV cache holds {kept:,} tokens, and a request takes up to {floors.longest:,}"
        return RateBounds(rate=0.0, floors=nothing, reason=reason)
    first, later = floors.first_token(budget), floors.alone / floors.most_tokens
    whole = first + floors.fewest_later * later
    known = {"ttft": first, "tpot": later if floors.fewest_later > 0 else 0.0, "itl": 0.0, "e2el": whole}
    least = tuple(known[limit.latency] for limit in limits)
    for limit, floor in zip(limits, least, strict=True):
        if floor > limit.seconds:
            reason = f"{limit.name} is above its limit even for a request alone"
            return RateBounds(rate=0.0, floors=least, reason=reason)
    return RateBounds(rate=_rate(rules, floors, limits, budget), floors=least)


def _rate(rules: Rules, floors: StepFloors, limits: tuple[LatencyLimit, ...], budget: int) -> float:
    """Requests a second: batch and chunk that serve most, where steps come as often as a limit of TPOT wants.

    Of n steps a second a part r has a chunk of c prompt tokens: n (r t(c, B) + (1 - r) t(0, B)) <= 1. Of a rate x,
    B = x o / n sequences decode and r = x i / (c n), with i tokens in and o steps. So r = B i / (o c), and x = n B / o.
    """
    whole = not rules.chunks and floors.longest_prompt > budget
    # Up to the size of a chunk that the budget lies below.
    chunks = np.full(_CHUNKS.size, True) if whole else np.append(True, _CHUNKS[:-1] < budget)
    reading = float(np.max(floors.reading[chunks])) / floors.given
    if floors.steps <= 1.0:
        return reading
    made = floors.steps - 1.0
    given = 0.0 if floors.cached else floors.given
    part = np.minimum(_SIZES * given / (made * _CHUNKS[chunks, None]), 1.0)
    often = 1.0 / (part * floors.mixed[chunks] + (1.0 - part) * floors.decode)
    rates = np.where(part < 1.0, _SIZES * often / made, 0.0)
    slowest = _slowest_token(limits) * floors.step_tokens
    allowed = (min(rules.max_sequences, floors.most_held) >= _SIZES) & (often >= 1.0 / slowest)
    # Between two sizes of a batch it does no better than with the larger.
    allowed[:, 1:] |= allowed[:, :-1]
    allowed[:, 0] = True
    bound = float(np.max(np.where(allowed, rates, 0.0)))
    return bound if floors.cached else min(bound, reading)


def _nearly_all(limit: LatencyLimit) -> bool:
    return limit.percentile is None or limit.percentile >= 90.0


def _slowest_token(limits: tuple[LatencyLimit, ...]) -> float:
    """Seconds that a token may take in the mean while nearly all requests keep a limit of TPOT."""
    found = np.inf
    for limit in limits:
        if limit.latency == "tpot" and _nearly_all(limit):
            beyond = 0.1 if limit.percentile is None else 2.0 * (1.0 - limit.percentile / 100.0)
            found = min(found, limit.seconds * (1.0 + beyond))
    return float(found)


def bounds_under(
    load: AbstractLoad, rules: Rules, floors: StepFloors, limits: tuple[LatencyLimit, ...]
) -> tuple[RateBounds, float]:
    """What bounds a rank by such rules, and the largest part of a load that it may then serve."""
    bounds = rate_bounds(rules, floors, limits)
    return bounds, share_bound(load, bounds, limits, most_sequences=rules.max_sequences * floors.step_tokens)


def share_bound(
    load: AbstractLoad, bounds: RateBounds, limits: tuple[LatencyLimit, ...], *, most_sequences: float
) -> float:
    """The largest part of a load that a rank may serve within limits; sequences that draft count for several."""
    if isinstance(load, AbstractSteadyRate):
        return bounds.rate / load.rate
    if isinstance(load, Closed):
        # By Little's law; clients beyond four times what an engine lets in only wait.
        most = 4.0 * most_sequences
        waits = [limit.seconds for limit in limits if limit.latency == "e2el" and _nearly_all(limit)]
        if waits:
            most = min(most, _SLACK * bounds.rate * min(waits))
        return max(most, 1.0) / load.clients
    if isinstance(load, Ramp):
        return _SLACK * bounds.rate / min(load.start_rate, load.end_rate)
    assert isinstance(load, Recorded), "requests at once have no rate"
    offered = load.recorded.offered_rate * load.rate_factor
    return _SLACK * bounds.rate / offered if np.isfinite(offered) else 1.0
