"""Any table estimator, run on samples of the machine's uncertain numbers."""

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError
from volvelle.estimators.contract import TrainingEstimator
from volvelle.estimators.result import EstimateTable, Range, TrainingEstimate
from volvelle.mapping.parallelism import MappingTable, ParallelMapping
from volvelle.spread import Figure, LogNormal
from volvelle.system.chip import Chip
from volvelle.system.cluster import Cluster
from volvelle.system.link import Link
from volvelle.workload.training import TrainingStep

__all__ = ["TableEstimator", "UnderUncertainty", "sampled"]

_CHIP_FIELDS = (
    "matrix_efficiency",
    "memory_efficiency",
    "gemm_k_half",
    "kernel_launch_time",
    "host_dispatch_time",
    "attention_efficiency",
    "attention_kv_half",
    "communication_sm_share",
)
_LINK_FIELDS = ("rate", "latency", "setup", "efficiency", "fill", "contention", "reduction_efficiency")
Part = TypeVar("Part", Chip, Link)


class TableEstimator(Protocol):
    """An estimator that also answers tables."""

    def estimate(self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping) -> TrainingEstimate:
        """How one mapping does."""

    def table(self, workload: TrainingStep, system: Cluster, mappings: MappingTable) -> EstimateTable:
        """How many mappings do."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UnderUncertainty(TrainingEstimator):
    """The estimator's own answer, with the range its time takes when inputs and the model itself are in doubt.

    Inputs vary within their spreads; on top, the whole step varies by as much as calibration runs on the chip's family
    were off (`Chip.step_error`), or by `unvalidated` where no run was.
    """

    estimator: TableEstimator
    samples: int = 512
    seed: int = 0
    level: float = 0.8
    unvalidated: float = 1.35
    """Doubt in the model, one standard deviation as a factor, where a chip's family has no calibration runs."""

    def __post_init__(self) -> None:
        if self.samples < 2 or not 0 < self.level < 1:
            raise DescriptionError(
                f"sampling needs at least 2 samples and a level between 0 and 1, not {self.samples} and {self.level}"
            )

    def estimate(self, workload: TrainingStep, system: Cluster, mapping: ParallelMapping) -> TrainingEstimate:
        """The central answer and its range."""
        central = self.estimator.estimate(workload, system, mapping)
        variants, varied = sampled(system, samples=self.samples, seed=self.seed)
        times = self.estimator.table(workload, variants, MappingTable.of([mapping])).time
        known = system.chip.step_error
        generator = np.random.default_rng([self.seed, 1])
        slices = (generator.permutation(self.samples) + generator.random(self.samples)) / self.samples
        times = times * LogNormal(1.0, known or self.unvalidated).at(slices)
        varied.append("the model, by calibration runs" if known else "the model, not calibrated on this family")
        tail = (1 - self.level) / 2
        low, high = np.quantile(times, [tail, 1 - tail])
        return replace(
            central,
            ranges={"time": Range(low=float(low), high=float(high), level=self.level, varied=tuple(varied))},
        )


def sampled(system: Cluster, *, samples: int, seed: int) -> tuple[Cluster, list[str]]:
    """The system with every uncertain number replaced by a column of samples, and what was varied.

    Samples are stratified: each number takes one value from each of `samples` equally likely slices.
    """
    generator = np.random.default_rng(seed)
    varied: list[str] = []

    def column(figure: Figure) -> NDArray[np.float64]:
        assert figure.spread is not None
        slices = (generator.permutation(samples) + generator.random(samples)) / samples
        return figure.spread.at(slices)

    def vary(part: Part, names: tuple[str, ...]) -> Part:
        changed: dict[str, Any] = {}
        for name in names:
            figure = part.figures.get(name)
            if figure is not None and figure.spread is not None:
                # A share of a link scales the figure, so the column is taken relative to the figure's value.
                scale = getattr(part, name) / figure.value if figure.value else 1.0
                changed[name] = column(figure) * scale
                varied.append(f"{part.name}: {name.replace('_', ' ')}")
        return replace(part, **changed)

    links: dict[str, Link] = {}
    dimensions = []
    for dimension in system.dimensions:
        if dimension.link.name not in links:
            links[dimension.link.name] = vary(dimension.link, _LINK_FIELDS)
        dimensions.append(replace(dimension, link=links[dimension.link.name]))
    return replace(system, chip=vary(system.chip, _CHIP_FIELDS), dimensions=tuple(dimensions)), varied
