"""Scrambled Sobol points by name: the one module of estimators that knows scipy, for its direction numbers.

Inputs have the dimensions of the sequence in the order in which they are first asked for, because the first are the
best. A dimension by name, as `Stratified` has columns by name, would be any of many, and far dimensions are tied: of
2048, two had a correlation of 0.37 over 1024 points. What a dimension is scrambled by is the name's own.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError, needs_extra
from volvelle.estimators.sampler import Column, generator_of

_BITS = 30
_DIGITS = 16
"""Of a place in the sequence: 65 536 points at most."""
_DIMENSIONS = 1024
Words = NDArray[np.uint32]


@cache
def _directions() -> Words:
    """Direction numbers of every dimension, highest digit first.

    Point 2^k of the sequence in Gray order is the sum of directions k and k − 1.
    """
    engine = _qmc().Sobol(_DIMENSIONS, scramble=False, bits=_BITS)
    found, last, reached = [], np.zeros(_DIMENSIONS, dtype=np.uint32), 0
    for digit in range(_DIGITS):
        engine.fast_forward(2**digit - reached)
        point = np.asarray(engine.random(1)[0] * 2.0**_BITS).astype(np.uint32)
        reached = 2**digit + 1
        last = point ^ last
        found.append(last)
    return np.array(found)


def _qmc() -> Any:
    with needs_extra("uncertainty", "Sobol points take their direction numbers from scipy"):
        from scipy.stats import qmc  # noqa: PLC0415 - it is large, and an extra
    return qmc


@final
@dataclass(frozen=True, slots=True)
class ScrambledSobol:
    """Points of Sobol's sequence, each dimension scrambled linearly and shifted by random numbers of its input."""

    samples: int
    """A power of two."""
    seed: int = 0
    order: tuple[str, ...] = ()
    """Inputs that come first, whoever asks."""
    _taken: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 2 <= self.samples <= 2**_DIGITS or self.samples & (self.samples - 1):
            raise DescriptionError(
                f"Sobol points come in powers of two from 2 to {2**_DIGITS}, like 4096, not {self.samples}"
            )
        for name in self.order:
            self._dimension(name)

    def column(self, name: str) -> Column:
        """Quantiles of an input."""
        directions = _directions()[:, self._dimension(name)]
        generator = generator_of(name, self.seed)
        digits = self.samples.bit_length() - 1
        scrambled = _scrambled(directions[:digits], generator)
        place = np.arange(self.samples, dtype=np.uint32)
        words = np.full(self.samples, generator.integers(2**_BITS), dtype=np.uint32)
        for digit in range(digits):
            words ^= np.where((place >> digit) & 1, scrambled[digit], np.uint32(0))
        # Within the last digit that is told apart, anywhere.
        return np.asarray((words + generator.random(self.samples)) / 2.0**_BITS)

    def _dimension(self, name: str) -> int:
        at = self._taken.setdefault(name, len(self._taken))
        if at >= _DIMENSIONS:
            raise DescriptionError(f"Sobol points are for {_DIMENSIONS} inputs at most; {name!r} is one more")
        return at


def _scrambled(directions: Words, generator: np.random.Generator) -> Words:
    """Directions times a random lower triangular matrix of digits (Matoušek 1998)."""
    found = np.zeros(len(directions), dtype=np.uint32)
    for row in range(_BITS):
        own = np.uint32(1 << (_BITS - 1 - row))
        # Digits before its own, each with a chance of one half; its own always.
        mask = own | (np.uint32(int(generator.integers(2**row)) << (_BITS - row)) if row else np.uint32(0))
        parity = np.bitwise_count(directions & mask) & 1
        found |= (parity.astype(np.uint32)) << np.uint32(_BITS - 1 - row)
    return found
