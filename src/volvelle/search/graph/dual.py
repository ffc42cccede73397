"""The weights of work, memory, network and bytes held that give the lagrangian bound on every sharding.

For any weights the cheapest sharding is a bound, and the bound is concave in the weights: each sharding found is a
plane above it. Planes are gathered until the highest point below all of them (on a fine grid) is one that was tried
(Kelley's cutting planes; J. SIAM 8(4), 1960).
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import inf

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.dataflow.on_chip import Overlap
from volvelle.search.graph.sharding_times import Weights
from volvelle.search.graph.timed_splits import TimedSplits

__all__ = ["LagrangianBound", "lagrangian_bound"]

_SLIGHT = 1e-7
"""Share of what hardly counts: enough to tell apart what is equal in the rest."""
_STEPS = 40
_LITTLE = (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
_ROUNDS = 24
_HINTS = 3
_RENTS = (0.0, *np.geomspace(1e-3, 1e2, 26).tolist())
"""Rents tried, in bounds for as many bytes as there is room for."""


@lru_cache(maxsize=8)
def _grid(overlap: Overlap) -> NDArray[np.float64]:
    """Shares of work, memory and network."""
    if overlap is Overlap.NONE:
        return np.ones((1, 3))
    if overlap is Overlap.MEMORY:
        work = np.clip(np.linspace(0.0, 1.0, _STEPS + 1), _SLIGHT, 1.0 - _SLIGHT)
        return np.stack([work, 1.0 - work, np.ones_like(work)], axis=1)
    points: list[tuple[float, ...]] = [
        (one / _STEPS, other / _STEPS, (_STEPS - one - other) / _STEPS)
        for one in range(_STEPS + 1)
        for other in range(_STEPS + 1 - one)
    ]
    # Near the corners, where nearly all is one thing, little of another tells much.
    points += [
        shares
        for little in _LITTLE
        for less in (0.0, little / 2)
        for shares in permutations((1.0 - little - less, little, less))
    ]
    shares = np.maximum(np.array(points), _SLIGHT)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class LagrangianBound:
    """The best bound on what any sharding takes for which there is room."""

    bound: float
    weights: Weights
    hints: tuple[tuple[int, ...], ...] = ()
    """Options of shardings that looked good on the way."""


def lagrangian_bound(timed: TimedSplits, overlap: Overlap) -> LagrangianBound:
    """The best bound, and the weights that give it."""
    room = timed.costs.room
    limited = timed.costs.held is not None and room < inf
    shares = _grid(overlap)
    best = (-inf, Weights())
    planes: list[NDArray[np.float64]] = []
    seen: dict[tuple[int, ...], float] = {}
    unit = 0.0
    shares_of, rents = shares, np.zeros(len(shares))
    at = int(np.argmin(np.abs(shares - shares.mean(axis=0)).sum(axis=1)))
    tried: set[int] = set()
    for _ in range(_ROUNDS):
        weights = Weights(
            work=float(shares_of[at, 0]),
            memory=float(shares_of[at, 1]),
            network=float(shares_of[at, 2]),
            rent=float(rents[at]),
        )
        tried.add(at)
        search = timed.eliminated(weights, strict=False)
        if search.bound > best[0]:
            best = (search.bound, weights)
        if search.bound == inf:
            return LagrangianBound(bound=inf, weights=weights)
        chosen = next(search.assignments())[1]
        over = timed.holds(chosen) - room if limited else 0.0
        planes.append(np.array([*timed.parts(chosen), over]))
        if over <= 0.0:
            seen[chosen] = timed.least(chosen, overlap)
        if limited and not unit and over > 0.0:
            # What is cheapest does not fit: a rent may make the bound sharper.
            unit = max(search.bound, 1e-12) / room
            shares_of = np.repeat(shares, len(_RENTS), axis=0)
            rents = np.tile(np.array(_RENTS) * unit, len(shares))
            tried = set()
        heights = np.min(
            [plane[0] + shares_of @ plane[1:4] + rents * plane[4] for plane in planes],
            axis=0,
        )
        heights[list(tried)] = -inf
        at = int(heights.argmax())
        if heights[at] <= best[0] * (1.0 + 1e-6):
            break
    hints = sorted(seen, key=seen.__getitem__)[:_HINTS]
    return LagrangianBound(bound=best[0], weights=best[1], hints=tuple(hints))
