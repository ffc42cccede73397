"""When requests come: a fixed number of clients, a rate, a rising rate, recorded times, or everything at once.

The same load with the same seed is the same requests, anywhere.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.domains import NumberDomain, check_fields, number
from volvelle.errors import DescriptionError
from volvelle.quantities import plain_number
from volvelle.workload.serving.lengths import AbstractShape
from volvelle.workload.serving.requests import Real, Requests

SOME_CLIENTS = NumberDomain(1, 10**7, whole=True)
REQUEST_RATE = NumberDomain(1e-9, 1e9)
"""Requests a second."""
BURSTINESS = NumberDomain(1e-3, 1e6)
REQUESTS = NumberDomain(1, 10**8, whole=True)
RATE_FACTOR = NumberDomain(1e-6, 1e6)


class Load(ABC):
    """How requests come: `Closed`, `Poisson`, `Gamma`, `Ramp`, `Trace` or `AtOnce`; `str` gives the words."""

    __slots__ = ()

    @abstractmethod
    def __str__(self) -> str: ...


class AbstractLoad(ABC):
    """A load from which requests can be drawn."""

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
@dataclass(frozen=True, slots=True)
class Closed(AbstractLoad, Load):
    """A fixed number of clients; each sends its next request when its last one has ended.

    All clients send their first request at once, as ``vllm bench serve --max-concurrency`` does.

    Parameters
    ----------
    clients
        Clients that send requests, all of them together.

    Examples
    --------
    >>> from volvelle import Closed
    >>> Closed(64)
    Closed(clients=64)
    >>> str(Closed(64))
    'closed 64'
    """

    clients: int = number(SOME_CLIENTS)

    def __post_init__(self) -> None:
        check_fields(self, "load")

    def __str__(self) -> str:
        return f"closed {self.clients}"

    def requests(self, shape: AbstractShape | None, *, count: int, seed: int = 0) -> Requests:
        """So many requests, of all clients together."""
        REQUESTS.check(count, "load: requests")
        return _shaped(shape, count, seed, np.zeros(count), self.clients)


@final
@dataclass(frozen=True, slots=True)
class AtOnce(AbstractLoad, Load):
    """All requests are there at the start: an infinite rate, the usual offline benchmark.

    Examples
    --------
    >>> from volvelle import AtOnce
    >>> str(AtOnce())
    'at once'
    """

    def __str__(self) -> str:
        return "at once"

    def requests(self, shape: AbstractShape | None, *, count: int, seed: int = 0) -> Requests:
        """So many requests."""
        REQUESTS.check(count, "load: requests")
        return _shaped(shape, count, seed, np.zeros(count), 0)


@dataclass(frozen=True, slots=True)
class AbstractSteadyRate(AbstractLoad):
    """Requests at one rate, with gaps drawn from a Gamma distribution.

    As ``vllm bench serve --request-rate --burstiness``, which stretches what it draws until the last request comes
    after exactly requests / rate seconds.
    """

    rate: float = number(REQUEST_RATE)
    """Requests a second."""

    def __post_init__(self) -> None:
        check_fields(self, "load")

    @property
    @abstractmethod
    def burstiness(self) -> float:
        """The shape of the distribution: below 1 requests come in bursts, above they come evenly."""

    def requests(self, shape: AbstractShape | None, *, count: int, seed: int = 0) -> Requests:
        """So many requests."""
        REQUESTS.check(count, "load: requests")
        generator = np.random.default_rng((seed, 0))
        gaps = generator.gamma(self.burstiness, 1.0 / (self.rate * self.burstiness), count)
        arrival = np.cumsum(gaps)
        if arrival[-1] > 0:
            arrival *= count / self.rate / arrival[-1]
        return _shaped(shape, count, seed, arrival, 0, stationary=True)


@final
@dataclass(frozen=True, slots=True)
class Poisson(AbstractSteadyRate, Load):
    """Random requests at one rate: a Poisson process, as users who do not know of each other send them.

    Parameters
    ----------
    rate
        Requests per second, to all replicas together.

    Examples
    --------
    >>> from volvelle import Poisson
    >>> Poisson(12)
    Poisson(rate=12)
    >>> str(Poisson(12))
    'poisson 12/s'
    """

    def __str__(self) -> str:
        return f"poisson {plain_number(self.rate)}/s"

    @property
    def burstiness(self) -> float:
        """Always 1."""
        return 1.0


@final
@dataclass(frozen=True, slots=True)
class Gamma(AbstractSteadyRate, Load):
    """Random requests at one rate, in bursts or evenly: gaps between requests follow a Gamma distribution.

    Parameters
    ----------
    rate
        Requests per second, to all replicas together.
    burstiness
        Shape of the distribution. Below 1 requests come in bursts, at 1 they are `Poisson`, above 1 they come evenly.

    Examples
    --------
    >>> from volvelle import Gamma
    >>> str(Gamma(12, 0.5))
    'gamma 12/s 0.5'
    """

    burstiness: float = number(BURSTINESS)

    def __str__(self) -> str:
        return f"gamma {plain_number(self.rate)}/s {plain_number(self.burstiness)}"


@final
@dataclass(frozen=True, slots=True)
class Ramp(AbstractLoad, Load):
    """Random requests at a rate that rises, or falls, evenly from the first request to the last.

    Parameters
    ----------
    start_rate
        Requests per second at the first request.
    end_rate
        Requests per second at the last request.

    Examples
    --------
    >>> from volvelle import Ramp
    >>> str(Ramp(1, 20))
    'ramp 1/s 20/s'
    """

    start_rate: float = number(REQUEST_RATE)
    end_rate: float = number(REQUEST_RATE)

    def __post_init__(self) -> None:
        check_fields(self, "load")

    def __str__(self) -> str:
        return f"ramp {plain_number(self.start_rate)}/s {plain_number(self.end_rate)}/s"

    def requests(self, shape: AbstractShape | None, *, count: int, seed: int = 0) -> Requests:
        """So many requests."""
        REQUESTS.check(count, "load: requests")
        rate = self.start_rate + (self.end_rate - self.start_rate) * np.arange(count) / max(1, count)
        gaps = np.random.default_rng((seed, 0)).gamma(1.0, 1.0 / rate, count)
        return _shaped(shape, count, seed, np.cumsum(gaps), 0)


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recorded(AbstractLoad):
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
