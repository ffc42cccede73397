"""Routers joined as any graph, with units at each: shortest ways, hop by hop."""

import numpy as np
from numpy.typing import NDArray

from volvelle.system.routing import Numbers, Rule
from volvelle.system.wirings.wiring import NONE, Routes, Shares, Wiring


class Graph(Wiring):
    """Units at routers, `each` at one; `joined` has the capacity of the link between two, 0 where there is none.

    Of several shortest ways one is taken hop by hop, by what a routing rule picks; an adaptive network spreads evenly
    over the next hops at every router.
    """

    def __init__(self, units: int, each: int, joined: NDArray[np.float64], rule: Rule) -> None:
        super().__init__(units)
        self.each, self.rule = each, rule
        self._from, self._to = np.nonzero(joined)
        self._capacities = joined[self._from, self._to]
        self._numbers = np.full(joined.shape, NONE)
        self._numbers[self._from, self._to] = np.arange(len(self._from))
        self._distance = _distances(joined > 0)
        self._hops = int(self._distance.max())

    @property
    def between(self) -> Shares:
        """By the routers at both ends."""
        return self._capacities

    def between_name(self, link: int) -> str:
        """Routers at both ends."""
        return f"router {self._from[link]} to {self._to[link]}"

    def ways(self, sources: Numbers, targets: Numbers, picks: Numbers) -> Routes:
        """Hop by hop, or spread."""
        here, there = sources // self.each, targets // self.each
        if self.rule is Rule.ADAPTIVE:
            return self._spread(here, there)
        found = np.full((len(sources), self._hops), NONE)
        left = picks
        for hop in range(self._hops):
            rows = np.flatnonzero(here != there)
            nearer = self._nearer(here[rows], there[rows])
            count = nearer.sum(axis=1)
            wanted = left[rows] % np.maximum(count, 1)
            left = left.copy()
            left[rows] = left[rows] // np.maximum(count, 1)
            onward = np.argmax(nearer.cumsum(axis=1) > wanted[:, None], axis=1)
            found[rows, hop] = self._numbers[here[rows], onward]
            here = here.copy()
            here[rows] = onward
        return Routes(found)

    def _nearer(self, here: Numbers, there: Numbers) -> NDArray[np.bool_]:
        """Routers that are next to one and a hop nearer to the other, a row a pair."""
        ahead = self._distance[here, there][:, None] - 1 == self._distance[:, there].T
        return np.asarray((self._numbers[here] >= 0) & ahead, dtype=np.bool_)

    def _spread(self, here: Numbers, there: Numbers) -> Routes:
        known: dict[tuple[int, int], dict[int, float]] = {}
        rows = [self._parts(int(a), int(b), known) for a, b in zip(here, there, strict=True)]
        width = max((len(parts) for parts in rows), default=0)
        links, shares = np.full((len(rows), width), NONE), np.zeros((len(rows), width))
        for row, parts in enumerate(rows):
            links[row, : len(parts)] = list(parts)
            shares[row, : len(parts)] = list(parts.values())
        return Routes(links, shares)

    def _parts(self, here: int, there: int, known: dict[tuple[int, int], dict[int, float]]) -> dict[int, float]:
        """What crosses each link of a message, evenly over next hops."""
        if here == there:
            return {}
        if (here, there) not in known:
            found: dict[int, float] = {}
            onward = np.flatnonzero(self._nearer(np.array([here]), np.array([there]))[0])
            for router in onward:
                number = int(self._numbers[here, router])
                found[number] = found.get(number, 0.0) + 1.0 / len(onward)
                for link, share in self._parts(int(router), there, known).items():
                    found[link] = found.get(link, 0.0) + share / len(onward)
            known[here, there] = found
        return known[here, there]


def _distances(joined: NDArray[np.bool_]) -> Numbers:
    """Hops between any two routers."""
    count = len(joined)
    distance = np.where(np.eye(count, dtype=bool), 0, np.where(joined, 1, -1))
    reached = joined | np.eye(count, dtype=bool)
    step = joined.astype(np.float32)
    hops = 1
    while (distance < 0).any():
        hops += 1
        wider = (reached.astype(np.float32) @ step > 0) | reached
        if (wider == reached).all():
            raise ValueError("the routers are not all joined")
        distance = np.where((distance < 0) & wider, hops, distance)
        reached = wider
    return distance
