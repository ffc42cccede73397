"""High-Performance Linpack in closed form: one process and one link, or any number of communication layers."""

from dataclasses import dataclass
from typing import final

from volvelle.applications.hpl.contract import ELEMENT, AbstractHplModel, HplEstimate, check_grid
from volvelle.applications.hpl.layers import EquivalentCore, Layer, LayerTime, layers_of
from volvelle.errors import OutsideDomainError
from volvelle.estimators.result import Contribution
from volvelle.laws.hpl.closed_form import hpl_calculation_time, hpl_latency_time, hpl_transfer_time, hpl_work
from volvelle.laws.hpl.layers import (
    layer_boundary,
    layer_broadcast_time,
    layer_pivot_time,
    layer_update_time,
    padded_order,
)
from volvelle.mapping.process_grid import ProcessGrid
from volvelle.quantities import Fraction, Seconds
from volvelle.system.cluster import Cluster
from volvelle.workload.families.hpl import Hpl


def _calculation(cluster: Cluster, time: Seconds, problem: Hpl, grid: ProcessGrid) -> Contribution:
    if float(time) <= 0.0:
        raise OutsideDomainError(
            f"a matrix of {problem.order / problem.block:.0f} blocks a side is too small for {grid.rows} × "
            f"{grid.columns} processes, of which each needs some"
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
        (told,) = self.by_layer(problem, cluster, grid)
        seconds = dict(told.parts)
        return self.answer(
            problem,
            cluster,
            grid,
            (
                _calculation(cluster, seconds["compute"], problem, grid),
                _sent("latency", seconds["latency"], told.layer.name, "hpl_latency_time"),
                _sent("transfer", seconds["transfer"], told.layer.name, "hpl_transfer_time"),
            ),
        )

    def by_layer(self, problem: Hpl, cluster: Cluster, grid: ProcessGrid) -> tuple[LayerTime, ...]:
        """One layer: the outermost network, for the whole matrix."""
        check_grid(cluster, grid)
        order, block = float(problem.order), float(problem.block)
        rows, columns = float(grid.rows), float(grid.columns)
        link = cluster.dimensions[-1].link
        rate = cluster.chip.matrix_rate(ELEMENT) * self.efficiency
        layer = Layer(name=link.name, latency=link.latency, element=8.0 / link.sustained, row_parts=1, column_parts=1)
        lower = self.lower_order
        compute = hpl_calculation_time(order, rows, columns, block=block, rate=rate, lower_order=lower)
        latency = hpl_latency_time(order, rows, block=block, latency=layer.latency)
        transfer = hpl_transfer_time(order, rows, columns, block=block, element=layer.element, lower_order=lower)
        parts = (("compute", float(compute)), ("latency", float(latency)), ("transfer", float(transfer)))
        return (
            LayerTime(
                layer=layer,
                rows=(0.0, order),
                columns=(0.0, order),
                parts=parts,
                work=float(hpl_work(order)),
            ),
        )


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
    whole_memory: bool = False
    """Every panel goes through the accelerator's memory, as the paper's printed figures have it and its equations 18
    and 19 do not: memory spans the whole matrix, and the layers above share it out as if memory were not there."""
    prime_rule: bool = True
    """Intermediate layers whose most square grid has a prime side follow P and Q."""

    def estimate(self, problem: Hpl, cluster: Cluster, grid: ProcessGrid) -> HplEstimate:
        """How one run does."""
        told = self.by_layer(problem, cluster, grid)
        computed = sum(dict(each.parts)["compute"] for each in told)
        parts = [_calculation(cluster, computed, problem, grid)]
        for each in told:
            for name, seconds in each.parts[1:]:
                parts.append(_sent(f"{name}, {each.layer.name}", seconds, each.layer.name, _LAWS[name]))
        return self.answer(problem, cluster, grid, tuple(parts))

    def by_layer(self, problem: Hpl, cluster: Cluster, grid: ProcessGrid) -> tuple[LayerTime, ...]:
        """What each layer computes and sends; the arithmetic of panels that end within it (equation 23)."""
        check_grid(cluster, grid)
        block, rows, columns = float(problem.block), float(grid.rows), float(grid.columns)
        order = float(padded_order(float(problem.order), block=block))
        rate = cluster.chip.matrix_rate(ELEMENT) * self.efficiency
        layers = layers_of(cluster, grid, self.core, prime_rule=self.prime_rule)[-1 if self.outermost_only else 0 :]
        found: list[LayerTime] = []
        if self.whole_memory and self.core is not None and len(layers) > 1:
            memory, *layers = layers
            sent = _communication(memory, order, order, block, grid)
            found.append(
                LayerTime(
                    layer=memory, rows=(0.0, order), columns=(0.0, order), parts=(("compute", 0.0), *sent), work=0.0
                )
            )
        total = float(hpl_calculation_time(order, rows, columns, block=block, rate=rate, lower_order=True))
        above, beside, computed = 0.0, 0.0, 0.0
        for layer in layers:
            tall = max(above, float(layer_boundary(order, layer.row_parts, block=block)))
            wide = max(beside, float(layer_boundary(order, layer.column_parts, block=block)))
            # Lower orders make the last panels cheaper than nothing: no layer is given less than the ones below have.
            until = float(hpl_calculation_time(tall, rows, columns, block=block, rate=rate, lower_order=True))
            until = total if layer is layers[-1] else min(max(until, computed), max(total, computed))
            sent = _communication(layer, tall - above, wide - beside, block, grid)
            found.append(
                LayerTime(
                    layer=layer,
                    rows=(above, tall),
                    columns=(beside, wide),
                    parts=(("compute", until - computed), *sent),
                    work=float(hpl_work(tall) - hpl_work(above)),
                )
            )
            above, beside, computed = tall, wide, until
        return tuple(found)


def _communication(
    layer: Layer, down: float, across: float, block: float, grid: ProcessGrid
) -> tuple[tuple[str, float], ...]:
    """Equations 27 to 29 for one layer that reaches so far."""
    rows, columns = float(grid.rows), float(grid.columns)
    link = {"block": block, "latency": layer.latency, "element": layer.element}
    return (
        ("pivoting", max(float(layer_pivot_time(down, rows, **link)), 0.0)),
        ("broadcast", max(float(layer_broadcast_time(down, rows, **link)), 0.0)),
        ("row update", max(float(layer_update_time(across, rows, columns, **link)), 0.0)),
    )


_LAWS = {"pivoting": "layer_pivot_time", "broadcast": "layer_broadcast_time", "row update": "layer_update_time"}
