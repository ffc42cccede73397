"""What every wiring answers: links with capacities, and the links between any two units."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError
from volvelle.system.routing import Numbers

Shares: TypeAlias = NDArray[np.float64]
NONE = -1
"""In place of a link: the route is shorter."""


@dataclass(frozen=True, slots=True)
class Routes:
    """Links of many routes, a row each; a row is filled up with −1."""

    links: Numbers
    shares: Shares | None = None
    """Part of the message that crosses each; None: all of it crosses every one."""

    def beside(self, other: "Routes") -> "Routes":
        """Each route, and then the other's of the same row."""
        links = np.concatenate([self.links, other.links], axis=1)
        if self.shares is None and other.shares is None:
            return Routes(links)
        return Routes(links, np.concatenate([self.whole_shares, other.whole_shares], axis=1))

    @property
    def whole_shares(self) -> Shares:
        """Shares, stated also where all of a message crosses each link."""
        return np.ones(self.links.shape) if self.shares is None else self.shares


def spread(ways: Sequence[Numbers]) -> Routes:
    """Routes that go several ways at once, the same part of a message each."""
    links = np.concatenate(ways, axis=1)
    return Routes(links, np.full(links.shape, 1.0 / len(ways)))


class Wiring(ABC):
    """Directed links among units: first what each injects through, then what each is reached by, then all between.

    The number of a link depends on the shape alone. Capacities are in parts of what one unit injects.
    """

    def __init__(self, units: int) -> None:
        self.units = units

    @property
    @abstractmethod
    def between(self) -> Shares:
        """Capacities of the links between ports."""

    @abstractmethod
    def ways(self, sources: Numbers, targets: Numbers, picks: Numbers) -> Routes:
        """Links between the ports of two units each, numbered from 0; `picks` says which of equal ways."""

    @abstractmethod
    def between_name(self, link: int) -> str:
        """What a link between ports joins."""

    @property
    def capacities(self) -> Shares:
        """Of all links."""
        return np.concatenate([np.ones(2 * self.units), self.between])

    def routes(self, sources: Numbers, targets: Numbers, picks: Numbers) -> Routes:
        """Links from unit to unit, ports included; none where both are the same."""
        sources, targets = np.asarray(sources, dtype=np.int64), np.asarray(targets, dtype=np.int64)
        inner = self.ways(sources, targets, np.asarray(picks, dtype=np.int64))
        moved = Routes(np.where(inner.links >= 0, inner.links + 2 * self.units, NONE), inner.shares)
        ports = Routes(np.stack([sources, self.units + targets], axis=1))
        whole = ports.beside(moved)
        return Routes(np.where((sources == targets)[:, None], NONE, whole.links), whole.shares)

    def upward(self, unit: int) -> tuple[int, ...]:
        """Links between ports from a unit to the top, for networks that add up what they forward."""
        raise DescriptionError("this shape has no top that adds up what it forwards; take a switch or a fat tree")

    def downward(self, unit: int) -> tuple[int, ...]:
        """Links back from the top."""
        raise DescriptionError("this shape has no top that adds up what it forwards; take a switch or a fat tree")

    def link_name(self, link: int) -> str:
        """What a link joins."""
        if link < self.units:
            return f"out of {link}"
        if link < 2 * self.units:
            return f"into {link - self.units}"
        return self.between_name(link - 2 * self.units)
