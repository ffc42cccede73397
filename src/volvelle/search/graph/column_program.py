"""A linear program that grows by columns and goes on from where it stood: revised simplex, dense, for few rows.

A search solves thousands, of some twenty rows each: handing one to a solver would take longer than solving it.
"""

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]

_PIVOTS = 300
_SLIGHT = 1e-10
"""Of the largest price: what a column may promise and still not be worth a pivot."""


class ColumnProgram:
    """The least cost of columns, each taken some times, that add up to the right-hand side.

    Begins with columns that do so by themselves, one a row, and whose inverse is known: a basis.
    """

    def __init__(self, columns: Table, costs: Table, wanted: Table, basis: list[int]) -> None:
        self.columns, self.costs, self.wanted, self.basis = columns, costs, wanted, basis

    def add(self, column: Table, cost: float) -> None:
        """One more column that may be taken."""
        self.columns = np.column_stack([self.columns, column])
        self.costs = np.append(self.costs, cost)

    def solve(self) -> tuple[float, Table, dict[int, float]]:
        """The least cost, the prices of the rows, and how often columns are taken.

        Stops after so many pivots: prices are near the best then.
        """
        scale = max(float(np.abs(self.costs).max()), 1e-300)
        for pivot in range(_PIVOTS):
            inverse = np.linalg.inv(self.columns[:, self.basis])
            taken = np.maximum(inverse @ self.wanted, 0.0)
            prices = self.costs[self.basis] @ inverse
            left = self.costs - prices @ self.columns
            left[self.basis] = 0.0
            # Late on, the first that helps rather than the best: that never goes round in a circle (Bland 1977).
            better = np.flatnonzero(left < -_SLIGHT * scale)
            if not better.size:
                break
            enters = int(better[0] if pivot > _PIVOTS // 2 else left.argmin())
            way = inverse @ self.columns[:, enters]
            with np.errstate(divide="ignore", invalid="ignore"):
                steps = np.where(way > 1e-12, taken / way, np.inf)
            leaves = int(steps.argmin())
            if not np.isfinite(steps[leaves]):
                break
            self.basis[leaves] = enters
        value = float(self.costs[self.basis] @ taken)
        return value, prices, dict(zip(self.basis, taken.tolist(), strict=True))
