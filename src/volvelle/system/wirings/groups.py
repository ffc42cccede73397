"""Groups of routers, each joined with all of its group, and groups joined with all others: a dragonfly."""

from math import isqrt

import numpy as np

from volvelle.system.routing import Numbers, Rule
from volvelle.system.wirings.wiring import NONE, Routes, Shares, Wiring, spread


class Groups(Wiring):
    """Routers with as many units as a balanced dragonfly would have, as far as they divide the group.

    Links inside a group give it full bisection; `taper` of what a group injects leaves it, shared evenly over all other
    groups, in as many links to each as its routers have places for, that leave from router after router. Routes are
    minimal: to the router of a link to the other group, across, and to the other router.
    """

    def __init__(self, units: int, group: int, taper: float, rule: Rule) -> None:
        super().__init__(units)
        self.group, self.rule, self.taper = min(group, units), rule, taper
        # Kim et al.: a = 2p routers of p units each, with p links to other groups.
        self.each = max(n for n in range(1, isqrt(max(self.group // 2, 1)) + 1) if self.group % n == 0)
        self.routers = self.group // self.each
        self.groups = -(-units // self.group)
        others = self.groups - 1
        self.parallel = max(1, self.group // others) if others else 0
        self._local = self.groups * self.routers**2

    @property
    def between(self) -> Shares:
        """Inside groups, router by router; then between groups, by their numbers."""
        local = np.full(self._local, 2.0 * self.each / self.routers)
        if self.groups == 1:
            return local
        each = self.group * self.taper / (self.groups - 1) / self.parallel
        return np.concatenate([local, np.full(self.groups**2 * self.parallel, each)])

    def ways(self, sources: Numbers, targets: Numbers, picks: Numbers) -> Routes:
        """Across one link between groups, or all."""
        if self.rule is Rule.ADAPTIVE and self.parallel > 1:
            chosen = [np.full(len(sources), way) for way in range(self.parallel)]
            return spread([self._way(sources, targets, way) for way in chosen])
        return Routes(self._way(sources, targets, picks % max(self.parallel, 1)))

    def _way(self, sources: Numbers, targets: Numbers, way: Numbers) -> Numbers:
        here, there = sources // self.group, targets // self.group
        first, last = sources % self.group // self.each, targets % self.group // self.each
        apart = here != there
        leaves = np.where(apart, self._gate(here, there, way), last)
        enters = self._gate(there, here, way)
        across = self._local + (here * self.groups + there) * self.parallel + way
        return np.stack(
            [
                self._inside(here, first, leaves),
                np.where(apart, across, NONE),
                np.where(apart, self._inside(there, enters, last), NONE),
            ],
            axis=1,
        )

    def _gate(self, here: Numbers, there: Numbers, way: Numbers) -> Numbers:
        """The router of a group from which one of its links to another group leaves."""
        return ((there - here - 1) % self.groups * self.parallel + way) % self.routers

    def _inside(self, group: Numbers, first: Numbers, last: Numbers) -> Numbers:
        return np.where(first == last, NONE, (group * self.routers + first) * self.routers + last)

    def between_name(self, link: int) -> str:
        """Routers, or groups, at both ends."""
        if link < self._local:
            place, last = divmod(link, self.routers)
            return f"group {place // self.routers}, router {place % self.routers} to {last}"
        pair, way = divmod(link - self._local, self.parallel)
        return f"group {pair // self.groups} to group {pair % self.groups}, link {way}"
