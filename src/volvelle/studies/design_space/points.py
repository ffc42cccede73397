"""Points of a slice, as columns, and why some cannot run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.training.checks import CHECKS
from volvelle.mapping.parallelism import CHOICES

CHECKED = (*(check.name for check in CHECKS), "memory")
"""Why a layout cannot run."""
REASONS = ("", *CHECKED, "layout", "chip", "search")
"""Why a point cannot run; the first is that it can.

``layout``: no layout of the space divides its batch and chips. Of a graph that is mapped, ``chip``: what a chip must
hold at once does not fit its SRAM or cores; ``search``: nothing was found in the time that the search may take.
"""


CHOSEN = tuple(choice.name for choice in CHOICES if choice.recorded)
"""Columns of the best layout that are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Points of a slice as columns of equal length."""

    numbers: NDArray[np.int64]
    """Which combination each row is."""
    positions: Mapping[str, NDArray[np.int64]]
    """Axis → position."""
    columns: Mapping[str, NDArray[np.float64]]
    """Measures, and the layout chosen where it is."""
    reason: NDArray[np.int8]
    """A number of `REASONS`."""
    layouts: frozenset[str] | set[str] = frozenset()
    """Columns that are part of the layout chosen: whole numbers."""

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Which points can run."""
        return np.equal(self.reason, 0)


class PointSource(Protocol):
    """Whatever evaluates points of a study."""

    evaluated: int
    """Layouts evaluated so far."""

    def rows(self, start: int, stop: int) -> Slice:
        """Rows from `start` to `stop` of the study."""

    def points(self, numbers: NDArray[np.int64]) -> Slice:
        """Some combinations by number."""
