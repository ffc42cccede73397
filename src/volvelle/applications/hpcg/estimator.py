"""HPCG from memory bandwidth, every factor a distribution."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import final

import numpy as np
from numpy.typing import NDArray

from volvelle.economics.machine_power import it_power
from volvelle.errors import DescriptionError
from volvelle.estimators.contract import Estimator
from volvelle.estimators.result import Contribution, Estimate, MemoryPart
from volvelle.estimators.sampler import Column, Stratified
from volvelle.estimators.uncertainty import column_of, range_of
from volvelle.laws.hpcg import few_ranks_efficiency, hpcg_memory, hpcg_rate, hpcg_scaling_efficiency
from volvelle.quantities import Count, Flop, FlopPerSecond
from volvelle.spread import Figure
from volvelle.system.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Hpcg:
    """What is run. The benchmark has no end of its own, so a run is taken for an exaFLOP."""

    work: Flop = 1e18


@dataclass(frozen=True, slots=True, kw_only=True)
class HpcgLayout:
    """How it is laid out: over so many nodes, and by which grids."""

    nodes: Count
    ranks_per_device: Count = 1.0
    processes: tuple[int, int, int] | None = None
    """npx, npy, npz; None where nobody said."""
    grid: tuple[int, int, int] | None = None
    """nx, ny, nz of each process; None where nobody said."""

    def __post_init__(self) -> None:
        if min(float(np.min(self.nodes)), float(np.min(self.ranks_per_device))) < 1:
            raise DescriptionError(f"an HPCG run needs one or more nodes and ranks, not {self}")

    @property
    def unknowns(self) -> int:
        """Points of the whole grid; 0 where nobody said."""
        return prod((*self.processes, *self.grid)) if self.processes and self.grid else 0


HpcgEstimate = Estimate[Hpcg, HpcgLayout]
"""One run; where its rate lies when the factors vary is the range of its rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HpcgFactors:
    """What HPCG makes of a device's memory bandwidth, each number with its spread."""

    family: str
    """Family of devices these were fitted for, or the class they stand for."""
    fitted: bool
    """Whether runs on this very family were fitted; else the factors are those of all families of its class."""
    intensity: Figure
    """FLOP a byte."""
    streaming: Figure
    """Share of the peak bandwidth that a read stream sustains."""
    solver: Figure
    """What HPCG sustains of that, on one node."""
    step: Figure
    """Lost when a run first crosses a network."""
    doubling: Figure
    """Lost with every doubling of the nodes."""
    few_ranks: Figure
    """Ranks of one thread that it takes to draw most of a device's memory rate; 0 where it takes none."""
    own: str = ""
    """What runs of one's own changed; empty: none were given."""

    def named(self) -> Mapping[str, Figure]:
        """The factors by name, in the order they multiply."""
        return {
            "FLOP a byte": self.intensity,
            "streaming over peak": self.streaming,
            "HPCG over streaming": self.solver,
            "lost between nodes": self.step,
            "lost a doubling of nodes": self.doubling,
            "ranks to saturate": self.few_ranks,
        }


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class HpcgModel(Estimator[Hpcg, HpcgLayout]):
    """The product of bandwidth and efficiencies, on samples of all of them.

    Samples are stratified: each factor takes one value from each of `samples` equally likely slices.
    """

    factors: HpcgFactors
    samples: int = 2048
    seed: int = 0
    level: float = 0.8

    def __post_init__(self) -> None:
        if self.samples < 2 or not 0 < self.level < 1:
            raise DescriptionError(
                f"sampling needs at least 2 samples and a level between 0 and 1, not {self.samples} and {self.level}"
            )

    def rate(self, cluster: Cluster, layout: HpcgLayout) -> FlopPerSecond:
        """The central rate; broadcasts over the columns of a layout or a cluster."""
        return _rate(cluster, layout, {name: figure.value for name, figure in self.factors.named().items()})

    def estimate(self, workload: Hpcg, cluster: Cluster, layout: HpcgLayout) -> HpcgEstimate:
        """The central rate of one run and its range."""
        columns = self.drawn()
        rates = np.asarray(_rate(cluster, layout, columns))
        time = float(workload.work) / float(np.max(self.rate(cluster, layout)))
        chip = cluster.chip
        watts = it_power(cluster)
        points = prod(layout.grid) if layout.grid else 0
        return Estimate(
            workload=workload,
            decision=layout,
            contributions=(
                Contribution(
                    name="solver",
                    part="memory traffic",
                    time=time,
                    exposed=True,
                    resource=chip.memory.name,
                    law="hpcg_rate",
                ),
            ),
            memory=(MemoryPart(name="local grid", bytes=float(hpcg_memory(points)), law="hpcg_memory"),)
            if points
            else (),
            capacity=float(np.max(chip.memory.capacity)),
            work=float(workload.work),
            chips=cluster.accelerators,
            peak=float(np.max(chip.matrix_rate("fp64"))) if "fp64" in chip.matrix_rates else np.nan,
            power=None if watts is None else float(watts),
            facts={"mean_rate": float(np.mean(rates))},
            ranges={"rate": range_of(rates, level=self.level, varied=tuple(columns))},
        )

    def drawn(self) -> dict[str, Column]:
        """Samples of every factor."""
        sampler = Stratified(self.samples, self.seed)
        return {name: column_of(f"HPCG: {name}", figure, sampler) for name, figure in self.factors.named().items()}

    def drawn_rates(self, cluster: Cluster, layout: HpcgLayout, *, only: str = "") -> Column:
        """Rates of one run by the samples of the factors, of all or of one while the others stay central."""
        values = {
            name: column if only in ("", name) else self.factors.named()[name].value
            for name, column in self.drawn().items()
        }
        return np.broadcast_to(np.asarray(_rate(cluster, layout, values)), self.samples)

    def bounds(self) -> dict[str, tuple[float, float, float]]:
        """Central value and ends of every factor, at the level of the range."""
        return {name: (figure.value, *figure.bounds(self.level)) for name, figure in self.factors.named().items()}


def _rate(cluster: Cluster, layout: HpcgLayout, values: Mapping[str, float | NDArray[np.float64]]) -> FlopPerSecond:
    scaling = hpcg_scaling_efficiency(
        layout.nodes, step=values["lost between nodes"], doubling=values["lost a doubling of nodes"]
    )
    ranks = few_ranks_efficiency(layout.ranks_per_device, half=values["ranks to saturate"])
    return hpcg_rate(
        cluster.accelerators,
        intensity=values["FLOP a byte"],
        memory_rate=cluster.chip.memory.rate,
        streaming=values["streaming over peak"],
        solver=values["HPCG over streaming"] * ranks,
        scaling=scaling,
    )
