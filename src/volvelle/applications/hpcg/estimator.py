"""HPCG from memory bandwidth, every factor a distribution."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from volvelle.errors import DescriptionError
from volvelle.laws.hpcg import few_ranks_efficiency, hpcg_rate, hpcg_scaling_efficiency
from volvelle.quantities import BytesPerSecond, Count, FlopPerSecond
from volvelle.spread import Figure

__all__ = ["HpcgEstimate", "HpcgFactors", "HpcgModel", "HpcgRun"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class HpcgRun:
    """What is run: so many devices in so many nodes."""

    devices: Count
    nodes: Count
    memory_rate: BytesPerSecond
    """Peak of one device."""
    ranks_per_device: Count = 1.0

    def __post_init__(self) -> None:
        smallest = min(float(np.min(value)) for value in (self.devices, self.nodes, self.ranks_per_device))
        if smallest < 1 or float(np.min(self.memory_rate)) <= 0:
            raise DescriptionError(f"an HPCG run needs devices, nodes, ranks and a memory rate above zero, not {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HpcgEstimate:
    """The rate of a run and where it lies when the factors vary."""

    rate: FlopPerSecond
    low: float
    high: float
    level: float
    """Share of the sampled factors that end between low and high."""
    mean: float
    """Of the samples; above the central rate, because products of spreads lean upwards."""
    scaling: float
    factors: HpcgFactors
    bounds: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    """Central value and ends of every factor at the same level."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class HpcgModel:
    """The product of bandwidth and efficiencies, on samples of all of them.

    Samples are stratified: each factor takes one value from each of `samples` equally likely slices.
    """

    samples: int = 2048
    seed: int = 0
    level: float = 0.8

    def __post_init__(self) -> None:
        if self.samples < 2 or not 0 < self.level < 1:
            raise DescriptionError(
                f"sampling needs at least 2 samples and a level between 0 and 1, not {self.samples} and {self.level}"
            )

    def rate(self, run: HpcgRun, factors: HpcgFactors) -> FlopPerSecond:
        """The central rate; broadcasts over the columns of a run."""
        return _rate(run, {name: figure.value for name, figure in factors.named().items()})

    def estimate(self, run: HpcgRun, factors: HpcgFactors) -> HpcgEstimate:
        """The central rate of one run and its range."""
        generator = np.random.default_rng(self.seed)
        named = factors.named()
        rates = np.asarray(_rate(run, {name: self._column(figure, generator) for name, figure in named.items()}))
        tail = (1 - self.level) / 2
        low, high = np.quantile(rates, [tail, 1 - tail])
        scaling = hpcg_scaling_efficiency(run.nodes, step=factors.step.value, doubling=factors.doubling.value)
        return HpcgEstimate(
            rate=float(self.rate(run, factors)),
            low=float(low),
            high=float(high),
            level=self.level,
            mean=float(np.mean(rates)),
            scaling=float(scaling),
            factors=factors,
            bounds={name: (figure.value, *figure.bounds(self.level)) for name, figure in named.items()},
        )

    def _column(self, figure: Figure, generator: np.random.Generator) -> NDArray[np.float64]:
        slices = (generator.permutation(self.samples) + generator.random(self.samples)) / self.samples
        return np.full(self.samples, figure.value) if figure.spread is None else figure.spread.at(slices)


def _rate(run: HpcgRun, values: Mapping[str, float | NDArray[np.float64]]) -> FlopPerSecond:
    scaling = hpcg_scaling_efficiency(
        run.nodes, step=values["lost between nodes"], doubling=values["lost a doubling of nodes"]
    )
    ranks = few_ranks_efficiency(run.ranks_per_device, half=values["ranks to saturate"])
    return hpcg_rate(
        run.devices,
        intensity=values["FLOP a byte"],
        memory_rate=run.memory_rate,
        streaming=values["streaming over peak"],
        solver=values["HPCG over streaming"] * ranks,
        scaling=scaling,
    )
