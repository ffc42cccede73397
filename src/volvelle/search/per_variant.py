"""The best layout of every variant of a machine: the same layouts, other rates, each variant searched in full.

What a layout holds does not depend on rates, so what cannot run is found once for all variants; what remains is timed
for every variant. Exact: what is skipped cannot run.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import MappingError
from volvelle.estimators.rates import SustainedRates
from volvelle.estimators.uncertainty import TableEstimator
from volvelle.mapping.parallelism import MappingTable
from volvelle.search.layouts import layouts
from volvelle.search.space import Space
from volvelle.system.cluster import Cluster
from volvelle.workload.training import TrainingStep

_ROWS = 65_536
"""Rows evaluated in one call: several variants together, so that arrays stay long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutTable:
    """Layouts of a space that could run on some variant of a machine, those that hold least first."""

    table: MappingTable
    memory: NDArray[np.float64]
    """Bytes on the fullest rank, smallest first."""
    considered: int
    """Layouts in the space, with those that cannot run whatever the memory."""

    @classmethod
    def of(cls, space: Space, step: TrainingStep, cluster: Cluster, estimator: TableEstimator) -> "LayoutTable":
        """Of a whole space; the cluster's rates do not matter, so one of its variants stands for all."""
        joined = MappingTable.joined(list(layouts(space, step, cluster)))
        found = estimator.table(step, cluster, joined)
        rows = np.flatnonzero(found.runs_but_for_memory)
        rows = rows[np.argsort(found.memory_bytes[rows], kind="stable")]
        return cls(table=joined.take(rows), memory=found.memory_bytes[rows], considered=len(joined))


@dataclass(frozen=True, slots=True, kw_only=True)
class BestOfEach:
    """For every variant: the fastest layout that fits, or the least that any needs."""

    mappings: MappingTable
    time: NDArray[np.float64]
    memory: NDArray[np.float64]
    fits: NDArray[np.bool_]
    evaluated: int
    """Layouts evaluated, over all variants."""


def best_of_each(known: LayoutTable, step: TrainingStep, cluster: Cluster, estimator: TableEstimator) -> BestOfEach:
    """The best layout for every variant of a cluster whose rates are columns.

    Where none fits a variant, its row is the layout that needs least, and `fits` says no.
    """
    if not len(known.table):
        raise MappingError(
            f"none of {known.considered} layouts can run on {cluster.accelerators} chips whatever their memory; widen "
            "the space or change batch and count"
        )
    machine = SustainedRates.of(cluster, step.element)
    variants = machine.rows()
    capacity = np.broadcast_to(np.asarray(machine.holds, dtype=np.float64), (variants,))
    fitting = np.searchsorted(known.memory, capacity, side="right")
    fits = fitting > 0
    chosen = np.zeros(variants, dtype=np.intp)
    best = np.full(variants, np.inf)
    counts = np.maximum(fitting, 1)
    for first, last in _batches(counts):
        span = counts[first:last]
        variant = np.repeat(np.arange(first, last), span)
        starts = np.concatenate([[0], np.cumsum(span)[:-1]])
        layout = np.arange(int(span.sum())) - np.repeat(starts, span)
        machines = cluster if variants == 1 else cluster.take(variant)
        times = estimator.table(step, machines, known.table.take(layout)).time
        for place, (start, count) in enumerate(zip(starts, span, strict=True)):
            row = int(np.argmin(times[start : start + count]))
            chosen[first + place], best[first + place] = layout[start + row], times[start + row]
    return BestOfEach(
        mappings=known.table.take(chosen),
        time=best,
        memory=known.memory[chosen],
        fits=fits,
        evaluated=int(counts.sum()),
    )


def _batches(counts: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    """Slices of variants whose layouts together fill a call."""
    first = 0
    while first < len(counts):
        taken = np.cumsum(counts[first : first + _ROWS])
        last = first + max(1, int(np.searchsorted(taken, _ROWS, side="right")))
        yield first, min(last, len(counts))
        first = min(last, len(counts))
