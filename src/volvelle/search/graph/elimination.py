"""The cheapest assignments of variables whose costs are tables, in order: bucket elimination, then best first.

Eliminating a variable joins the tables that know it and hands on the least over it. Where a joined table would be too
large, the bucket is split and each part handed on by itself (mini-buckets; Dechter and Rish, J. ACM 50(2), 2003): what
is handed on is then a bound. Assigning variables in the reverse order, the tables handed on bound the rest from below,
exactly if no bucket was split; so assignments come out in order of cost.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import inf, prod
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]

_LARGEST = 2_000_000
"""Entries of a joined table."""
_CHECKED = 256
"""Steps between two looks at the clock."""


class OutOfTimeError(Exception):
    """The search must end before this is known."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A cost that some variables decide, one axis of the table for each."""

    scope: tuple[int, ...]
    table: Table


@dataclass(frozen=True, slots=True)
class Correction:
    """A cost too wide for a table: added when all its variables are known. Never negative."""

    scope: frozenset[int]
    cost: Callable[[Sequence[int]], float]
    """From the options of all variables."""


class Elimination:
    """Costs of so many variables, ready to give assignments from the cheapest on."""

    def __init__(
        self,
        sizes: Sequence[int],
        factors: Sequence[Factor],
        corrections: Sequence[Correction] = (),
        *,
        held: Sequence[Table] = (),
        room: float = inf,
        order: Sequence[int] = (),
        deadline: float = inf,
    ) -> None:
        self.sizes, self.deadline = tuple(sizes), deadline
        self.corrections = tuple(corrections)
        self.held, self.room = held, room if held else inf
        """What each option of each variable takes of the room there is."""
        self.order: list[int] = []
        self.buckets: dict[int, list[tuple[Factor, Factor]]] = {}
        """Variable → (what was joined, what was handed on)."""
        self.fixed = sum(float(factor.table) for factor in factors if not factor.scope)
        left = [factor for factor in factors if factor.scope]
        waiting = set(range(len(sizes)))
        while waiting:
            # The order depends on what knows what, not on the costs: once known it need not be looked for.
            if order:
                variable = order[len(sizes) - len(waiting)]
            else:
                variable = min(waiting, key=lambda one: self._width(one, left))
            waiting.remove(variable)
            self._look_at_clock()
            mine = [factor for factor in left if variable in factor.scope]
            left = [factor for factor in left if variable not in factor.scope]
            self.order.append(variable)
            pairs = self.buckets[variable] = []
            for group in self._groups(mine):
                joined = _join(group, self.sizes)
                axis = joined.scope.index(variable)
                scope = tuple(one for one in joined.scope if one != variable)
                sent = Factor(scope, joined.table.min(axis=axis))
                pairs.append((joined, sent))
                if scope:
                    left.append(sent)
                else:
                    self.fixed += float(sent.table)
        self.eliminated = tuple(self.order)
        self.order.reverse()

    def _look_at_clock(self) -> None:
        if perf_counter() > self.deadline:
            raise OutOfTimeError

    def _width(self, variable: int, factors: Sequence[Factor]) -> tuple[int, int]:
        scope = {one for factor in factors if variable in factor.scope for one in factor.scope}
        return prod(self.sizes[one] for one in scope), variable

    def _groups(self, factors: Sequence[Factor]) -> list[list[Factor]]:
        """Factors joined together, each group no larger than a table may be."""
        groups: list[tuple[set[int], list[Factor]]] = []
        for factor in sorted(factors, key=lambda one: -one.table.size):
            for scope, members in groups:
                if prod(self.sizes[one] for one in scope | set(factor.scope)) <= _LARGEST:
                    scope |= set(factor.scope)
                    members.append(factor)
                    break
            else:
                groups.append((set(factor.scope), [factor]))
        return [members for _, members in groups]

    @property
    def bound(self) -> float:
        """No assignment costs less; the cheapest costs this much if no table was too wide."""
        return self.fixed

    def assignments(self) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Cost and options of every assignment for which there is room, cheapest first; none that is impossible."""
        number, steps, due, room = count(), count(1), self._due(), self.room * (1.0 + 1e-9)
        least = [float(self.held[variable].min()) if self.held else 0.0 for variable in self.order]
        rest = [sum(least[depth:]) for depth in range(len(least) + 1)]
        start = tuple([-1] * len(self.sizes))
        heap: list[tuple[float, int, int, float, tuple[int, ...]]] = [(self.fixed, 0, next(number), 0.0, start)]
        while heap:
            if next(steps) % _CHECKED == 0:
                self._look_at_clock()
            cost, depth, _, used, chosen = heapq.heappop(heap)
            if cost == inf:
                return
            depth = -depth
            if depth == len(self.order):
                yield cost, chosen
                continue
            variable = self.order[depth]
            for option, timing in enumerate(self._options(variable, cost, chosen)):
                taken = used + (float(self.held[variable][option]) if self.held else 0.0)
                if timing < inf and taken + rest[depth + 1] <= room:
                    after = (*chosen[:variable], option, *chosen[variable + 1 :])
                    extra = sum(one.cost(after) for one in due[depth])
                    heapq.heappush(heap, (timing + extra, -depth - 1, next(number), taken, after))

    def _due(self) -> list[list[Correction]]:
        """Depth → the corrections whose last variable is assigned there."""
        place = {variable: depth for depth, variable in enumerate(self.order)}
        due: list[list[Correction]] = [[] for _ in self.order]
        for one in self.corrections:
            due[max(place[variable] for variable in one.scope)].append(one)
        return due

    def _options(self, variable: int, cost: float, chosen: tuple[int, ...]) -> list[float]:
        """What each option of a variable brings the cost to, the rest at its least."""
        total = np.full(self.sizes[variable], cost)
        for joined, sent in self.buckets[variable]:
            at = tuple(slice(None) if one == variable else chosen[one] for one in joined.scope)
            total = total + joined.table[at] - sent.table[tuple(chosen[one] for one in sent.scope)]
        return [float(value) for value in total]


def _join(factors: Sequence[Factor], sizes: Sequence[int]) -> Factor:
    scope = tuple(dict.fromkeys(one for factor in factors for one in factor.scope))
    table = np.zeros([sizes[one] for one in scope])
    for factor in factors:
        order = sorted(range(len(factor.scope)), key=lambda axis: scope.index(factor.scope[axis]))
        shape = [sizes[one] if one in factor.scope else 1 for one in scope]
        table = table + factor.table.transpose(order).reshape(shape)
    return Factor(scope, table)
