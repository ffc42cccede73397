"""Errors that layouts have of their own beside those of the machine: each its own, and one that its kind shares.

Errors that are common to all layouts of a machine change no order among them and are no part of these.
"""

from collections.abc import Sequence
from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.sampler import Column, Sampler
from volvelle.mapping.kinds import kind_of
from volvelle.mapping.parallelism import ParallelMapping
from volvelle.spread import LogNormal


def layout_errors(
    mappings: Sequence[ParallelMapping], spreads: tuple[float, float], sampler: Sampler
) -> NDArray[np.float64]:
    """Factors of time of each layout (rows) in each sample; `spreads` are that of a kind and that of a layout."""
    of_kind, own = spreads
    return np.array(
        [
            _error(f"layouts of kind {kind_of(mapping).name}", of_kind, sampler)
            * _error(f"layout {mapping}", own, sampler)
            for mapping in mappings
        ]
    )


def shares_won(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the samples (columns) in which each row is the least; where none is finite, nobody wins."""
    some = np.isfinite(times.min(axis=0))
    return np.asarray(np.bincount(times.argmin(axis=0)[some], minlength=len(times)) / times.shape[1])


def difference_spread(first: ParallelMapping, second: ParallelMapping, spreads: tuple[float, float]) -> float:
    """One standard deviation of the error of ln(time / time) of two layouts."""
    of_kind, own = spreads
    return sqrt(2.0 * (own**2 + of_kind**2 * (kind_of(first) != kind_of(second))))


def _error(name: str, spread: float, sampler: Sampler) -> Column:
    """Normal tails: chances by them are what measured pairs show."""
    return LogNormal(1.0, exp(spread)).at(sampler.column(name))
