"""Samples of named inputs: a column each that only its name and the seed decide.

Whoever asks for an input by the same name gets the same column (common random numbers): two designs on one chip are
compared on the same chips, an input more leaves the others as they were, and their order does not matter.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from volvelle.domains import SEED, check_fields, number
from volvelle.errors import DescriptionError

Column = NDArray[np.float64]


class Sampler(Protocol):
    """Quantiles of any input by its name."""

    @property
    def samples(self) -> int:
        """How many of each."""

    def column(self, name: str) -> Column:
        """Quantiles (0 … 1) of an input, evenly spread over its likely and its unlikely values."""


def generator_of(name: str, seed: int) -> np.random.Generator:
    """Random numbers of an input's own."""
    words = np.frombuffer(blake2b(name.encode(), digest_size=16).digest(), dtype="<u4")
    return np.random.default_rng([seed, *(int(word) for word in words)])


@final
@dataclass(frozen=True, slots=True)
class Stratified:
    """One quantile from each of equally likely slices, in an order of each input's own (Latin hypercube)."""

    samples: int
    seed: int = number(SEED, 0)

    def __post_init__(self) -> None:
        check_fields(self, "sampling")
        if self.samples < 2:
            raise DescriptionError(f"sampling needs at least 2 samples, not {self.samples}")

    def column(self, name: str) -> Column:
        """Quantiles of an input."""
        return (_kept if self.samples <= _SHORT else _stratified)(name, self.samples, self.seed)


def _stratified(name: str, samples: int, seed: int) -> Column:
    generator = generator_of(name, seed)
    found = np.asarray((generator.permutation(samples) + generator.random(samples)) / samples)
    found.flags.writeable = False
    return found


_SHORT = 512
"""Columns up to here are kept: thousands of questions in a row ask for the same few hundred, 4 MB at most."""
_kept = lru_cache(maxsize=1024)(_stratified)
