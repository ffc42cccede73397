"""Levels of switches: every way up is numbered, or all ways up from one place are one link."""

import numpy as np

from volvelle.system.routing import Numbers, Rule
from volvelle.system.wirings.wiring import NONE, Routes, Shares, Wiring


class Tree(Wiring):
    """A folded Clos network: leaves of `half` units, each level above joins `half` of the level below.

    Above the leaves there is 1/`thinned` of what their units inject, in `half`/`thinned` links a leaf (a whole number
    of them). A message climbs as far as it must. The way up is chosen level by level from what a routing rule picks:
    by the number of the destination that is d-mod-k. An adaptive network spreads messages evenly over all ways, so
    that those of a group of units are one link of their common capacity.
    """

    def __init__(self, units: int, levels: int, half: int, thinned: float, rule: Rule) -> None:
        super().__init__(units)
        self.levels, self.half, self.rule = levels, half, rule
        self.bundled = rule is Rule.ADAPTIVE
        spines = max(1, round(half / thinned))
        self._capacity = half / thinned / spines
        self._groups, self._places, self._choices, self._starts = [], [], [], []
        start, places = 0, 1
        for level in range(1, levels):
            choices = 1 if self.bundled else (spines if level == 1 else half)
            groups = -(-units // half**level)
            self._groups.append(groups)
            self._places.append(places)
            self._choices.append(choices)
            self._starts.append(start)
            start += 2 * groups * places * choices
            places *= choices
        self._links = start
        self._thinned = thinned

    @property
    def between(self) -> Shares:
        """Level by level: all that go up, then all that go down."""
        parts = [
            np.full(2 * groups * places * choices, self.half ** (level + 1) / self._thinned if self.bundled else each)
            for level, (groups, places, choices, each) in enumerate(
                zip(self._groups, self._places, self._choices, [self._capacity] * len(self._groups), strict=True)
            )
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def ways(self, sources: Numbers, targets: Numbers, picks: Numbers) -> Routes:
        """Up to the first switch above both, and down again."""
        found = []
        place = np.zeros(len(sources), dtype=np.int64)
        left = picks
        for level in range(1, self.levels):
            size, choices = self.half**level, self._choices[level - 1]
            over = sources // size != targets // size
            chosen, left = left % choices, left // choices
            for group, down in ((sources // size, 0), (targets // size, 1)):
                found.append(np.where(over, self._number(level, group, place, chosen, down), NONE))
            place = place * choices + chosen
        if not found:
            return Routes(np.zeros((len(sources), 0), dtype=np.int64))
        return Routes(np.stack(found, axis=1))

    def _number(self, level: int, group: Numbers, place: Numbers, chosen: Numbers, down: int) -> Numbers:
        groups, places, choices = self._groups[level - 1], self._places[level - 1], self._choices[level - 1]
        found: Numbers = self._starts[level - 1] + ((down * groups + group) * places + place) * choices + chosen
        return found

    def between_name(self, link: int) -> str:
        """Level, direction, and the group of units it serves."""
        level = max(place for place, start in enumerate(self._starts) if start <= link)
        groups, places, choices = self._groups[level], self._places[level], self._choices[level]
        switch, chosen = divmod(link - self._starts[level], choices)
        group, place = divmod(switch, places)
        kind = "leaf" if level == 0 else f"level {level + 1} group"
        where = f"{kind} {group % groups}" + (f", switch {place}" if places > 1 else "")
        way = "all ways" if self.bundled else f"way {chosen}"
        return f"{where}, {way} {'down' if group >= groups else 'up'}"

    def upward(self, unit: int) -> tuple[int, ...]:
        """By the first way of every level."""
        return self._to_top(unit, 0)

    def downward(self, unit: int) -> tuple[int, ...]:
        """By the first way of every level."""
        return self._to_top(unit, 1)

    def _to_top(self, unit: int, down: int) -> tuple[int, ...]:
        first = np.zeros(1, dtype=np.int64)
        return tuple(
            int(self._number(level, np.array([unit // self.half**level]), first, first, down)[0])
            for level in range(1, self.levels)
        )
