"""Axes, and the numbering of points: point i has one position on every axis, the last axis turning fastest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError

Value = float | str | bool
Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One thing that varies: the values one field takes, or those several fields take together."""

    name: str
    columns: Mapping[str, tuple[Value, ...]]
    """Field → its value at every position."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def at(self, field: str, positions: Positions) -> NDArray[np.float64]:
        """Values of a numeric field at some positions."""
        return np.asarray(self.columns[field], dtype=np.float64)[positions]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Every combination of positions; or so many of them, drawn without repetition."""

    axes: tuple[Axis, ...]
    seed: int = 0
    samples: int | None = None

    def __post_init__(self) -> None:
        if self.combinations >= 2**62:
            raise DescriptionError(
                f"the axes make {self.combinations:.3g} points, more than can be numbered; take fewer or coarser axes"
            )

    @property
    def combinations(self) -> int:
        """How many combinations there are."""
        return prod(len(axis) for axis in self.axes)

    @property
    def drawn(self) -> bool:
        """Whether points are drawn rather than all taken."""
        return self.samples is not None and self.samples < self.combinations

    def __len__(self) -> int:
        return min(self.samples or self.combinations, self.combinations)

    def numbers(self, start: int, stop: int) -> NDArray[np.int64]:
        """Which combinations the rows from `start` to `stop` are."""
        rows = np.arange(start, stop, dtype=np.int64)
        return _shuffled(rows, self.combinations, self.seed) if self.drawn else rows

    def positions(self, numbers: NDArray[np.int64]) -> dict[str, Positions]:
        """The position of each on every axis."""
        found: dict[str, Positions] = {}
        for axis in reversed(self.axes):
            numbers, found[axis.name] = np.divmod(numbers, len(axis))
        return {axis.name: found[axis.name] for axis in self.axes}

    def number(self, positions: Sequence[int]) -> int:
        """The number of one combination."""
        number = 0
        for axis, position in zip(self.axes, positions, strict=True):
            number = number * len(axis) + position
        return number


_ROUNDS = 4


def _shuffled(rows: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64]:
    """A random one-to-one renumbering of 0 … count − 1, each row computed by itself.

    A Feistel network over the next power of four, walked until it lands inside (Black and Rogaway 2002): no table of
    the whole space is ever made, and any worker computes any slice.
    """
    half = max(1, ((count - 1).bit_length() + 1) // 2)
    mask = np.uint64((1 << half) - 1)
    keys = np.random.default_rng(seed).integers(1, 2**63, size=_ROUNDS, dtype=np.uint64)
    found = rows.astype(np.uint64)
    outside = np.ones(len(found), dtype=bool)
    while outside.any():
        left, right = found[outside] >> np.uint64(half), found[outside] & mask
        for key in keys:
            mixed = (right + key) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
            mixed *= np.uint64(0xBF58476D1CE4E5B9)
            mixed ^= mixed >> np.uint64(32)
            left, right = right, left ^ (mixed & mask)
        found[outside] = (left << np.uint64(half)) | right
        outside = found >= np.uint64(count)
    return found.astype(np.int64)
