"""Units with nothing between their ports, or with a link of their own between any two."""

import numpy as np

from volvelle.system.routing import Numbers
from volvelle.system.wirings.wiring import NONE, Routes, Shares, Wiring


class Crossbar(Wiring):
    """A switch that never blocks: ports alone limit."""

    @property
    def between(self) -> Shares:
        """None."""
        return np.zeros(0)

    def ways(self, sources: Numbers, targets: Numbers, picks: Numbers) -> Routes:
        """Nothing between ports."""
        return Routes(np.zeros((len(sources), 0), dtype=np.int64))

    def between_name(self, link: int) -> str:
        """There is none."""
        raise IndexError(link)

    def upward(self, unit: int) -> tuple[int, ...]:
        """The port is all."""
        return ()

    def downward(self, unit: int) -> tuple[int, ...]:
        """The port is all."""
        return ()


class AllPairs(Wiring):
    """A link from each unit to each other, of an even share of what a unit injects."""

    @property
    def between(self) -> Shares:
        """Source by source."""
        return np.full(self.units**2, 1.0 / max(self.units - 1, 1))

    def ways(self, sources: Numbers, targets: Numbers, picks: Numbers) -> Routes:
        """The one link."""
        return Routes(np.where(sources == targets, NONE, sources * self.units + targets)[:, None])

    def between_name(self, link: int) -> str:
        """Both ends."""
        return f"{link // self.units} to {link % self.units}"
