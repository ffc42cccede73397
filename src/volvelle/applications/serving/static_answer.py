"""A batch that is given to an instance at once: time to the first token, time of each after it, and where both go."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, hypot, log

import numpy as np

from volvelle.applications.cross_validation import REACH
from volvelle.applications.serving.instance import Instance
from volvelle.applications.serving.part_bounds import HOST, TimedPart, compared, part_bounds
from volvelle.applications.serving.stand_ins import FIGURES, with_stand_ins
from volvelle.estimators.result import Range
from volvelle.estimators.serving.iteration import Column
from volvelle.estimators.serving.speculative import TimedSteps
from volvelle.estimators.serving.static_batch import static_times

LEVEL = 0.8
"""Of intervals."""
UNFITTED = 1.25
"""One standard deviation as a factor, where no run of the engine on such chips was there to fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticAnswer:
    """A batch from its prompts to its last token. Totals are those of the parts."""

    batch: int
    """Sequences on all chips that are used."""
    sequences: int
    """Of them on one data-parallel rank of one replica, the fullest."""
    input_tokens: int
    output_tokens: int
    chips: int
    """Of all replicas together."""
    replicas: int
    prefill: tuple[TimedPart, ...]
    """Until every sequence has its first token, the longest part first."""
    decode: tuple[TimedPart, ...]
    """Of each further token, in the mean."""
    errors: Mapping[str, float]
    """One standard deviation, as a factor, by what is predicted."""

    @property
    def ttft(self) -> float:
        """Seconds until all prompts are read and every sequence has its first token."""
        return sum(part.seconds for part in self.prefill)

    @property
    def tpot(self) -> float:
        """Seconds for each output token after the first."""
        return sum(part.seconds for part in self.decode)

    @property
    def latency(self) -> float:
        """Seconds until the last token."""
        return self.ttft + (self.output_tokens - 1) * self.tpot

    @property
    def throughput(self) -> float:
        """Output tokens a second of all replicas."""
        return self.batch * self.output_tokens / self.latency

    @property
    def throughput_per_instance(self) -> float:
        """Output tokens a second of one replica."""
        return self.throughput / self.replicas

    @property
    def throughput_per_chip(self) -> float:
        """Output tokens a second of one chip."""
        return self.throughput / self.chips

    @property
    def throughput_per_user(self) -> float:
        """Output tokens a second that one sequence gets once it has its first."""
        return 1.0 / self.tpot

    @property
    def total_throughput(self) -> float:
        """Tokens a second that go in and come out, of all replicas."""
        return self.batch * (self.input_tokens + self.output_tokens) / self.latency

    @property
    def binding(self) -> TimedPart:
        """The part of all of the time that takes longest."""
        steps = {"prefill": 1.0, "decode": self.output_tokens - 1.0}
        found: dict[tuple[str, str], float] = {}
        for phase, parts in (("prefill", self.prefill), ("decode", self.decode)):
            for part in parts:
                key = (part.name, part.bound)
                found[key] = found.get(key, 0.0) + steps[phase] * part.seconds
        (name, bound), seconds = max(found.items(), key=lambda item: item[1])
        return TimedPart(name=name, seconds=seconds, bound=bound)

    @property
    def ranges(self) -> Mapping[str, Range]:
        """Return the 80 % ranges by what is predicted; that of throughput follows from that of latency."""
        first, later = interval(self.ttft, self.errors["ttft"]), interval(self.tpot, self.errors["tpot"])
        whole = latency_range(self.latency, self.errors["latency"], first=(self.ttft, first), later=(self.tpot, later))
        tokens = self.batch * self.output_tokens
        rate = replace(whole, low=tokens / whole.high, high=tokens / whole.low)
        return {"ttft": first, "tpot": later, "latency": whole, "throughput": rate}


def latency_range(value: float, error: float, *, first: tuple[float, Range], later: tuple[float, Range]) -> Range:
    """Return the range of a latency, no wider than its parts allow: TTFT, and as many TPOT as the rest of it takes.

    `first` and `later` are TTFT and TPOT, each with its range.
    """
    plain = interval(value, error)
    (ttft, of_ttft), (tpot, of_tpot) = first, later
    steps = max(value - ttft, 0.0) / tpot if tpot > 0.0 else 0.0
    low, high = of_ttft.low + steps * of_tpot.low, of_ttft.high + steps * of_tpot.high
    return replace(plain, low=min(max(plain.low, low), value), high=max(min(plain.high, high), value))


