"""What runs of one's own tell of steps whose products are shaped as theirs, beside what constants explain.

Products of one shape go wrong alike on one machine. Their shape is that of a layer on a chip: rows of a micro-batch,
width of the model, and over how many ranks it is split.
"""

from dataclasses import dataclass, field
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.factored import chip_shares, felt_variance, run_variance
from volvelle.laws.shrinkage import Kriged, kriged, likeness, student_reach
from volvelle.mapping.parallelism import MappingTable
from volvelle.spread import model_reach
from volvelle.workload.training import TrainingStep

Table = NDArray[np.float64]
_LEVEL = 0.8
_WIDTH, _POSITIONS = "hidden", "position"


def product_shapes(step: TrainingStep, table: MappingTable) -> Table | None:
    """Doublings of rows, width and tensor ranks of the products of layouts; None: the model has no such layers."""
    sizes = step.model.sizes
    if _WIDTH not in sizes or _POSITIONS not in sizes:
        return None
    rows = sizes[_POSITIONS] * table.micro_batch / table.context
    return np.asarray(np.log2(np.column_stack([rows, np.full(len(table), float(sizes[_WIDTH])), table.tensor])))


def shape_covariance(shapes: Table, shares: Table, *, spread: float, reach: float) -> Table:
    """What runs go wrong by together, by their shapes and the share of the chip in their times."""
    return spread**2 * likeness(shapes, shapes, reach=reach) * np.outer(shares, shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnShapes:
    """What constants leave of errors of own runs, by their shapes."""

    shapes: Table = field(repr=False)
    """Of own runs, a row each, as `product_shapes` has them."""
    slopes: Table = field(repr=False)
    """Of the logarithms of their times in those of constants."""
    left: Table = field(repr=False)
    """Of their ln(measured / predicted)."""
    noise: Table = field(repr=False)
    """One standard deviation of each that nothing explains."""
    spread: float
    """One standard deviation of what the chip goes wrong by from shape to shape."""
    reach: float
    """Doublings within which shapes go wrong alike."""

    def told(self, shapes: Table) -> Kriged:
        """Of products of these shapes: by how much longer the chip takes, and the variance that is told of it."""
        alike = self.spread**2 * likeness(shapes, self.shapes, reach=self.reach) * self.shares
        return kriged(alike, self._own(), self.left, self.slopes, noise=self.noise)

    def factor(self, step: TrainingStep, table: MappingTable) -> Table | None:
        """By what the chip's own times are multiplied; None: nothing is told of such a model."""
        shapes = product_shapes(step, table)
        if shapes is None:
            return None
        alike, back = np.unique(shapes, axis=0, return_inverse=True)
        return np.asarray(np.exp(self.told(alike).shift)[back.ravel()])

    @property
    def shares(self) -> Table:
        """Of their times that is the chip's own."""
        return chip_shares(self.slopes)

    @property
    def least(self) -> float:
        """What no factor is below."""
        solved = kriged(np.eye(len(self.left)), self._own(), self.left, self.slopes, noise=self.noise).shift
        return float(np.exp(self.spread**2 * np.minimum(self.shares * solved, 0.0).sum()))

    def _own(self) -> Table:
        return shape_covariance(self.shapes, self.shares, spread=self.spread, reach=self.reach)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRunsTold:
    """What own runs leave open of a step."""

    covariance: Table = field(repr=False)
    """Of logarithms of constants, as `CONSTANTS` has them."""
    scatter: float
    """One standard deviation of a run around what constants and shapes say."""
    shapes: OwnShapes
    freedom: float
    """Of Student's distribution that all this is of."""
    network: float = 0.0
    """One standard deviation of what a run waits for the network, by itself."""
    stretch: float = 1.0
    """By what ranges are wider than that, to hold what they should of left-out machines."""
    inflation: float = 1.0
    """Of variances, by how far own runs lie from what was believed of them; already in all of these."""
    beside: float = 0.0
    """One standard deviation of what is not of these runs: another chip of the family."""

    def error(self, slopes: Table, shapes: Table | None) -> Table:
        """One standard deviation, as a logarithm, of steps by their slopes in the constants (a row each).

        As of any model's error, so that four fifths lie where four fifths of Student's distribution do.
        """
        share, by_itself = chip_shares(slopes), self.by_itself(slopes)
        open_ = np.full(len(slopes), self.shapes.spread**2)
        if shapes is not None:
            told = self.shapes.told(shapes)
            open_ = np.maximum(open_ - told.told, 0.0)
            slopes = slopes - share[:, None] * told.carried
        variance = felt_variance(slopes, self.covariance) + share**2 * open_ + by_itself
        return np.asarray(np.sqrt(self.wider**2 * variance + self.beside**2))

    def by_itself(self, slopes: Table) -> Table:
        """Variance of steps that each run has by itself."""
        return run_variance(slopes, scatter=self.scatter, network=self.network)

    def no_wider(self, deviation: Table, before: Table) -> Table:
        """No more than without own runs, but by what these lie further off than was believed; of logarithms."""
        return np.minimum(deviation, np.hypot(before * sqrt(max(1.0, self.inflation)), self.beside))

    @property
    def wider(self) -> float:
        """Standard deviations of a model's error to one of its own."""
        return self.stretch * student_reach(self.freedom, level=_LEVEL) / model_reach(_LEVEL)
