"""A step of a stencil: cells as fast as memory streams, halos by messages, what of them hides."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod
from statistics import NormalDist
from typing import Literal, final

from volvelle.errors import DescriptionError
from volvelle.estimators.calibration import fitted_constants
from volvelle.estimators.contract import Estimator
from volvelle.estimators.result import Contribution, Estimate, MemoryPart, Range, Violation
from volvelle.laws.collectives import point_to_point_time
from volvelle.laws.overlap import hidden_time
from volvelle.laws.roofline import kernel_time
from volvelle.laws.stencil import (
    halo_bytes,
    interior_share,
    plane_reads,
    stencil_traffic,
    stencil_work,
    step_launch_time,
)
from volvelle.quantities import BYTES, Bytes, Fraction, Seconds, show
from volvelle.system.cluster import Cluster
from volvelle.workload.elements import element_bytes

Kernel = Literal["plain", "blocked"]
"""Plane after plane as the grid lies, or in blocks whose planes stay in cache."""
Sides = tuple[int, int, int]
CORNERS = 27
"""Points of a stencil that needs edges and corners of the halo too."""
_TIE = 1e-6
"""Weight of what hides beside what is waited for."""
FIELDS = 2.0
"""Copies of the grid: the step before and the one being made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stencil:
    """One step over a grid, of radius 1."""

    grid: Sides
    """Cells of the whole grid."""
    points: int = 7
    element: str = "fp64"

    def __post_init__(self) -> None:
        if self.points not in (7, CORNERS):
            raise DescriptionError(f"a stencil has 7 or 27 points here, not {self.points}")
        if min(self.grid) < 1:
            raise DescriptionError(f"a grid has a cell or more a side, not {' × '.join(map(str, self.grid))}")

    @property
    def cells(self) -> int:
        """Of the whole grid."""
        return prod(self.grid)


@dataclass(frozen=True, slots=True, kw_only=True)
class StencilLayout:
    """How the grid is cut: so many processes along each side, one an accelerator."""

    processes: Sides

    def local(self, grid: Sides) -> Sides:
        """Cells of the fullest process."""
        x, y, z = (ceil(side / parts) for side, parts in zip(grid, self.processes, strict=True))
        return x, y, z


StencilEstimate = Estimate[Stencil, StencilLayout]


