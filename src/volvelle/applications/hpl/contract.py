"""The contract of every model of High-Performance Linpack, and what it answers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

from volvelle.errors import MappingError
from volvelle.estimators.result import Contribution, Range
from volvelle.laws.hpl.closed_form import hpl_work
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl

__all__ = ["AbstractHplModel", "HplEstimate", "check_grid"]

ELEMENT = "fp64"


@dataclass(frozen=True, kw_only=True)
class HplEstimate:
    """How one run does; the contributions that are exposed sum to its time."""

    problem: Hpl
    grid: ProcessGrid
    contributions: tuple[Contribution, ...]
    peak: float
    """Dense double-precision peak of all accelerators, FLOP/s."""
    power: float | None
    """Watts of the machine at its limits; None where a chip states none."""
    time_range: Range | None = None

    @cached_property
    def time(self) -> float:
        """Seconds: the sum of what is exposed."""
        return sum(part.time for part in self.contributions if part.exposed)

    @property
    def work(self) -> float:
        """FLOP that the benchmark counts."""
        return float(hpl_work(float(self.problem.order)))

    @property
    def rate(self) -> float:
        """What the benchmark prints, FLOP/s."""
        return self.work / self.time

    @property
    def efficiency(self) -> float:
        """The rate over the peak."""
        return self.rate / self.peak

    @property
    def rate_range(self) -> tuple[float, float] | None:
        """Low and high of the rate, where the time has a range."""
        return None if self.time_range is None else (self.work / self.time_range.high, self.work / self.time_range.low)

    @property
    def rate_per_watt(self) -> float | None:
        """FLOP/s a watt at the power limit."""
        return None if not self.power else self.rate / self.power


class AbstractHplModel(ABC):
    """Answers how long a factorisation takes on a cluster, laid out on a grid of processes.

    A model is a value: it keeps nothing between calls and reads no file.
    """

    @abstractmethod
    def run(self, problem: Hpl, cluster: Cluster, grid: ProcessGrid) -> HplEstimate:
        """How one run does."""

    @staticmethod
    def answer(
        problem: Hpl,
        cluster: Cluster,
        grid: ProcessGrid,
        parts: tuple[Contribution, ...],
        time_range: Range | None = None,
    ) -> HplEstimate:
        """The parts, with what follows from the machine alone."""
        watts = cluster.chip.power
        return HplEstimate(
            problem=problem,
            grid=grid,
            contributions=parts,
            peak=float(cluster.chip.matrix_rate(ELEMENT)) * grid.processes,
            power=None if watts is None else float((watts + cluster.host_power) * cluster.pue * grid.processes),
            time_range=time_range,
        )


def check_grid(cluster: Cluster, grid: ProcessGrid) -> None:
    """Refuse a grid that has more processes than the cluster has accelerators."""
    if grid.processes > cluster.accelerators:
        raise MappingError(
            f"a grid of {grid.rows} × {grid.columns} needs {grid.processes} accelerators; "
            f"{cluster.name} has {cluster.accelerators}"
        )
