"""What to run for HPCG on a machine: the grid of processes, the grid of each, and what to expect."""

from dataclasses import dataclass

from volvelle.applications.hpcg.estimator import HpcgEstimate, HpcgFactors, HpcgModel, HpcgRun
from volvelle.economics.step_cost import CostAssumptions
from volvelle.errors import DescriptionError
from volvelle.laws.energy import run_energy
from volvelle.laws.hpcg import hpcg_memory
from volvelle.quantities import Bytes, Fraction
from volvelle.system.cluster import Cluster
from volvelle.system.topologies.torus import nearly_cubic

__all__ = ["HpcgPlan", "local_grid", "plan_hpcg"]

_MULTIPLE = 8
"""Of which every side of a local grid is: three coarser grids, each with half of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HpcgPlan:
    """A run to make, and what to expect of it."""

    cluster: Cluster
    processes: tuple[int, int, int]
    """npx, npy, npz: one process a device."""
    grid: tuple[int, int, int]
    """nx, ny, nz of each process."""
    memory: Bytes
    """A device's, in the reference storage."""
    expected: HpcgEstimate
    power: float | None
    """Of devices and hosts; None where the catalogue does not state it."""

    @property
    def per_watt(self) -> tuple[float, float, float] | None:
        """FLOP/s a watt: central, low and high."""
        if self.power is None:
            return None
        found = self.expected
        return float(found.rate) / self.power, found.low / self.power, found.high / self.power

    @property
    def unknowns(self) -> int:
        """Points of the whole grid."""
        count = 1
        for here, processes in zip(self.grid, self.processes, strict=True):
            count *= here * processes
        return count


def plan_hpcg(
    cluster: Cluster, factors: HpcgFactors, *, share: Fraction = 0.5, model: HpcgModel | None = None
) -> HpcgPlan:
    """The run whose local grid takes about `share` of a device's memory, and what it should reach."""
    if not 0 < share <= 1:
        raise DescriptionError(f"a local grid takes between none and all of the memory, not {share:.0%}")
    devices = cluster.accelerators
    in_a_node = cluster.dimensions[0].size if len(cluster.dimensions) > 1 else 1
    run = HpcgRun(
        devices=devices,
        nodes=max(1, devices // in_a_node),
        memory_rate=cluster.chip.memory.rate,
        ranks_per_device=10_000.0 if factors.few_ranks.value else 1.0,
    )
    grid = local_grid(share * float(cluster.chip.memory.capacity))
    power = None
    if cluster.chip.power is not None:
        load = CostAssumptions().load
        power = float(run_energy(1.0, devices, chip_power=cluster.chip.power, host_power=cluster.host_power, load=load))
    sides = nearly_cubic(devices, 3)
    return HpcgPlan(
        cluster=cluster,
        processes=(sides[2], sides[1], sides[0]),
        grid=grid,
        memory=float(hpcg_memory(grid[0] * grid[1] * grid[2])),
        expected=(model or HpcgModel()).estimate(run, factors),
        power=power,
    )


def local_grid(memory: Bytes) -> tuple[int, int, int]:
    """The largest grid of nearly equal sides that fits, the first side longest because kernels run along it."""
    best: tuple[int, int, int] | None = None
    points = float(memory) / float(hpcg_memory(1.0))
    side = int(points ** (1 / 3) / _MULTIPLE)
    for y in range(max(side, 1), max(side // 2, 1) - 1, -1):
        longest = int(points / (y * y * _MULTIPLE**3))
        x = min(longest, 2 * y)
        if x < 1:
            continue
        found = (x * _MULTIPLE, y * _MULTIPLE, y * _MULTIPLE)
        if best is None or found[0] * found[1] ** 2 > best[0] * best[1] ** 2:
            best = found
    if best is None or best[0] < 2 * _MULTIPLE:
        raise DescriptionError(f"{float(memory):.3g} bytes hold no grid of 16 x 8 x 8 points; give it more memory")
    return best
