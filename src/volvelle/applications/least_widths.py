"""How narrow ranges could be at best.

Whoever gives them: one width an application, chosen with measured rows in sight. No range can be asked for more where
it knows no more of a row than its application: what is left is how far off predictions are, not how ranges are made.

Of given widths: where every error is drawn from its own range. Nothing truer can then be said of single rows.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from volvelle.spread import student

Column = NDArray[np.float64]


def alike_width(errors: Mapping[str, Column], share: float) -> float:
    """Mean half-width that holds `share` of the rows of every application; errors are logarithms."""
    widths = [(len(own), float(np.quantile(np.abs(own), share, method="higher"))) for own in errors.values()]
    return sum(rows * width for rows, width in widths) / sum(rows for rows, _ in widths)


def least_width(errors: Mapping[str, Column], share: float) -> float:
    """Least mean half-width that holds `share` of all rows, more of those applications where that is cheap.

    Exact: of every number of rows held so far, the least sum of widths, one application after another.
    """
    total = sum(len(own) for own in errors.values())
    least: Column = np.zeros(1)
    for own in errors.values():
        cost = len(own) * np.concatenate([np.zeros(1), np.sort(np.abs(own))])  # of holding 0, 1, 2 … of its rows
        sums = np.full((len(cost), len(least) + len(cost) - 1), np.inf)
        for held, width in enumerate(cost):
            sums[held, held : held + len(least)] = least + width
        least = np.min(sums, axis=0)
    return float(np.min(least[int(np.ceil(share * total - 1e-9)) :])) / total


def width_if_drawn(
    low: Column, high: Column, freedom: Column, *, plain: float, seed: int = 0, times: int = 1000
) -> Column:
    """Mean half-widths of ranges stretched until they hold as many rows as ± `plain` does, errors drawn from them.

    Ends are of four fifths, as logarithms; errors are Student's, of so many degrees of freedom.
    """
    reach = np.array([float(student(0.9, own)) for own in freedom])
    drawn = np.random.Generator(np.random.PCG64(seed)).standard_t(freedom, (times, freedom.size)) / reach
    errors = np.where(drawn < 0.0, -low, high) * drawn
    held = np.mean(np.abs(np.expm1(errors)) <= plain, axis=1)
    stretches = [
        float(np.quantile(own, share, method="higher")) for own, share in zip(np.abs(drawn), held, strict=True)
    ]
    return np.asarray(np.array(stretches) * np.mean((high - low) / 2.0))
