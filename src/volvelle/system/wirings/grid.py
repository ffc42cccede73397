"""Rings along one or several axes: links to the next and to the previous unit of each."""

from collections.abc import Iterator
from math import prod

import numpy as np

from volvelle.system.routing import Numbers, Rule
from volvelle.system.wirings.wiring import NONE, Routes, Shares, Wiring, spread


class Grid(Wiring):
    """A torus; the first axis is that of neighbouring numbers. A side of two has one link each way, of double rate.

    A route follows one axis after the other, the shorter way around. By d-mod-k the first axis is first, and of two
    equal ways around the place of the destination says which; by chance any axis may be first; an adaptive network
    spreads over all axes as the first, and over both equal ways around.
    """

    def __init__(self, shape: tuple[int, ...], rule: Rule) -> None:
        super().__init__(prod(shape))
        self.shape, self.rule = shape, rule
        self._strides = tuple(prod(shape[:axis]) for axis in range(len(shape)))

    @property
    def between(self) -> Shares:
        """Axis by axis, up and then down, by the unit where they begin."""
        parts = []
        for side in self.shape:
            each = 0.5 / len(self.shape)
            parts += [np.full(self.units, 2.0 * each if side == 2 else each), np.full(self.units, each)]
        return np.concatenate(parts)

    def between_name(self, link: int) -> str:
        """Axis, direction and the unit where it begins."""
        kind, unit = divmod(link, self.units)
        return f"axis {kind // 2} {'down' if kind % 2 else 'up'} from {unit}"

    def ways(self, sources: Numbers, targets: Numbers, picks: Numbers) -> Routes:
        """Around each axis in turn."""
        axes = range(len(self.shape))
        orders = [tuple((first + axis) % len(self.shape) for axis in axes) for first in axes]
        if self.rule is Rule.ADAPTIVE:
            turns = (0, -1) if any(side > 2 and side % 2 == 0 for side in self.shape) else (0,)
            bits = [np.full(len(sources), turn) for turn in turns]
            return spread([self._along(order, sources, targets, turn) for order in orders for turn in bits])
        if self.rule is Rule.DESTINATION:
            down = sum((self._place(targets, axis) % 2 << axis for axis in axes), start=np.zeros_like(targets))
            return Routes(self._along(orders[0], sources, targets, down))
        taken = picks % len(orders)
        links = np.full((len(sources), sum(side // 2 for side in self.shape)), NONE)
        for place, order in enumerate(orders):
            rows = np.flatnonzero(taken == place)
            links[rows] = self._along(order, sources[rows], targets[rows], picks[rows] // len(orders))
        return Routes(links)

    def _place(self, units: Numbers, axis: int) -> Numbers:
        return units // self._strides[axis] % self.shape[axis]

    def _along(self, order: tuple[int, ...], sources: Numbers, targets: Numbers, down: Numbers) -> Numbers:
        """One axis after another, in some order; bits of `down` say where to go down if both ways are as long."""
        found = list(self._steps(order, sources, targets, down))
        return np.stack(found, axis=1) if found else np.zeros((len(sources), 0), dtype=np.int64)

    def _steps(self, order: tuple[int, ...], sources: Numbers, targets: Numbers, down: Numbers) -> Iterator[Numbers]:
        here = sources.copy()
        for axis in order:
            side, stride = self.shape[axis], self._strides[axis]
            own, wanted = self._place(here, axis), self._place(targets, axis)
            ahead = (wanted - own) % side
            back = (2 * ahead > side) | ((2 * ahead == side) & (down >> axis & 1 == 1) & (side > 2))
            hops = np.where(back, side - ahead, ahead)
            for hop in range(side // 2):
                at = here + ((own + np.where(back, -hop, hop)) % side - own) * stride
                yield np.where(hop < hops, (2 * axis + back) * self.units + at, NONE)
            here = here + (wanted - own) * stride
