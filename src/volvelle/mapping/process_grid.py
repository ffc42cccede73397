"""How a factorisation is laid out: the grid of processes, which of them share a node, and how panels travel."""

from dataclasses import dataclass
from enum import Enum
from math import ceil, gcd, isqrt

from volvelle.errors import MappingError


class Broadcast(Enum):
    """How a panel reaches the other columns, numbered as in ``HPL.dat``."""

    RING = 0
    RING_MODIFIED = 1
    TWO_RINGS = 2
    TWO_RINGS_MODIFIED = 3
    LONG = 4
    LONG_MODIFIED = 5

    @property
    def word(self) -> str:
        """As HPL prints it."""
        return ("1ring", "1ringM", "2ring", "2ringM", "Blong", "BlongM")[self.value]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessGrid:
    """P rows by Q columns of processes, one an accelerator."""

    rows: int
    """P: processes that share a column of blocks; they search pivots and swap rows."""
    columns: int
    """Q: processes that share a row of blocks; panels are broadcast along it."""
    node_rows: int = 1
    node_columns: int = 1
    """The part of the grid that lies in one node."""
    broadcast: Broadcast = Broadcast.RING_MODIFIED
    depth: int = 1
    """Panels that are factorised ahead of the update; 0: none."""

    def __post_init__(self) -> None:
        if min(self.rows, self.columns, self.node_rows, self.node_columns) < 1 or self.depth < 0:
            raise MappingError(f"a process grid has at least one row and column, and no negative depth: {self}")

    @property
    def processes(self) -> int:
        """How many there are."""
        return self.rows * self.columns

    @classmethod
    def for_nodes(
        cls, rows: int, columns: int, *, node: int, broadcast: Broadcast = Broadcast.RING_MODIFIED, depth: int = 1
    ) -> "ProcessGrid":
        """A grid laid over nodes of so many processes: whole columns in a node if they fit, else as square as can be.

        Columns swap rows, which is more to send than a panel along a row.
        """
        fits = [
            (p, node // p) for p in range(1, node + 1) if node % p == 0 and rows % p == 0 and columns % (node // p) == 0
        ]
        inside = (gcd(rows, node), 1)
        if fits:
            inside = min(fits, key=lambda part: (part[0] != rows, max(part) / min(part), -part[0]))
        return cls(
            rows=rows,
            columns=columns,
            node_rows=inside[0],
            node_columns=inside[1],
            broadcast=broadcast,
            depth=depth,
        )


def nearly_square(processes: int) -> tuple[int, int]:
    """The most square way to write a number as a product, smaller factor first."""
    side = isqrt(processes)
    while processes % side:
        side -= 1
    return side, processes // side


def is_prime(count: int) -> bool:
    """Whether a number above 1 has no divisor but itself."""
    return count > 1 and all(count % divisor for divisor in range(2, isqrt(count) + 1))


def usable_grid(processes: int, *, spare: float = 0.03, aspect: float = 1.6) -> tuple[int, int]:
    """The largest grid of at most so many processes that is not drawn out, smaller side first.

    At most `spare` of the processes stay idle for it; where no such grid is near, the most square one of all is taken.
    """
    least = max(1, ceil(processes * (1.0 - spare)))
    for count in range(processes, least - 1, -1):
        small, large = nearly_square(count)
        if large <= aspect * small:
            return small, large
    return nearly_square(processes)
