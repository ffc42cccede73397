"""High-Performance Linpack in closed form: one process and one link, or any number of communication layers."""

from dataclasses import dataclass
from typing import final

import numpy as np

from volvelle.applications.hpl.contract import ELEMENT, AbstractHplModel, HplEstimate, check_grid
from volvelle.errors import DescriptionError, OutsideDomainError
from volvelle.estimators.result import Contribution
from volvelle.laws.hpl.closed_form import hpl_calculation_time, hpl_latency_time, hpl_transfer_time
from volvelle.laws.hpl.layers import (
    equivalent_core_rate,
    layer_boundary,
    layer_broadcast_time,
    layer_pivot_time,
    layer_update_time,
    padded_order,
)
from volvelle.mapping.process_grid import ProcessGrid, nearly_square
from volvelle.quantities import Count, Fraction, Seconds
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl


def _calculation(cluster: Cluster, time: Seconds, problem: Hpl, grid: ProcessGrid) -> Contribution:
    if float(time) <= 0.0:
        raise OutsideDomainError(
            f"a matrix of {problem.order / problem.block:.0f} blocks a side is too small for {grid.rows} × "
            f"{grid.columns} processes, of which each needs some; take more memory, fewer chips or a smaller --nb"
        )
    return Contribution(
        name="calculation",
        part="compute",
        time=float(time),
        exposed=True,
        resource=cluster.chip.name,
        law="hpl_calculation_time",
    )


def _sent(name: str, time: Seconds, link: str, law: str) -> Contribution:
    return Contribution(name=name, part="communication", time=float(time), exposed=True, resource=link, law=law)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalHpl(AbstractHplModel):
    """Equation 3 of Kim et al., after Dongarra, Luszczek and Petitet; the outermost network is the only link."""

    efficiency: Fraction = 1.0
    """Share of the peak that matrix products reach."""
    lower_order: bool = False
    """Whether terms of lower order in N count (equations 25 and 27 to 29 with one layer)."""

    def estimate(self, problem: Hpl, cluster: Cluster, grid: ProcessGrid) -> HplEstimate:
        """How one run does."""
        check_grid(cluster, grid)
        order, block = float(problem.order), float(problem.block)
        rows, columns = float(grid.rows), float(grid.columns)
        link = cluster.dimensions[-1].link
        rate = cluster.chip.matrix_rate(ELEMENT) * self.efficiency
        element = 8.0 / link.sustained
        calculation = hpl_calculation_time(order, rows, columns, block=block, rate=rate, lower_order=self.lower_order)
        latency = hpl_latency_time(order, rows, block=block, latency=link.latency)
        transfer = hpl_transfer_time(order, rows, columns, block=block, element=element, lower_order=self.lower_order)
        computed = _calculation(cluster, calculation, problem, grid)
        waiting = _sent("latency", latency, link.name, "hpl_latency_time")
        sending = _sent("transfer", transfer, link.name, "hpl_transfer_time")
        return self.answer(problem, cluster, grid, (computed, waiting, sending))


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalentCore:
    """What makes one large core of an accelerator's many."""

    cores: Count
    words: Count
    """64-bit words that all memory controllers answer together."""
    cycles: Count
    """Of latency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer of communication, as one process sees it."""

    name: str
    latency: Seconds
    element: Seconds
    """Time of one 8-byte element."""
    row_parts: int
    column_parts: int
    """Units of this layer that share the matrix along its rows and columns; 1 and 1 for the last."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LayeredHpl(AbstractHplModel):
    """MCL-HPL (Kim et al. 2021): communication of each layer adds up, calculation is that of one process.

    With an equivalent core the first layer is the accelerator's memory; without, layers start at the innermost network.
    """

    core: EquivalentCore | None = None
    efficiency: Fraction = 1.0
    """Share of the peak that matrix products reach."""
    outermost_only: bool = False
    """One layer: the outermost network, for the whole matrix."""

    def estimate(self, problem: Hpl, cluster: Cluster, grid: ProcessGrid) -> HplEstimate:
        """How one run does."""
        check_grid(cluster, grid)
        block, rows, columns = float(problem.block), float(grid.rows), float(grid.columns)
        order = padded_order(float(problem.order), block=block)
        rate = cluster.chip.matrix_rate(ELEMENT) * self.efficiency
        calculation = hpl_calculation_time(order, rows, columns, block=block, rate=rate, lower_order=True)
        parts = [_calculation(cluster, calculation, problem, grid)]
        layers = layers_of(cluster, grid, self.core)[-1 if self.outermost_only else 0 :]
        above, beside = 0.0, 0.0
        for layer in layers:
            tall = float(layer_boundary(order, layer.row_parts, block=block))
            wide = float(layer_boundary(order, layer.column_parts, block=block))
            down, across = max(tall - above, 0.0), max(wide - beside, 0.0)
            link = {"block": block, "latency": layer.latency, "element": layer.element}
            for name, law, time in (
                ("pivoting", "layer_pivot_time", layer_pivot_time(down, rows, **link)),
                ("broadcast", "layer_broadcast_time", layer_broadcast_time(down, rows, **link)),
                ("row update", "layer_update_time", layer_update_time(across, rows, columns, **link)),
            ):
                parts.append(_sent(f"{name}, {layer.name}", np.maximum(time, 0.0), layer.name, law))
            above, beside = tall, wide
        return self.answer(problem, cluster, grid, tuple(parts))


def layers_of(cluster: Cluster, grid: ProcessGrid, core: EquivalentCore | None) -> list[Layer]:
    """Layers of a cluster, innermost first; the last spans the whole matrix."""
    found: list[Layer] = []
    if core is not None:
        rate = equivalent_core_rate(cluster.chip.memory.rate, cores=core.cores, words=core.words)
        found.append(
            Layer(
                name=cluster.chip.memory.name,
                latency=core.cycles / rate,
                element=8.0 / rate,
                row_parts=grid.rows,
                column_parts=grid.columns,
            )
        )
    joined = [(d, span) for d, span in zip(cluster.dimensions, cluster.spans, strict=True) if d.size > 1]
    for index, (dimension, span) in enumerate(joined):
        units = grid.processes // span
        last = index == len(joined) - 1 or units <= 1
        parts = (1, 1) if last else nearly_square(units)
        found.append(
            Layer(
                name=dimension.name,
                latency=dimension.link.latency,
                element=8.0 / dimension.link.sustained,
                row_parts=parts[0],
                column_parts=parts[1],
            )
        )
        if last:
            break
    if not found:
        raise DescriptionError(
            f"{cluster.name} has no network and no equivalent core was given: there is no layer to communicate over"
        )
    return found
