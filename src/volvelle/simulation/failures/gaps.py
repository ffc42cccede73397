"""Times between failures."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
Indices = NDArray[np.intp]
Draw = Callable[[Indices], Column]
"""The next gap of some of the runs, by their places."""


class AbstractGaps(ABC):
    """Ways in which failures follow each other."""

    @abstractmethod
    def begin(self, generator: np.random.Generator, runs: int) -> Draw:
        """For so many runs at once."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialGaps(AbstractGaps):
    """Failures that know nothing of each other."""

    mean: float | Column
    """Seconds; a column has that of each run."""

    def begin(self, generator: np.random.Generator, runs: int) -> Draw:
        """The same mean at any time."""
        means = np.broadcast_to(np.asarray(self.mean, dtype=float), (runs,))
        return lambda places: generator.standard_exponential(len(places)) * means[places]
