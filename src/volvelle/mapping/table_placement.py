"""Where embedding tables lie: whole on one chip, cut by rows or columns over all, or copied to each."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from heapq import heapify, heapreplace


class Placement(Enum):
    """What is done with a table."""

    TABLE = "table-wise"
    """It lies on one chip."""
    ROW = "row-wise"
    """Every chip has some of its rows, for all columns."""
    COLUMN = "column-wise"
    """Every chip has all of its rows, for some columns."""
    REPLICATED = "data-parallel"
    """Every chip has all of it, and adds up its gradient with the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlacement:
    """One placement for each kind of table of a model, in the model's order."""

    ways: tuple[Placement, ...]

    def count(self, way: Placement) -> int:
        """How many kinds of tables are placed like that."""
        return self.ways.count(way)

    @property
    def words(self) -> str:
        """For people."""
        found = [f"{self.count(way)} {way.value}" for way in Placement if self.count(way)]
        return ", ".join(found) or "no tables"


def spread_tables(costs: Sequence[float], chips: int) -> tuple[int, ...]:
    """The chip of each table, so that the busiest has little more than its share: dearest first, to the idlest."""
    idle = [(0.0, chip) for chip in range(min(chips, len(costs)))]  # more chips than tables hold none
    heapify(idle)
    places = [0] * len(costs)
    for table in sorted(range(len(costs)), key=lambda each: -costs[each]):
        load, chip = idle[0]
        places[table] = chip
        heapreplace(idle, (load + costs[table], chip))
    return tuple(places)
