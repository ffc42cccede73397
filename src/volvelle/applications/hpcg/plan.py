"""What to run for HPCG on a machine: the grid of processes, and the grid of each."""

from volvelle.applications.hpcg.estimator import HpcgFactors, HpcgLayout
from volvelle.errors import DescriptionError
from volvelle.laws.hpcg import hpcg_memory
from volvelle.quantities import Bytes, Fraction, percent
from volvelle.system.cluster import Cluster
from volvelle.system.topologies.torus import nearly_cubic

_MULTIPLE = 8
"""Of which every side of a local grid is: three coarser grids, each with half of it."""


def hpcg_layout(cluster: Cluster, factors: HpcgFactors, *, share: Fraction = 0.5) -> HpcgLayout:
    """One process a device, whose local grid takes about `share` of its memory."""
    if not 0 < share <= 1:
        raise DescriptionError(f"a local grid takes between none and all of the memory, not {percent(share, 0)}")
    devices = cluster.accelerators
    in_a_node = cluster.dimensions[0].size if len(cluster.dimensions) > 1 else 1
    sides = nearly_cubic(devices, 3)
    return HpcgLayout(
        nodes=max(1, devices // in_a_node),
        ranks_per_device=10_000.0 if factors.few_ranks.value else 1.0,
        processes=(sides[2], sides[1], sides[0]),
        grid=local_grid(share * float(cluster.chip.memory.capacity)),
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
        raise DescriptionError(f"{float(memory):.3g} bytes hold no grid of 16 x 8 x 8 points")
    return best
