"""How the cores of a chip are shared out among kernels that run side by side, exactly."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.dataflow.on_chip import ChipKernel, OnChip
from volvelle.laws.onchip_dataflow import matrix_kernel_cycles, vector_kernel_cycles
from volvelle.workload.operations.base import Unit

_GRID = 2048
"""Most columns of the table of shares; beyond, the table is a grid and the last step is done by bisection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreOptions:
    """What a kernel can do with cores: none of these takes both more cores and more cycles than another."""

    cores: tuple[int, ...]
    """Falling."""
    cycles: tuple[float, ...]
    """Rising."""

    def needed(self, cycles: float) -> float:
        """Fewest cores with which a tile takes no more than so many cycles."""
        place = bisect_right(self.cycles, cycles) - 1
        return self.cores[place] if place >= 0 else inf

    def reached(self, cores: int) -> float:
        """Fewest cycles of a tile on no more than so many cores."""
        return min((cycles for mine, cycles in zip(self.cores, self.cycles, strict=True) if mine <= cores), default=inf)

    @property
    def area(self) -> float:
        """Least product of cores and cycles: what the kernel takes of the chip at the very least."""
        return min(cores * cycles for cores, cycles in zip(self.cores, self.cycles, strict=True))


def _distinct(size: int, unit: int, most: int) -> NDArray[np.float64]:
    """Counts of cores that differ in ⌈size / (count · unit)⌉: the least count for each value."""
    steps = -(-size // unit)
    counts = np.arange(1, min(steps, most) + 1, dtype=np.float64)
    if len(counts) > 1:
        passes = np.ceil(size / (counts * unit))
        counts = counts[np.concatenate(([True], passes[1:] < passes[:-1]))]
    return counts


def core_options(kernel: ChipKernel, chip: OnChip) -> CoreOptions:
    """The Pareto list of (cores, cycles) of a kernel on a chip."""
    lanes = _distinct(kernel.rows, chip.width, chip.cores)
    if kernel.unit is Unit.MATRIX:
        stages = _distinct(kernel.columns, chip.height, chip.cores)
        cores = lanes[:, None] * stages[None, :]
        cycles = matrix_kernel_cycles(
            float(kernel.rows),
            float(kernel.depth),
            float(kernel.columns),
            lanes=lanes[:, None],
            stages=stages[None, :],
            width=float(chip.width),
            height=float(chip.height),
        )
    else:
        cores = lanes
        cycles = vector_kernel_cycles(float(kernel.rows), float(kernel.columns), lanes=lanes, width=float(chip.width))
    flat, taken = np.asarray(cycles).ravel(), cores.ravel()
    kept = taken <= chip.cores
    flat, taken = flat[kept], taken[kept]
    order = np.lexsort((taken, flat))
    flat, taken = flat[order], taken[order]
    fewer = np.concatenate(([True], taken[1:] < np.minimum.accumulate(taken)[:-1]))
    return CoreOptions(
        cores=tuple(int(count) for count in taken[fewer]), cycles=tuple(float(count) for count in flat[fewer])
    )


class CoreShares:
    """Shares cores out among any set of a problem's kernels so that the slowest is as fast as can be.

    The answer for a set is the least number of cycles τ at which the fewest cores each kernel needs fit the chip
    together; it is one of the listed cycle counts. `rows[k]` holds minus the cores kernel k needs at each listed count
    (or at every so many-th), so the rows of a set add up, and the sum rises: the answer is found by one binary search.
    """

    def __init__(self, kernels: Sequence[ChipKernel], chip: OnChip) -> None:
        shapes: dict[tuple[Unit, int, int, int], CoreOptions] = {}
        self.options: list[CoreOptions] = []
        for kernel in kernels:
            shape = (kernel.unit, kernel.rows, kernel.depth, kernel.columns)
            if shape not in shapes:
                shapes[shape] = core_options(kernel, chip)
            self.options.append(shapes[shape])
        self.cores = chip.cores
        self.cycles = np.unique(np.concatenate([np.asarray(one.cycles) for one in shapes.values()]))
        self.stride = -(-len(self.cycles) // _GRID)
        self.grid = np.append(self.cycles[:: self.stride], self.cycles[-1:])
        made = {id(one): self._row(one) for one in shapes.values()}
        self.rows = [made[id(one)] for one in self.options]
        self.empty = np.zeros(len(self.grid), dtype=np.int64)
        self.areas = [one.area for one in self.options]

    def _row(self, one: CoreOptions) -> NDArray[np.int64]:
        place = np.searchsorted(np.asarray(one.cycles), self.grid, side="right") - 1
        return -np.where(place >= 0, np.asarray(one.cores)[np.maximum(place, 0)], self.cores + 1)

    def least(self, members: Sequence[int]) -> float:
        """Fewest cycles of the slowest kernel of a set; infinite if there are more kernels than cores."""
        row = self.empty
        for member in members:
            row = row + self.rows[member]
        return self.least_of(row, members)

    def least_of(self, row: NDArray[np.int64], members: Sequence[int]) -> float:
        """The same for a set whose rows have been added up already."""
        place = int(row.searchsorted(-self.cores))
        if place == len(self.grid):
            return inf
        if self.stride == 1 or place == 0:
            return float(self.grid[place])
        low, high = (place - 1) * self.stride + 1, min(place * self.stride, len(self.cycles) - 1)
        while low < high:
            middle = (low + high) // 2
            if sum(self.options[member].needed(self.cycles[middle]) for member in members) <= self.cores:
                high = middle
            else:
                low = middle + 1
        return float(self.cycles[low])

    def shares(self, members: Sequence[int], cycles: float) -> tuple[int, ...]:
        """Fewest cores of each kernel of a set to keep up with that many cycles."""
        return tuple(int(self.options[member].needed(cycles)) for member in members)