@dataclass(frozen=True, slots=True, kw_only=True)
class StencilConstants:
    """What stencils make of memory bandwidth."""

    plain: Fraction
    """Of what a stream sustains, by a kernel that goes plane after plane."""
    blocked: Fraction
    """The same by one that blocks planes."""
    cache_share: Fraction
    """Of the cache that planes can count on."""
    launch: Seconds
    """What a kernel takes beyond its work, on chips of which nobody fitted it."""
    error: float
    """How far systems left out of the fit were off, one standard deviation as a factor."""
    kernel: Kernel = "blocked"
    overlap: bool = True
    """Whether halos travel while cells are computed that need none."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StencilModel(Estimator[Stencil, StencilLayout]):
    """The roofline of a process's cells, and the exchange of its faces."""

    constants: StencilConstants
    level: float = 0.8

    def ranked_by(self, candidates: Sequence[tuple[Stencil, StencilLayout]], system: Cluster, /) -> Sequence[float]:
        """The time; of cuts that are as fast because all halos hide, the one that sends least."""
        steps = (self.estimate(work, system, layout) for work, layout in candidates)
        return [step.time + _TIE * step.hidden for step in steps]

    def estimate(self, workload: Stencil, cluster: Cluster, layout: StencilLayout) -> StencilEstimate:
        """How one step does."""
        own, chip = self.constants, cluster.chip
        word = float(element_bytes(workload.element))
        local = layout.local(workload.grid)
        cells = float(prod(local))
        reads = 1.0
        if own.kernel == "plain":
            reads = float(plane_reads(word * local[0] * local[1], cache=own.cache_share * chip.buffer))
        fitted = fitted_constants(cluster, workload.element, software=False)
        stream, launch = chip.memory.rate * fitted.memory_efficiency, fitted.kernel_launch_time or own.launch
        share = own.plain if own.kernel == "plain" else own.blocked
        compute = float(
            kernel_time(
                stencil_work(cells, points=float(workload.points)),
                stencil_traffic(cells, word=word, reads=reads),
                compute_rate=chip.vector_rates.get(workload.element, chip.matrix_rate(workload.element)),
                memory_rate=share * stream,
            )
        )
        exchanged, link = exchange_time(workload, cluster, layout, launch=launch)
        cut = tuple(float(side) for side, parts in zip(local, layout.processes, strict=True) if parts > 1)
        window = compute * float(interior_share(cut)) if own.overlap else 0.0
        hidden = float(hidden_time(exchanged, window))
        # Cells that need no halo are a kernel of their own, where that hides more than starting it costs.
        apart = hidden > launch
        hidden = hidden if apart else 0.0
        started = float(step_launch_time(2.0 if apart else 1.0, launch=launch))
        lines = (
            ("cells", "memory traffic", compute, True, chip.memory.name, "kernel_time"),
            ("launches", "overhead", started, True, chip.name, "step_launch_time"),
            ("halo exchange", "communication", exchanged - hidden, True, link, "point_to_point_time"),
            ("halo exchange", "communication", hidden, False, link, "point_to_point_time"),
        )
        time = compute + started + exchanged - hidden
        reach = own.error ** NormalDist().inv_cdf((1 + self.level) / 2)
        held = (
            FIELDS * word * prod(side + 2.0 * (parts > 1) for side, parts in zip(local, layout.processes, strict=True))
        )
        return Estimate(
            workload=workload,
            decision=layout,
            contributions=tuple(
                Contribution(name=name, part=part, time=seconds, exposed=exposed, resource=resource, law=law)
                for name, part, seconds, exposed, resource, law in lines
                if seconds > 0.0
            ),
            memory=(MemoryPart(name="grid and halos", bytes=held, law="stencil_traffic"),),
            capacity=float(chip.memory.capacity),
            violations=_violations(workload, cluster, layout, held),
            work=float(stencil_work(float(workload.cells), points=float(workload.points))),
            chips=prod(layout.processes),
            peak=float(chip.vector_rates.get(workload.element, chip.matrix_rate(workload.element))),
            facts={"cell_updates": workload.cells / time, "bytes_per_cell": word * (reads + 1.0), "reads": reads},
            ranges={"time": Range(low=time / reach, high=time * reach, level=self.level, varied=("the model",))},
        )


def exchange_time(
    workload: Stencil, cluster: Cluster, layout: StencilLayout, *, launch: Seconds = 0.0
) -> tuple[float, str]:
    """Seconds in which the busiest process has its halos, and the link that most of them take.

    Directions go one after another, both sides of one at once, packed and unpacked by a kernel each; with corners,
    later ones carry earlier halos along. The first direction lies within a node as far as it fits.
    """
    word = float(element_bytes(workload.element))
    local = layout.local(workload.grid)
    inside = cluster.spans[-2] if len(cluster.dimensions) > 1 else 1
    inner = [dimension.link for dimension in cluster.dimensions[:-1] if dimension.size > 1]
    outer = cluster.dimensions[-1].link
    total, worst, name = 0.0, 0.0, outer.name
    grown: list[float] = [float(side) for side in local]
    for direction, parts in enumerate(layout.processes):
        if parts == 1:
            continue
        stays = parts <= inside and bool(inner)
        link = min(inner, key=lambda each: float(each.sustained)) if stays else outer
        inside = max(1, inside // parts) if stays else 1
        across = prod(side for place, side in enumerate(grown) if place != direction)
        size: Bytes = halo_bytes(across, word=word)
        seconds = float(point_to_point_time(size, rate=link.sustained, latency=link.latency))
        seconds += float(step_launch_time(2.0, launch=launch))
        total += seconds
        if seconds > worst:
            worst, name = seconds, link.name
        if workload.points == CORNERS:
            grown[direction] += 2.0
    return total, name


def _violations(workload: Stencil, cluster: Cluster, layout: StencilLayout, held: float) -> tuple[Violation, ...]:
    found = []
    if any(parts > side for side, parts in zip(workload.grid, layout.processes, strict=True)):
        found.append(
            Violation(
                name="cut",
                problem=f"{workload.grid} cells cannot be cut into {layout.processes} processes",
                cures=(),
            )
        )
    capacity = float(cluster.chip.memory.capacity)
    if held > capacity:
        found.append(
            Violation(
                name="memory",
                problem=f"two copies of a chip's cells take {show(held, BYTES)}; it has {show(capacity, BYTES)}",
                cures=(),
            )
        )
    return tuple(found)
