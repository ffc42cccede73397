"""Errors that layouts have of their own beside those of the machine: each its own, and one that its kind shares.

Errors that are common to all layouts of a machine change no order among them and are no part of these.
"""

from collections.abc import Sequence
from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from volvelle.estimators.sampler import Column, Sampler
from volvelle.estimators.uncertainty import TableEstimator
from volvelle.mapping.kinds import Kind, kind_of, kinds
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.spread import LogNormal
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep


def machine_times(
    step: TrainingStep, variants: Cluster, mappings: MappingTable, estimator: TableEstimator, samples: int
) -> NDArray[np.float64]:
    """Return seconds of every layout (rows) on every sampled machine (columns), without errors of layouts."""
    count = len(mappings)
    machines = variants.take(np.tile(np.arange(samples), count))
    timed = estimator.table(step, machines, mappings.take(np.repeat(np.arange(count), samples)))
    return np.broadcast_to(timed.time, count * samples).reshape(count, samples)


def layout_errors(
    mappings: Sequence[ParallelMapping], spreads: tuple[float, float], sampler: Sampler
) -> NDArray[np.float64]:
    """Factors of time of each layout (rows) in each sample; `spreads` are that of a kind and that of a layout."""
    of_kind, own = spreads
    of_layout = np.array([_error(f"layout {mapping}", own, sampler) for mapping in mappings], np.float64)
    return np.asarray(kind_errors(mappings, of_kind, sampler) * of_layout)


def kind_errors(mappings: Sequence[ParallelMapping], spread: float, sampler: Sampler) -> NDArray[np.float64]:
    """Return factors of time that layouts of one kind share, of each layout (rows) in each sample (columns)."""
    found = [Kind(int(number)) for number in kinds(MappingTable.of(mappings))]
    shared = {kind: _error(f"layouts of kind {kind.name}", spread, sampler) for kind in set(found)}
    return np.array([shared[kind] for kind in found])


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
