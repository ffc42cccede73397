"""Slots of a pass: runs of partitions that follow one another, each bounded by itself.

Of operations that share no partition and depend on one another each has its turn: those that have the chip to
themselves, and those that the SRAM cannot hold together with what lies between them. Along a chain of them slots begin,
after each that is alone, and with each other one but the first of its slot. What depends on one of them runs in its
slot or later, what it depends on in its slot or before.
"""

from collections.abc import Collection, Mapping

from volvelle.search.graph.between import Apart, Between

Range = tuple[int, int]
"""The first and the last slot in which an operation may run."""


def slots_of(
    between: Between, alone: Collection[str], apart: Apart | None = None, needs: Mapping[str, float] | None = None
) -> tuple[dict[str, Range], int]:
    """Operation → its slots, passes one after another; and how many slots there are.

    Of chains as long as each other the one that needs most SRAM, and lies latest, tells most.
    """
    weights = [(needs or {}).get(name, 0.0) for name in between.names]
    found: dict[str, Range] = {}
    start = 0
    for side in sorted(set(between.sides)):
        mine = [place for place, one in enumerate(between.sides) if one == side]
        by_itself = {place for place in mine if between.names[place] in alone}
        closes, opens = dict[int, int](), dict[int, int]()
        slot, fresh = start, True
        for place in _longest(mine, by_itself, between, apart, weights):
            if place in by_itself:
                closes[place], opens[place], fresh = slot, slot + 1, True
            else:
                closes[place] = opens[place] = slot + (not fresh)
                fresh = False
            slot = opens[place]
        for place in mine:
            others = [one for one in opens if one != place or place not in by_itself]
            first = max((opens[one] for one in others if between.after[one, place]), default=start)
            last = min((closes[one] for one in others if between.after[place, one]), default=slot)
            found[between.names[place]] = (first, last)
        start = slot + 1
    return found, start


def _longest(
    places: list[int], alone: set[int], between: Between, apart: Apart | None, weights: list[float]
) -> list[int]:
    """The longest chain of operations each of which depends on the one before and shares no partition with it."""
    chains: dict[int, list[int]] = {}

    def worth(chain: list[int]) -> tuple[int, float, list[int]]:
        return len(chain), sum(weights[place] for place in chain), chain

    for place in places:
        if place in alone or (apart is not None and (apart[place].any() or apart[:, place].any())):
            before = [
                chain
                for one, chain in chains.items()
                if between.after[one, place]
                and (one in alone or place in alone or (apart is not None and apart[one, place]))
            ]
            chains[place] = [*max(before, key=worth, default=[]), place]
    return max(chains.values(), key=worth, default=[])
