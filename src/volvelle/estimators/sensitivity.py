"""First and total Sobol indices of any answer in named inputs, by two sets of samples and one more for every input."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.estimators.sampler import Column, Sampler
from volvelle.laws.sensitivity import sobol_index

_AGAIN = " (again)"


@final
@dataclass(frozen=True, slots=True)
class Swapped:
    """Samples of one set, but for some inputs, which are those of another."""

    sampler: Sampler
    others: frozenset[str] = frozenset()
    all_others: bool = False

    @property
    def samples(self) -> int:
        """How many."""
        return self.sampler.samples

    def column(self, name: str) -> Column:
        """Quantiles of an input."""
        return self.sampler.column(name + _AGAIN if self.all_others or name in self.others else name)


@dataclass(frozen=True, slots=True, kw_only=True)
class SobolIndex:
    """What an input brings of the variance of an answer."""

    alone: float
    """First order."""
    total: float
    """With all other inputs together."""


def sobol_indices(
    answer: Callable[[Sampler], Column], inputs: Sequence[str], sampler: Sampler
) -> tuple[Mapping[str, SobolIndex], float]:
    """Indices of an answer in each input, and its variance.

    `answer` draws its inputs by name from the sampler it is given; it is asked once more than there are inputs, and
    once again.
    """
    for name in inputs:  # the best dimensions of a Sobol sequence to one set, the next to the other
        sampler.column(name)
    first, second = answer(Swapped(sampler)), answer(Swapped(sampler, all_others=True))
    found = {}
    for name in inputs:
        alone, total = sobol_index(first, second, answer(Swapped(sampler, frozenset({name}))))
        found[name] = SobolIndex(alone=alone, total=total)
    return found, float(np.var(np.concatenate([first, second])))
