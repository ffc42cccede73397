"""The weights of work, memory, network and bytes held that give the best bound on every sharding.

For any weights the cheapest sharding is a bound, and the bound is concave in the weights: each sharding found is a
plane above it. Planes are gathered until the highest point below all of them is one that was tried (Kelley's cutting
planes; J. SIAM 8(4), 1960). That point is the solution of a linear program, whose dual says in what mixture shardings
hold the bound down.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.dataflow.on_chip import Overlap
from volvelle.search.graph.column_program import ColumnProgram
from volvelle.search.graph.sharding_times import Weights
from volvelle.search.graph.timed_splits import TimedSplits

Table = NDArray[np.float64]
Plane = tuple[int, ...]
"""The options of a sharding."""

_SLIGHT = 1e-7
"""Share of what hardly counts: enough to tell apart what is equal in the rest."""
_ROUNDS = 40
_CLOSE = 1e-6
"""How far below all planes the bound may stay, relatively."""
_STEP = 0.7
"""How far from the best weights to those below all planes the next are tried: all the way overshoots."""
_HINTS = 3
_DEAREST = 100.0
"""Highest rent, in bounds for as many bytes as there is room for."""
_MIXED = 1e-6
"""Share of a mixture that counts."""
_FREE = {Overlap.ALL: 3, Overlap.MEMORY: 2, Overlap.NONE: 0}
"""Of work, memory and network how many share what counts, the rest counting in full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LagrangianBound:
    """The best bound on what any sharding takes for which there is room."""

    bound: float
    weights: Weights
    hints: tuple[tuple[int, ...], ...] = ()
    """Options of shardings that looked good on the way."""
    active: tuple[tuple[int, ...], ...] = ()
    """Options of shardings that hold the bound down: one, where it is what that sharding takes."""


def lagrangian_bound(timed: TimedSplits, *, start: Weights | None, known: Sequence[Plane]) -> LagrangianBound:
    """The best bound, and the weights that give it.

    Sought from those of a like question if they are given, below the planes of shardings that are known.
    """
    planes = _Planes(timed)
    planes.climb(start, known)
    hints = sorted(planes.seen, key=planes.seen.__getitem__)[:_HINTS]
    return LagrangianBound(bound=planes.bound, weights=planes.weights, hints=tuple(hints), active=planes.active)


class _Planes:
    """Shardings as planes over the weights, and the best bound found so far."""

    def __init__(self, timed: TimedSplits) -> None:
        self.timed = timed
        self.free = _FREE[timed.costs.overlap]
        self.room = timed.costs.room
        self.limited = timed.costs.held is not None and self.room < inf
        self.bound, self.weights = -inf, Weights()
        self.chosen: list[Plane] = []
        self.active: tuple[Plane, ...] = ()
        self.seen: dict[Plane, float] = {}
        self.program: ColumnProgram | None = None

    def climb(self, start: Weights | None, known: Sequence[Plane]) -> None:
        """Try the most promising weights until none promises more."""
        first = np.full((self.timed.slots, self.free), 1.0 / max(self.free, 1))
        rent = 0.0
        if start is not None and len(start.shares) == self.timed.slots:
            first, rent = np.array(start.shares)[:, : self.free], start.rent
        if not self._try(first, rent):
            return
        for chosen in known:
            self._add(chosen, self.weights)
        for _ in range(_ROUNDS):
            height, shares, rent = self._highest()
            if height <= self.bound * (1.0 + _CLOSE) or perf_counter() > self.timed.costs.deadline:
                return
            best = np.array(self.weights.shares)[:, : self.free]
            if not self._try(best + _STEP * (shares - best), self.weights.rent + _STEP * (rent - self.weights.rent)):
                return

    def _try(self, shares: Table, rent: float) -> bool:
        """The cheapest sharding for these weights; whether there is one."""
        timed = self.timed
        full = np.ones((timed.slots, 3))
        if self.free:
            above = np.maximum(shares, _SLIGHT)
            full[:, : self.free] = above / above.sum(axis=1, keepdims=True)
        weights = Weights(shares=tuple((float(one[0]), float(one[1]), float(one[2])) for one in full), rent=rent)
        search = timed.eliminated(weights, strict=False)
        if search.bound > self.bound:
            self.bound, self.weights = search.bound, weights
        if search.bound == inf:
            return False
        chosen = next(search.assignments())[1]
        if self._add(chosen, weights) <= 0.0:
            self.seen[chosen] = timed.least(chosen)
        return True

    def _add(self, chosen: Plane, weights: Weights) -> float:
        """The plane of a sharding; gives the bytes it holds too many."""
        alone, parts = self.timed.parts(chosen, weights)
        over = self.timed.holds(chosen) - self.room if self.limited else 0.0
        if self.program is None:
            self.program = self._begun(max(self.bound, 1e-12))
        column = np.array([*(-parts[:, : self.free].ravel()), 1.0, -over / self.room if self.limited else 0.0])
        self.program.add(column, alone + float(parts[:, self.free :].sum()))
        self.chosen.append(chosen)
        return over

    def _begun(self, unit: float) -> ColumnProgram:
        """The program without planes: rows for every share of a slot, for the mixture, and for the room.

        Of every slot the longest share counts, of the bytes too many the dearest rent; what is not long enough or not
        too much is slack. A mixture of nothing, dear beyond all bounds, makes the first basis.
        """
        slots, free = self.timed.slots, self.free
        rows = slots * free + 2
        lengths = np.zeros((rows, slots))
        for slot in range(slots if free else 0):
            lengths[slot * free : (slot + 1) * free, slot] = 1.0
        slack = np.zeros((rows, rows - 2))
        slack[: rows - 2] = -np.eye(rows - 2)
        spare, rented, nothing = np.zeros((3, rows, 1))
        spare[-1], rented[-1], nothing[-2] = -1.0, 1.0, 1.0
        columns = np.hstack([nothing, rented, spare, lengths, slack])
        costs = np.array([1e6 * unit, _DEAREST * unit, 0.0, *([1.0] * slots), *([0.0] * (rows - 2))])
        wanted = np.zeros(rows)
        wanted[-2] = 1.0
        basis = [0, 1]
        for slot in range(slots if free else 0):
            # The length of a slot stands for its first share, the slack of the others for theirs.
            basis += [3 + slot, *(3 + slots + slot * free + share for share in range(1, free))]
        return ColumnProgram(columns, costs, wanted, basis)

    def _highest(self) -> tuple[float, Table, float]:
        """The highest point below all planes: its height, shares and rent."""
        assert self.program is not None
        height, prices, taken = self.program.solve()
        first = len(self.program.costs) - len(self.chosen)
        mixture = sorted(((share, place) for place, share in taken.items() if place >= first), reverse=True)
        self.active = tuple(dict.fromkeys(self.chosen[place - first] for share, place in mixture if share > _MIXED))
        shares = np.maximum(prices[:-2].reshape(self.timed.slots, self.free) if self.free else np.zeros((1, 0)), 0.0)
        return height, shares, max(float(prices[-1]), 0.0) / self.room if self.limited else 0.0
