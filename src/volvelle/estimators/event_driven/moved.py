"""What a task of a replay does on its chip, and what it moves between chips: how much, among whom."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.workload.tensor_layout import Collective


@dataclass(frozen=True, slots=True)
class Computed:
    """What a kernel asks of its chip."""

    flop: float
    traffic: float
    """Bytes read from and written to memory."""


@dataclass(frozen=True, slots=True)
class Group:
    """Ranks at equal distances."""

    chips: int
    stride: int

    def members(self, rank: int) -> tuple[int, ...]:
        """Those of the group that a rank is in."""
        first = rank - rank // self.stride % self.chips * self.stride
        return tuple(range(first, first + self.chips * self.stride, self.stride))

    def firsts(self, ranks: int) -> NDArray[np.int64]:
        """The first member of every group of so many ranks."""
        every: NDArray[np.int64] = np.arange(ranks)
        found: NDArray[np.int64] = every[every // self.stride % self.chips == 0]
        return found


@dataclass(frozen=True, slots=True)
class Moved:
    """An exchange among a group, or what a chip hands to the next stage."""

    collective: Collective | None
    """None: it is handed to the next stage."""
    size: float
    """Bytes, as the law of the collective counts them: of the whole tensor, or of all that a chip sends to others."""
    group: Group
    """Of a hand-over: the stages of a pipeline."""
    seconds: float

    def part(self, share: float) -> "Moved":
        """A share of it, which takes as much of its time."""
        return Moved(self.collective, share * self.size, self.group, share * self.seconds)

    def longer(self, factor: float) -> "Moved":
        """The same in so many times the seconds."""
        return Moved(self.collective, self.size, self.group, factor * self.seconds)

    def with_more(self, other: "Moved") -> "Moved":
        """Both as one exchange."""
        return Moved(self.collective, self.size + other.size, self.group, self.seconds + other.seconds)
