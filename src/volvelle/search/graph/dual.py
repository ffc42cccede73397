"""The weights of work, memory, network and bytes held that give the best bound on every sharding.

For any weights the cheapest sharding is a bound, and the bound is concave in the weights: each sharding found is a
plane above it. Planes are gathered until the highest point below all of them is one that was tried (Kelley's cutting
planes; J. SIAM 8(4), 1960). That point is sought on a grid of shares, slot by slot, then on a finer one around it.
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

Table = NDArray[np.float64]

_SLIGHT = 1e-7
"""Share of what hardly counts: enough to tell apart what is equal in the rest."""
_STEPS = 24
_LITTLE = (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
_ROUNDS = 24
_SLOW = 4
"""Rounds in a row that bring next to nothing, after which no more are tried."""
_SWEEPS = 3
_FINER = (4, 16)
"""How much finer the grid is drawn around the best."""
_HINTS = 3
_RENTS = (0.0, *np.geomspace(1e-3, 1e2, 26).tolist())
"""Rents tried, in bounds for as many bytes as there is room for."""


@lru_cache(maxsize=8)
def _grid(overlap: Overlap) -> Table:
    """Shares of work, memory and network."""
    if overlap is Overlap.NONE:
        return np.ones((1, 3))
    if overlap is Overlap.MEMORY:
        work = np.clip(np.linspace(0.0, 1.0, _STEPS + 1), _SLIGHT, 1.0 - _SLIGHT)
        return np.stack([work, 1.0 - work, np.ones_like(work)], axis=1)
    points: list[tuple[float, ...]] = [
        (work / _STEPS, memory / _STEPS, (_STEPS - work - memory) / _STEPS)
        for work in range(_STEPS + 1)
        for memory in range(_STEPS + 1 - work)
    ]
    # Near the corners, where nearly all is one thing, little of another tells much.
    points += [
        shares
        for little in _LITTLE
        for less in (0.0, little / 2)
        for shares in permutations((1.0 - little - less, little, less))
    ]
    return _normal(np.array(points))


def _normal(points: Table) -> Table:
    shares = np.maximum(points, _SLIGHT)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


@lru_cache(maxsize=8)
def _offsets(overlap: Overlap) -> Table:
    """A grid of shares to be added that reaches one to every side; the first adds nothing."""
    ways = np.linspace(-1.0, 1.0, 7)
    if overlap is Overlap.NONE:
        return np.zeros((1, 3))
    if overlap is Overlap.MEMORY:
        points = [(0.0, 0.0, 0.0), *((way, -way, 0.0) for way in ways)]
    else:
        points = [(0.0, 0.0, 0.0), *((work, memory, -work - memory) for work in ways for memory in ways)]
    return np.array(points)


def _around(shares: Table, overlap: Overlap, step: float) -> Table:
    """A grid around some shares that reaches one step to every side."""
    points = shares + step * _offsets(overlap)
    if overlap is Overlap.ALL:
        return _normal(points)
    points[:, :2] = np.clip(points[:, :2], _SLIGHT, 1.0 - _SLIGHT) if overlap is Overlap.MEMORY else 1.0
    return points


@dataclass(frozen=True, slots=True, kw_only=True)
class LagrangianBound:
    """The best bound on what any sharding takes for which there is room."""

    bound: float
    weights: Weights
    hints: tuple[tuple[int, ...], ...] = ()
    """Options of shardings that looked good on the way."""
    active: tuple[tuple[int, ...], ...] = ()
    """Options of shardings that hold the bound down: one, where it is what that sharding takes."""


def lagrangian_bound(
    timed: TimedSplits, overlap: Overlap, *, deadline: float = inf, start: Weights | None = None
) -> LagrangianBound:
    """The best bound, and the weights that give it, sought from those of a like question if they are given."""
    planes = _Planes(timed, overlap, deadline)
    planes.climb(start)
    hints = sorted(planes.seen, key=planes.seen.__getitem__)[:_HINTS]
    return LagrangianBound(
        bound=planes.bound, weights=planes.weights, hints=tuple(hints), active=tuple(planes.active())
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
        self.alone: list[float] = []
        """Of every plane the seconds of what is alone,"""
        self.parts: list[Table] = []
        """the work, memory and network of each slot,"""
        self.over: list[float] = []
        """the bytes held too much,"""
        self.chosen: list[tuple[int, ...]] = []
        """and the options."""
        self.seen: dict[tuple[int, ...], float] = {}

    def climb(self, start: Weights | None) -> None:
        """Try the most promising weights until none promises more."""
        grid = _grid(self.overlap)
        middle = grid[np.abs(grid - grid.mean(axis=0)).sum(axis=1).argmin()]
        shares = np.repeat(middle[None], self.timed.slots, axis=0) if start is None else self._spread(start)
        if not self._try(shares, 0.0 if start is None else start.rent):
            return
        slow = 0
        for _ in range(_ROUNDS):
            height, shares, rent = self._highest()
            before = self.bound
            if height <= before * (1.0 + 1e-5) or perf_counter() > self.deadline or not self._try(shares, rent):
                return
            slow = slow + 1 if self.bound <= before * (1.0 + 1e-4) else 0
            if slow > _SLOW:
                return

    def _spread(self, start: Weights) -> Table:
        """Shares of other slots, those of a pass for all slots of it."""
        shares, slots = np.array(start.shares), self.timed.slots
        if len(shares) == slots:
            return shares
        return shares[[0 if slot < self.timed.backward else -1 for slot in range(slots)]]

    def _try(self, shares: Table, rent: float) -> bool:
        """The cheapest sharding for these weights; whether there is one."""
        timed = self.timed
        weights = Weights(shares=tuple((float(one[0]), float(one[1]), float(one[2])) for one in shares), rent=rent)
        search = timed.eliminated(weights, strict=False)
        if search.bound > self.bound:
            self.bound, self.weights = search.bound, weights
        if search.bound == inf:
            return False
        chosen = next(search.assignments())[1]
        alone, parts = timed.parts(chosen, weights)
        over = timed.holds(chosen) - self.room if self.limited else 0.0
        self.alone.append(alone)
        self.parts.append(parts)
        self.over.append(over)
        self.chosen.append(chosen)
        if over <= 0.0:
            self.seen[chosen] = timed.least(chosen, self.overlap)
        elif not self.unit:
            # What is cheapest does not fit: a rent may make the bound sharper.
            self.unit = max(search.bound, 1e-12) / self.room
        return True

    def _highest(self) -> tuple[float, Table, float]:
        """The highest point below all planes that sweeps over the slots lead to.

        They start from the best weights, and from half-way to those that the last plane asks for.
        """
        parts, over = np.array(self.parts), np.array(self.over)
        best = np.array(self.weights.shares)
        last = _grid(self.overlap)[(parts[-1] @ _grid(self.overlap).T).argmax(axis=1)]
        found = [self._swept(start, parts, over) for start in (best, (best + last) / 2)]
        return max(found, key=lambda point: point[0])

    def _swept(self, shares: Table, parts: Table, over: Table) -> tuple[float, Table, float]:
        shares, rent = shares.copy(), self.weights.rent
        values = np.array(self.alone) + np.einsum("ksc,sc->k", parts, shares) + rent * over
        reached = values.min()
        for finer in (0, *_FINER):
            for _ in range(_SWEEPS):
                before = reached
                if self.unit:
                    rents = self._rents(rent, finer=finer)
                    heights = (values - rent * over)[:, None] + over[:, None] * rents
                    at = int(heights.min(axis=0).argmax())
                    values, rent = heights[:, at], float(rents[at])
                for slot in range(len(shares)):
                    own = parts[:, slot]
                    grid = _around(shares[slot], self.overlap, 4.0 / _STEPS / finer) if finer else _grid(self.overlap)
                    heights = (values - own @ shares[slot])[:, None] + own @ grid.T
                    at = int(heights.min(axis=0).argmax())
                    if heights[:, at].min() > reached:
                        values, shares[slot] = heights[:, at], grid[at]
                        reached = values.min()
                reached = values.min()
                if reached <= before * (1.0 + 1e-7):
                    break
        return float(reached), shares, rent

    def _rents(self, rent: float, *, finer: int) -> Table:
        if finer and rent:
            return np.array([rent, *(rent * np.geomspace(0.5, 2.0, 13))])
        return np.array([rent, *(np.array(_RENTS) * self.unit)])

    def active(self) -> list[tuple[int, ...]]:
        """Options of the lowest planes at the best weights, as far as they differ in what they take."""
        if not self.parts:
            return []
        parts, shares = np.array(self.parts), np.array(self.weights.shares)
        heights = np.array(self.alone) + np.einsum("ksc,sc->k", parts, shares)
        heights += self.weights.rent * np.array(self.over)
        found: list[int] = []
        for place in heights.argsort().tolist():
            if all(np.abs(parts[place] - parts[other]).max() > 1e-4 * self.bound for other in found):
                found.append(place)
        return [self.chosen[place] for place in found]
