"""One point of a study in full: its machine, its layouts, where time and memory go, and how sure that is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from volvelle.applications.range_evidence import RangeEvidence
from volvelle.applications.training.evidence import RangeBasis
from volvelle.estimators.result import Estimate, Range
from volvelle.mapping.parallelism import ParallelMapping as Layout
from volvelle.studies.design_space.measures import Outcome
from volvelle.system.cluster import Cluster

Bases = tuple[tuple[str, RangeBasis | RangeEvidence], ...]
"""Workloads, and what the range of each rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One point in full."""

    cluster: Cluster
    anchor: Cluster
    """The machine of the catalogue that it is priced by."""
    outcome: Outcome
    layouts: tuple[Layout | None, ...]
    """Of every workload; None: it is no training, or none divides batch and chips."""
    estimates: tuple[Estimate[Any, Any] | None, ...]
    """Of every workload that has a layout: where its time and memory go, and how sure that is."""
    bases: Bases
    """Of every workload that can run."""

    def ranges(self) -> Iterator[Range | None]:
        """Of the step time of every workload, as estimated or as its samples have it; None: it cannot run."""
        for done, estimate in zip(self.outcome.worked, self.estimates, strict=True):
            if estimate is not None:
                yield estimate.time_range
            else:
                yield done.drawn().range(0) if done.violated[0] == 0 else None
