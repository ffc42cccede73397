"""Which service goes to which machine: each to one, all within what there is of each, for the least money."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from volvelle.workload.serving.requests import Whole


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Place:
    """A service on a machine."""

    machine: str
    chips: Whole
    """Of each slot; shorter loads take none after their end."""
    dollars: float


def placed(services: Mapping[str, Sequence[Place]], available: Mapping[str, int | None]) -> Mapping[str, Place] | None:
    """The cheapest place for every service; None: there are not enough chips, however they are placed.

    Exact: services are placed one after the other, and a way is left when it costs more than one that was found even if
    all that remain go to their cheapest places.
    """
    slots = max((place.chips.size for places in services.values() for place in places), default=0)
    used = {machine: np.zeros(slots, np.int64) for machine in available}
    # Those with the fewest places first: what cannot be is found early.
    order = sorted(services, key=lambda name: len(services[name]))
    cheapest = [min((place.dollars for place in services[name]), default=0.0) for name in order]
    ahead = np.concatenate((np.cumsum(cheapest[::-1])[::-1], [0.0]))
    best: dict[str, Place] | None = None
    least = np.inf
    chosen: dict[str, Place] = {}

    def further(depth: int, spent: float) -> None:
        nonlocal best, least
        if spent + ahead[depth] >= least:
            return
        if depth == len(order):
            best, least = dict(chosen), spent
            return
        for place in sorted(services[order[depth]], key=lambda place: place.dollars):
            taken, most = used[place.machine][: place.chips.size], available[place.machine]
            taken += place.chips
            if most is None or int(taken.max(initial=0)) <= most:
                chosen[order[depth]] = place
                further(depth + 1, spent + place.dollars)
            taken -= place.chips

    further(0, 0.0)
    return best