def interval(value: float, error: float) -> Range:
    """Of a prediction whose error is log-normal."""
    factor = error**REACH
    return Range(low=value / factor, high=value * factor, level=LEVEL, varied=("model error",))


def prediction_errors(instance: Instance) -> Mapping[str, float]:
    """Return one standard deviation, as a factor, by figure.

    It is the error of runs of the engine. Without such runs it is a quarter, the error of the kernels or the error of
    whole latencies, whichever is largest. Stand-ins widen figures that no run on such chips covers. Drafts add
    the uncertainty of their acceptance.
    """
    experts = instance.served.shape.experts is not None
    engine, chip, kernels = instance.engine, instance.chip, instance.iteration.kernels
    unfitted = max(UNFITTED, kernels.error, engine.error_of("latency", experts=experts) or 1.0)
    found = {
        name: with_stand_ins(
            engine.error_of(name, experts=experts) or unfitted, name, engine, chip, kernels, experts=experts
        )
        for name in FIGURES
    }
    drafts = instance.speculation
    if drafts is None:
        return found
    # Doubt about what drafts yield is apart from that about steps; a first token needs no draft.
    return found | {
        name: exp(hypot(log(found[name]), log(drafts.acceptance.error))) for name in found if name != "ttft"
    }


def static_answer(
    instance: Instance, *, batch: int, input_tokens: int, output_tokens: int, replicas: int
) -> StaticAnswer:
    """A batch that replicas and their data-parallel ranks share evenly."""
    engine = instance.iteration.engine
    sequences = -(-batch // (replicas * instance.layout.data))
    rules = instance.rules(concurrency=sequences)
    given, budget = (
        np.full((3, 3), ((sequences,), (input_tokens,), (output_tokens,)), float),
        float(min(rules.token_budget, rules.chunk)),
    )
    times = static_times(_compared(instance), *given, budget=budget)
    drafts = instance.speculation
    cycles = 1.0 if drafts is None else drafts.token_cycles(output_tokens - 1)
    front = {
        "client and front end": engine.first_token + engine.tokenising * input_tokens,
        "admission of requests": engine.per_admission * sequences,
    }
    return StaticAnswer(
        batch=batch,
        sequences=sequences,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        chips=instance.layout.chips * replicas,
        replicas=replicas,
        prefill=_parts(times.prompt_parts, times.prompts, front),
        decode=tuple(
            replace(part, seconds=part.seconds * cycles) for part in _parts(times.token_parts, times.token, {})
        ),
        errors=prediction_errors(instance),
    )


@lru_cache(maxsize=512)
def _compared(instance: Instance) -> TimedSteps:
    return instance.iteration.on(compared(instance.iteration.chip))


def decode_tpot(instance: Instance, sequences: Column, *, input_tokens: int, output_tokens: int) -> Column:
    """Seconds for each token after the first, of so many sequences on one rank; a column, because it is asked often."""
    given, made = np.full(len(sequences), float(input_tokens)), np.full(len(sequences), float(output_tokens))
    step = static_times(instance.iteration, sequences, given, made, budget=float(instance.rules().token_budget)).token
    drafts = instance.speculation
    return step if drafts is None else step * drafts.token_cycles(output_tokens - 1)


def _parts(parts: Mapping[str, Column], whole: Column, front: Mapping[str, float]) -> tuple[TimedPart, ...]:
    """Parts of a phase, the longest first; what the chips do not explain is the host's."""
    seconds, bounds = {name: float(time[0]) for name, time in parts.items()}, part_bounds(parts)
    host = {"host and kernel launches": max(float(whole[0]) - sum(seconds.values()), 0.0), **front}
    timed = [TimedPart(name=name, seconds=time, bound=bounds.get(name, HOST)) for name, time in seconds.items()]
    timed += [TimedPart(name=name, seconds=time, bound=HOST) for name, time in host.items()]
    return tuple(sorted((part for part in timed if part.seconds > 0.0), key=lambda part: -part.seconds))
