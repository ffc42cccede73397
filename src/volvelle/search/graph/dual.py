"""The weights of work, memory, network and bytes held that give the best bound on every sharding.

For any weights the cheapest sharding is a bound, and the bound is concave in the weights: each sharding found is a
plane above it. Planes are gathered until the highest point below all of them (on a grid) is one that was tried
(Kelley's cutting planes; J. SIAM 8(4), 1960); then the grid is drawn finer around the best.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import inf
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.dataflow.on_chip import Overlap
from volvelle.search.graph.sharding_times import Weights
from volvelle.search.graph.timed_splits import TimedSplits

__all__ = ["LagrangianBound", "lagrangian_bound"]

Table = NDArray[np.float64]

_SLIGHT = 1e-7
"""Share of what hardly counts: enough to tell apart what is equal in the rest."""
_STEPS = {False: 40, True: 16}
"""Steps of a share from nothing to all: where passes are bounded together, and each by itself."""
_LITTLE = (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
_ROUNDS = 24
_FINER = (4, 16)
"""How much finer the grid is drawn around the best."""
_HINTS = 3
_RENTS = (0.0, *np.geomspace(1e-3, 1e2, 26).tolist())
"""Rents tried, in bounds for as many bytes as there is room for."""


@lru_cache(maxsize=8)
def _grid(overlap: Overlap, steps: int) -> Table:
    """Shares of work, memory and network."""
    if overlap is Overlap.NONE:
        return np.ones((1, 3))
    if overlap is Overlap.MEMORY:
        work = np.clip(np.linspace(0.0, 1.0, steps + 1), _SLIGHT, 1.0 - _SLIGHT)
        return np.stack([work, 1.0 - work, np.ones_like(work)], axis=1)
    points: list[tuple[float, ...]] = [
        (work / steps, memory / steps, (steps - work - memory) / steps)
        for work in range(steps + 1)
        for memory in range(steps + 1 - work)
    ]
    # Near the corners, where nearly all is one thing, little of another tells much.
    points += [
        shares
        for little in _LITTLE
        for less in (0.0, little / 2)
        for shares in permutations((1.0 - little - less, little, less))
    ]
    return _shares(np.array(points))


def _shares(points: Table) -> Table:
    shares = np.maximum(points, _SLIGHT)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _around(shares: Table, overlap: Overlap, step: float) -> Table:
    """A grid around some shares that reaches one step to every side."""
    if overlap is Overlap.NONE:
        return np.ones((1, 3))
    offsets = np.linspace(-step, step, 9)
    if overlap is Overlap.MEMORY:
        work = np.clip(shares[0] + offsets, _SLIGHT, 1.0 - _SLIGHT)
        return np.stack([work, 1.0 - work, np.ones_like(work)], axis=1)
    work, memory = (axis.ravel() for axis in np.meshgrid(shares[0] + offsets, shares[1] + offsets))
    kept = (work >= 0.0) & (memory >= 0.0) & (work + memory <= 1.0)
    points = np.stack([work[kept], memory[kept], 1.0 - work[kept] - memory[kept]], axis=1)
    return np.concatenate([shares[None], _shares(points)]) if len(points) else shares[None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LagrangianBound:
    """The best bound on what any sharding takes for which there is room."""

    bound: float
    weights: Weights
    hints: tuple[tuple[int, ...], ...] = ()
    """Options of shardings that looked good on the way."""
    active: tuple[tuple[int, ...], ...] = ()
    """Options of shardings that hold the bound down: one, where it is what that sharding takes."""


def lagrangian_bound(timed: TimedSplits, overlap: Overlap, *, deadline: float = inf) -> LagrangianBound:
    """The best bound, and the weights that give it."""
    search = _Planes(timed, overlap, deadline)
    steps = _STEPS[timed.costs.sided]
    grid = _grid(overlap, steps)
    search.climb(grid, grid if timed.costs.sided else grid[:1])
    for finer in _FINER if timed.costs.sided and search.bound < inf else ():
        forward, backward = (np.array(shares) for shares in (search.weights.forward, search.weights.backward))
        step = 4.0 / steps / finer
        search.climb(_around(forward, overlap, step), _around(backward, overlap, step))
    hints = sorted(search.seen, key=search.seen.__getitem__)[:_HINTS]
    return LagrangianBound(
        bound=search.bound, weights=search.weights, hints=tuple(hints), active=tuple(search.active())
    )


class _Planes:
    """Shardings as planes over the weights, and the best bound found so far."""

    def __init__(self, timed: TimedSplits, overlap: Overlap, deadline: float) -> None:
        self.timed, self.overlap, self.deadline = timed, overlap, deadline
        self.room = timed.costs.room
        self.limited = timed.costs.held is not None and self.room < inf
        self.unit = 0.0
        """Rent of 1, in seconds a byte; nothing as long as what is cheapest fits."""
        self.bound, self.weights = -inf, Weights()
        self.planes: list[tuple[float, Table, float]] = []
        """Seconds of what is alone, of each pass's work, memory and network, and bytes held too much."""
        self.chosen: list[tuple[int, ...]] = []
        """The options of each."""
        self.seen: dict[tuple[int, ...], float] = {}

    def climb(self, forward: Table, backward: Table) -> None:
        """Try the most promising shares of both passes until none promises more."""
        rents = self._rents()
        heights = self._heights(forward, backward, rents)
        if self.planes:
            at = np.unravel_index(int(heights.argmax()), heights.shape)
        else:
            at = tuple(
                int(np.argmin(np.abs(shares - shares.mean(axis=0)).sum(axis=1))) for shares in (forward, backward)
            )
            at = (0, *at)
        for _ in range(_ROUNDS):
            if heights[at] <= self.bound * (1.0 + 1e-6) or (self.planes and perf_counter() > self.deadline):
                return
            weights = Weights(
                forward=(float(forward[at[1], 0]), float(forward[at[1], 1]), float(forward[at[1], 2])),
                backward=(float(backward[at[2], 0]), float(backward[at[2], 1]), float(backward[at[2], 2])),
                rent=float(rents[at[0]]),
            )
            had = self.unit
            if not self._try(weights):
                return
            if self.unit != had:
                rents = self._rents()
                heights = self._heights(forward, backward, rents)
            else:
                heights[at] = -inf
                np.minimum(heights, self._height(self.planes[-1], forward, backward, rents), out=heights)
            at = np.unravel_index(int(heights.argmax()), heights.shape)

    def _try(self, weights: Weights) -> bool:
        """The cheapest sharding for these weights; whether there is one."""
        timed = self.timed
        search = timed.eliminated(weights, strict=False)
        if search.bound > self.bound:
            self.bound, self.weights = search.bound, weights
        if search.bound == inf:
            return False
        chosen = next(search.assignments())[1]
        over = timed.holds(chosen) - self.room if self.limited else 0.0
        self.planes.append((*timed.parts(chosen), over))
        self.chosen.append(chosen)
        if over <= 0.0:
            self.seen[chosen] = timed.least(chosen, self.overlap)
        elif not self.unit:
            # What is cheapest does not fit: a rent may make the bound sharper.
            self.unit = max(search.bound, 1e-12) / self.room
        return True

    def active(self) -> list[tuple[int, ...]]:
        """Options of the lowest planes at the best weights, as far as they differ in what they take."""
        shares = np.array([self.weights.forward, self.weights.backward])
        heights = [
            alone + float((shares * parts).sum()) + self.weights.rent * over for alone, parts, over in self.planes
        ]
        found: list[int] = []
        for place in sorted(range(len(heights)), key=heights.__getitem__):
            parts = self.planes[place][1]
            if all(np.abs(parts - self.planes[other][1]).max() > 1e-4 * self.bound for other in found):
                found.append(place)
        return [self.chosen[place] for place in found]

    def _rents(self) -> Table:
        if not self.unit:
            return np.zeros(1)
        if self.weights.rent:
            return np.array([0.0, *(self.weights.rent * np.geomspace(0.25, 4.0, 13))])
        return np.array(_RENTS) * self.unit

    def _heights(self, forward: Table, backward: Table, rents: Table) -> Table:
        found = np.full((len(rents), len(forward), len(backward)), inf)
        for plane in self.planes:
            np.minimum(found, self._height(plane, forward, backward, rents), out=found)
        return found

    @staticmethod
    def _height(plane: tuple[float, Table, float], forward: Table, backward: Table, rents: Table) -> Table:
        alone, parts, over = plane
        first, second = forward @ parts[0], backward @ parts[1]
        return np.asarray((alone + rents * over)[:, None, None] + first[:, None] + second)
