"""Requests as flat arrays: when each comes, what goes in, what comes out, and which beginnings prompts share."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import NumberDomain, check_fields, number
from volvelle.errors import DescriptionError

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
REQUEST_TOKENS = NumberDomain(1, 10**9, whole=True)
"""Of a prompt or an answer."""
HASHED_TOKENS = NumberDomain(1, 2**20, whole=True)
CLIENTS = NumberDomain(0, 10**7, whole=True)
ARRIVAL = NumberDomain(0.0, 1e12)
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Requests:
    """Requests in the order in which they come."""

    arrival: Real
    """Seconds since the load began."""
    input_tokens: Whole
    output_tokens: Whole
    decode_steps: Whole = field(default_factory=lambda: _NONE)
    """Steps that each answer takes after its first token, where a step yields several; none: one a token."""
    clients: int = number(CLIENTS, 0)
    """That send them, each one at a time: a request waits until one is free; 0: as many as it takes."""
    hash_ids: Whole = field(default_factory=lambda: _NONE)
    """Blocks that prompts begin with, one prompt after the other; equal numbers are equal beginnings."""
    hash_starts: Whole = field(default_factory=lambda: _NONE)
    """Where the blocks of each prompt start among them, and where the last end."""
    hash_tokens: int = number(HASHED_TOKENS, 512)
    """Of one such block."""
    stationary: bool = False
    """Whether requests come at one rate throughout, so that a queue that grows would grow for ever."""

    def __post_init__(self) -> None:
        check_fields(self, "requests")
        count = self.arrival.size
        if count == 0:
            raise DescriptionError("there are no requests; give at least one")
        for name, domain in (("arrival", ARRIVAL), ("input_tokens", REQUEST_TOKENS), ("output_tokens", REQUEST_TOKENS)):
            column = getattr(self, name)
            if column.shape != (count,):
                raise DescriptionError(f"requests: {name} has {column.size:,} entries for {count:,} arrivals")
            domain.check(column, f"requests: {name}")
        if self.decode_steps.size and not (
            self.decode_steps.shape == (count,) and np.all(self.decode_steps >= (self.output_tokens > 1))
        ):
            raise DescriptionError(
                f"requests: decode_steps has {self.decode_steps.size:,} entries for {count:,} arrivals, or an answer "
                "of several tokens takes no step after its first"
            )
        if np.any(np.diff(self.arrival) < 0):
            raise DescriptionError("requests: arrivals are not in the order of time; sort the requests")
        if not self.hash_starts.size:
            object.__setattr__(self, "hash_starts", np.zeros(count + 1, np.int64))
        starts = self.hash_starts
        if (
            starts.size != count + 1
            or starts[0] != 0
            or starts[-1] != self.hash_ids.size
            or np.any(np.diff(starts) < 0)
        ):
            raise DescriptionError(
                f"requests: hash_starts must rise from 0 to {self.hash_ids.size:,} and have {count + 1:,} entries"
            )

    def __len__(self) -> int:
        return int(self.arrival.size)

    @property
    def offered_rate(self) -> float:
        """Requests a second that come by themselves; infinite where they come at once or as others end."""
        last = float(self.arrival[-1])
        return len(self) / last if last > 0 and self.clients == 0 else float("inf")

    def faster(self, factor: float) -> Self:
        """The same requests, so many times as many a second."""
        if not 1e-6 <= factor <= 1e6:
            raise DescriptionError(f"a rate cannot be multiplied by {factor}; choose a factor from 1e-6 to 1e6")
        return self._with(arrival=self.arrival / factor)

    def first(self, count: int) -> Self:
        """The first so many of them."""
        until = self.hash_starts[: count + 1]
        return self._with(
            arrival=self.arrival[:count],
            input_tokens=self.input_tokens[:count],
            output_tokens=self.output_tokens[:count],
            decode_steps=self.decode_steps[:count],
            hash_starts=until,
            hash_ids=self.hash_ids[: until[-1]],
        )

    def _with(self, **changed: NDArray[np.float64] | NDArray[np.int64]) -> Self:
        names = ("arrival", "input_tokens", "output_tokens", "decode_steps", "clients", "stationary")
        hashes = ("hash_ids", "hash_starts", "hash_tokens")
        return type(self)(**{name: changed.get(name, getattr(self, name)) for name in names + hashes})
