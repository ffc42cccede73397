"""When requests come: a fixed number of clients, a rate, a rising rate, a trace, or everything at once.

The same load with the same seed is the same requests, anywhere.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.domains import NumberDomain, check_fields, number
from volvelle.errors import DescriptionError
from volvelle.workload.serving.lengths import AbstractShape
from volvelle.workload.serving.requests import CLIENTS, Real, Requests

SOME_CLIENTS = NumberDomain(1, 10**7, whole=True)
REQUEST_RATE = NumberDomain(1e-9, 1e9)
"""Requests a second."""
BURSTINESS = NumberDomain(1e-3, 1e6)
REQUESTS = NumberDomain(1, 10**8, whole=True)
RATE_FACTOR = NumberDomain(1e-6, 1e6)


class AbstractLoad(ABC):
    """The ways requests come."""

    @abstractmethod
    def requests(self, shape: AbstractShape | None, *, count: int, seed: int = 0) -> Requests:
        """So many requests of that shape."""


def _shaped(
    shape: AbstractShape | None, count: int, seed: int, arrival: Real, clients: int, *, stationary: bool = False
) -> Requests:
    """Requests at given times; lengths and times are drawn apart, so that neither moves the other."""
    if shape is None:
        raise DescriptionError("a load that is no trace needs lengths of prompts and answers")
    prompts, answers = shape.sample(np.random.default_rng((seed, 1)), count)
    return Requests(
        arrival=arrival, input_tokens=prompts, output_tokens=answers, clients=clients, stationary=stationary
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedLoop(AbstractLoad):
    """Clients that each send the next request when the last has ended; all send the first at once."""

    clients: int = number(SOME_CLIENTS)

    def __post_init__(self) -> None:
        check_fields(self, "load")

    def requests(self, shape: AbstractShape | None, *, count: int, seed: int = 0) -> Requests:
        """So many requests, of all clients together."""
        REQUESTS.check(count, "load: requests")
        return _shaped(shape, count, seed, np.zeros(count), self.clients)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AllAtOnce(AbstractLoad):
    """Everything is there from the beginning: an infinite rate."""

    def requests(self, shape: AbstractShape | None, *, count: int, seed: int = 0) -> Requests:
        """So many requests."""
        REQUESTS.check(count, "load: requests")
        return _shaped(shape, count, seed, np.zeros(count), 0)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Random(AbstractLoad):
    """At a rate, with gaps drawn from a Gamma distribution: a Poisson process where `burstiness` is 1.

    As ``vllm bench serve --request-rate --burstiness``, which stretches what it draws until the last request comes
    after exactly requests / rate seconds.
    """

    rate: float = number(REQUEST_RATE)
    """Requests a second."""
    burstiness: float = number(BURSTINESS, 1.0)
    """The shape of the distribution: below 1 requests come in bursts, above they come evenly."""
    clients: int = number(CLIENTS, 0)
    """That there are at most (``--max-concurrency``); 0: as many as it takes."""
    stretched: bool = True
    """Whether the last request comes after exactly requests / rate seconds."""

    def __post_init__(self) -> None:
        check_fields(self, "load")

    def requests(self, shape: AbstractShape | None, *, count: int, seed: int = 0) -> Requests:
        """So many requests."""
        REQUESTS.check(count, "load: requests")
        generator = np.random.default_rng((seed, 0))
        gaps = generator.gamma(self.burstiness, 1.0 / (self.rate * self.burstiness), count)
        arrival = np.cumsum(gaps)
        if self.stretched and arrival[-1] > 0:
            arrival *= count / self.rate / arrival[-1]
        return _shaped(shape, count, seed, arrival, self.clients, stationary=self.clients == 0)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Ramp(AbstractLoad):
    """At a rate that rises, or falls, evenly from the first request to the last."""

    start_rate: float = number(REQUEST_RATE)
    end_rate: float = number(REQUEST_RATE)
    burstiness: float = number(BURSTINESS, 1.0)

    def __post_init__(self) -> None:
        check_fields(self, "load")

    def requests(self, shape: AbstractShape | None, *, count: int, seed: int = 0) -> Requests:
        """So many requests."""
        REQUESTS.check(count, "load: requests")
        rate = self.start_rate + (self.end_rate - self.start_rate) * np.arange(count) / max(1, count)
        gaps = np.random.default_rng((seed, 0)).gamma(self.burstiness, 1.0 / (rate * self.burstiness), count)
        return _shaped(shape, count, seed, np.cumsum(gaps), 0)


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace(AbstractLoad):
    """Requests as somebody's users sent them, so many times as many a second."""

    recorded: Requests
    rate_factor: float = number(RATE_FACTOR, 1.0)

    def __post_init__(self) -> None:
        check_fields(self, "load")

    def requests(self, shape: AbstractShape | None = None, *, count: int = 0, seed: int = 0) -> Requests:
        """The first so many of them, or all; lengths are the trace's unless a shape is given."""
        if count > len(self.recorded):
            raise DescriptionError(f"the trace has {len(self.recorded):,} requests, not {count:,}; ask for no more")
        found = self.recorded.first(count or len(self.recorded)).faster(self.rate_factor)
        return found if shape is None else _shaped(shape, len(found), seed, found.arrival, found.clients)
